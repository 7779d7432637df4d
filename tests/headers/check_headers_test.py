#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_headers.py refuses each kind of fault, in a small tree, and writes the list of included headers."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_headers.py"


def check(files, *options):
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            file = pathlib.Path(root) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return subprocess.run([sys.executable, SCRIPT, root, *options], capture_output=True, text=True)


def including(*headers):
    return "".join(f"#include <granary/{header}>\n" for header in headers)


def lists(public, included):
    return {"cmake/GranaryHeaders.cmake": f"set(granary_public_headers\n  {' '.join(public)})\n"
                                          f"set(granary_mpi_headers)\nset(granary_included_headers\n  {' '.join(included)})\n"}


def chain(length):
    """granary.hpp and `length` headers that it includes, each through the one before."""
    names = [f"core/base/{i}.hpp" for i in range(length)]
    files = {name: including(*names[i + 1:i + 2]) + "#include <vector>\n" for i, name in enumerate(names)}
    return {"runtime/granary.hpp": including(*names[:1]), **files, **lists(["granary.hpp"], names)}


class CheckHeaders(unittest.TestCase):
    def accepted(self, files, *options):
        result = check(files, *options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def refused(self, files, message):
        result = check(files)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(message, result.stdout)

    def test_the_facade_includes_few(self):
        self.accepted(chain(28))
        self.refused(chain(29), "granary.hpp includes 29 of granary's headers, more than 28: core/base/0.hpp")

    def test_what_public_headers_include_is_installed(self):
        lacking = {**chain(2), **lists(["granary.hpp"], ["core/base/0.hpp"])}
        self.refused(lacking, "core/base/1.hpp is included by an installed header and not installed")
        self.accepted(lacking, "--write")

    def test_nothing_else_is_installed(self):
        surplus = {**chain(1), "core/base/inside.hpp": "",
                   **lists(["granary.hpp"], ["core/base/0.hpp", "core/base/inside.hpp"])}
        self.refused(surplus, "core/base/inside.hpp is included by no public header")
        self.accepted(surplus, "--write")
        self.refused({**chain(1), **lists(["granary.hpp", "core/base/0.hpp"], ["core/base/0.hpp"])},
                     "core/base/0.hpp is included by no public header, or public itself")

    def test_lists_name_files(self):
        self.refused({**chain(0), **lists(["granary.hpp", "core/none.hpp"], [])}, "core/none.hpp, which does not exist")

    def test_users_are_shown_public_headers(self):
        self.accepted({**chain(1), "examples/a.cpp": including("granary.hpp")})
        self.refused({**chain(1), "examples/a.cpp": including("core/base/0.hpp")},
                     "examples/a.cpp names granary/core/base/0.hpp, which is not public")


if __name__ == "__main__":
    unittest.main()
