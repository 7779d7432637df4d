#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_layers.py refuses each kind of violation, in a tree of a file or two, and accepts what is allowed."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"


def check(path, text, others=()):
    with tempfile.TemporaryDirectory() as root:
        for name, content in [(path, text), *others]:
            file = pathlib.Path(root) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)


class CheckLayers(unittest.TestCase):
    def refused(self, path, line):
        result = check(path, "#pragma once\n" + line + "\n")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"{path}:2:", result.stdout)

    def accepted(self, path, line):
        result = check(path, line + "\n")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_includes_upwards(self):
        self.refused("core/base/a.hpp", "#include <granary/detail/core/model/task.hpp>")
        self.refused("core/policy/a.hpp", "#include <granary/detail/core/planner/planner.hpp>")
        self.refused("core/planner/a.cpp", "#include <granary/detail/policies/registry.hpp>")
        self.refused("policies/darts/a.cpp", "#include <granary/detail/core/planner/planner.hpp>")
        self.refused("core/engine/a.cpp", "#include <granary/detail/simulator/simulator.hpp>")
        self.refused("simulator/a.cpp", "#include <granary/detail/core/engine/engine.hpp>")
        self.refused("linalg/kernels/a.hpp", "#include <granary/detail/core/backends/host.hpp>")
        self.refused("core/engine/a.hpp", '#include "granary/detail/runtime/api/runtime.hpp"')

    def test_core_is_the_ground(self):
        for header in ("outofcore/storage", "policies/registry", "trace/trace_file", "runtime/api/runtime", "linalg/linalg"):
            for folder in ("base", "backends", "engine"):
                self.refused(f"core/{folder}/a.cpp", f"#include <granary/detail/{header}.hpp>")
        self.refused("outofcore/a.cpp", "#include <granary/detail/runtime/setup/options.hpp>")
        self.refused("trace/a.cpp", "#include <granary/detail/runtime/setup/options.hpp>")
        self.accepted("runtime/session/a.cpp", "#include <granary/detail/outofcore/storage.hpp>")
        self.refused("runtime/setup/a.cpp", "#include <granary/detail/runtime/session/session.hpp>")
        self.refused("runtime/session/a.cpp", "#include <granary/detail/runtime/api/runtime.hpp>")

    def test_no_entry_of_the_table_runs_upward(self):
        sys.path.insert(0, str(SCRIPT.parent))
        import check_layers
        upward = [(layer, target) for layer, targets in check_layers.LAYERS.items() for target in targets
                  if check_layers.is_upward(layer, target)]
        self.assertEqual(upward, [])
        self.assertTrue(check_layers.is_upward("core/backends", "outofcore"))

    def test_includes_downwards(self):
        self.accepted("core/model/a.hpp", "#include <granary/detail/core/base/ids.hpp>")
        self.accepted("policies/darts/a.cpp", "#include <granary/detail/core/policy/scheduler.hpp>")
        self.accepted("linalg/kernels/a.hpp", "#include <granary/detail/core/backends/kokkos_compat.hpp>")
        self.accepted("tests/unit/a_test.cpp", "#include <granary/detail/runtime/api/runtime.hpp>")

    def test_only_the_facade_of_linalg_knows_the_runtime(self):
        for room in ("algorithms", "data", "files", "generators", "kernels", "priorities", "residuals", "tiles"):
            self.refused(f"linalg/{room}/a.hpp", "#include <granary/detail/runtime/api/runtime.hpp>")
            self.refused(f"linalg/{room}/a.cpp", "#include <granary/detail/core/engine/engine.hpp>")
            self.refused(f"linalg/{room}/a.hpp", "#include <granary/detail/linalg/runtime/matrices.hpp>")
        self.accepted("linalg/runtime/a.hpp", "#include <granary/detail/runtime/api/runtime.hpp>")
        self.accepted("include/granary/linalg.hpp", "#include <granary/detail/linalg/runtime/matrices.hpp>")
        self.refused("linalg/runtime/a.hpp", "#include <granary/linalg.hpp>")
        self.refused("linalg/a.hpp", "#include <granary/detail/linalg/runtime/matrices.hpp>")

    def test_formats_of_files_know_no_algebra(self):
        for header in ("algorithms/a", "tiles/a", "kernels/a", "generators/a", "data/tiled_matrix"):
            self.refused("linalg/files/a.hpp", f"#include <granary/detail/linalg/{header}.hpp>")
        self.refused("linalg/algorithms/a.hpp", "#include <granary/detail/linalg/files/matrix_file.hpp>")
        self.accepted("linalg/files/a.hpp", "#include <granary/detail/linalg/data/tile_grid.hpp>")
        self.accepted("linalg/generators/a.hpp", "#include <granary/detail/linalg/files/matrix_source.hpp>")

    def test_only_the_disk_node_knows_the_engine(self):
        self.refused("outofcore/a.hpp", "#include <granary/detail/core/engine/backend.hpp>")
        self.refused("linalg/files/a.hpp", "#include <granary/detail/outofcore/disk_node.hpp>")
        self.accepted("outofcore/disk_node.hpp", "#include <granary/detail/core/engine/backend.hpp>")

    def test_the_movement_of_data_knows_no_task(self):
        self.refused("core/planner/movement/a.hpp", "#include <granary/detail/core/model/task.hpp>")
        self.refused("core/planner/movement/a.hpp", "#include <granary/detail/core/planner/dispatch/dispatch.hpp>")
        self.refused("core/planner/dispatch/a.hpp", "#include <granary/detail/core/planner/planner.hpp>")
        self.refused("simulator/a.cpp", "#include <granary/detail/core/planner/movement/movement.hpp>")
        self.accepted("core/planner/dispatch/a.hpp", "#include <granary/detail/core/planner/movement/movement.hpp>")

    def test_a_macro_exports(self):
        self.refused("core/base/a.hpp", "#pragma GCC visibility push(default)")
        self.accepted("core/backends/kokkos_core.hpp", "#pragma GCC visibility push(default)")

    def test_tasks_on_tiles_know_no_algorithm(self):
        self.refused("linalg/tiles/a.cpp", "#include <granary/detail/linalg/algorithms/cholesky.hpp>")
        self.accepted("linalg/algorithms/a.cpp", "#include <granary/detail/linalg/tiles/blas3.hpp>")

    def test_circles(self):
        back = ("core/base/b.hpp", "#include <granary/detail/core/base/a.hpp>\n")
        result = check("core/base/a.hpp", "#include <granary/detail/core/base/b.hpp>\n", [back])
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("core/base/b.hpp:1: units in a circle: core/base/a -> core/base/b -> core/base/a", result.stdout)
        self.assertEqual(check("core/base/a.hpp", "\n", [back]).returncode, 0)

    def test_circles_through_sources(self):
        header = ("core/base/a.hpp", "#pragma once\n")
        back = ("core/base/b.hpp", "#include <granary/detail/core/base/a.hpp>\n")
        result = check("core/base/a.cpp", "\n#include <granary/detail/core/base/b.hpp>\n", [header, back])
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("core/base/b.hpp:1: units in a circle: core/base/a -> core/base/b -> core/base/a", result.stdout)
        own = check("core/base/a.cpp", "#include <granary/detail/core/base/a.hpp>\n", [header, back])
        self.assertEqual(own.returncode, 0, own.stdout)

    def test_circles_of_three_units(self):
        others = [("core/base/b.cpp", "#include <granary/detail/core/base/c.hpp>\n"), ("core/base/b.hpp", "\n"),
                  ("core/base/c.cpp", "#include <granary/detail/core/base/a.hpp>\n"), ("core/base/c.hpp", "\n"),
                  ("core/base/a.hpp", "\n")]
        result = check("core/base/a.cpp", "#include <granary/detail/core/base/b.hpp>\n", others)
        self.assertIn("core/base/c.cpp:1: units in a circle: core/base/a -> core/base/b -> core/base/c -> core/base/a",
                      result.stdout)
        self.assertEqual(check("core/base/a.cpp", "\n", others).returncode, 0)

    def test_circles_of_quoted_names(self):
        for name in ("b.hpp", "apps/x/b.hpp", "../x/b.hpp"):
            result = check("apps/x/a.cpp", f'#include "{name}"\n',
                           [("apps/x/a.hpp", "\n"), ("apps/x/b.cpp", '#include "a.hpp"\n'), ("apps/x/b.hpp", "\n")])
            self.assertIn("apps/x/b.cpp:1: units in a circle: apps/x/a -> apps/x/b -> apps/x/a", result.stdout)

    def test_lengths(self):
        result = check("core/planner/a.hpp", "\n" * 151)
        self.assertIn("core/planner/a.hpp:151: the file has more than 150 lines", result.stdout)
        self.assertEqual(check("core/planner/a.hpp", "\n" * 150).returncode, 0)
        for path in ("core/planner/a.cpp", "core/base/a.hpp", "apps/a/a.cpp", "bench/a/a.cpp", "include/granary/a.hpp"):
            result = check(path, "\n" * 401)
            self.assertIn(f"{path}:401: the file has more than 400 lines", result.stdout)
            self.assertEqual(check(path, "\n" * 400).returncode, 0)
        self.assertEqual(check("tests/unit/base/a_test.cpp", "\n" * 1000).returncode, 0)

    def test_members_of_other_classes(self):
        own = ("core/planner/a.hpp", "class GRANARY_EXPORT A {\n  void f();\n};\nclass Planner;\n")
        self.assertEqual(check("core/planner/a.cpp", "void A::f() {}\n", [own]).returncode, 0)
        result = check("core/planner/a.cpp", "void A::f() {}\nbool Other::g() { return true; }\n", [own])
        self.assertIn("core/planner/a.cpp:2: a member of Other is defined outside", result.stdout)

    def test_unknown_folder(self):
        self.refused("core/base/a.hpp", "#include <granary/detail/elsewhere/a.hpp>")
        self.refused("core/elsewhere/a.hpp", "#include <granary/detail/core/base/ids.hpp>")

    def test_vendor_headers(self):
        self.refused("core/backends/device.hpp", "#include <cuda_runtime.h>")
        self.refused("linalg/kernels/a.cpp", "#include <hip/hip_runtime.h>")
        self.accepted("core/backends/vendor_interop.hpp", "#include <cuda_runtime.h>")

    def test_policies_own_nothing(self):
        self.refused("policies/darts/a.hpp", "#include <mutex>")
        self.refused("policies/eviction/a.cpp", "#include <thread>")
        self.refused("policies/darts/a.cpp", "auto t = std::chrono::steady_clock::now();")

    def test_environment(self):
        self.refused("policies/darts/a.cpp", 'auto* e = std::getenv("X");')
        self.refused("core/engine/a.cpp", 'auto* e = ::getenv("X");')
        self.refused("trace/a.cpp", 'auto* e = std::getenv("X");')
        self.accepted("runtime/setup/configure.cpp", 'auto* e = std::getenv("X");')
        self.accepted("core/engine/a.cpp", '// getenv("X") is for runtime')


if __name__ == "__main__":
    unittest.main()
