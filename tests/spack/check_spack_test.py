#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_spack.py accepts the project and names each difference caused by a change on one side only."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = "spack/spack_repo/granary/packages/granary/package.py"
READ = ["CMakeLists.txt", "cmake/GranaryKokkos.cmake", "cmake/GranaryDependencies.cmake", "cmake/GranaryGecode.cmake", "cmake/GranaryMpi.cmake",
        "tests/CMakeLists.txt", RECIPE,
        *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("spack/environments/*/spack.yaml")))]

sys.dont_write_bytecode = True
specification = importlib.util.spec_from_file_location("check_spack", ROOT / "scripts/check_spack.py")
check_spack = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_spack)


def check(path=None, old="", new=""):
    """The checker's findings in a copy of its inputs, with `old` replaced by `new` in the file `path`."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for file in READ:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, root / file)
        if path is not None:
            text = (root / path).read_text()
            if old not in text:
                raise AssertionError(f"{path} does not hold '{old}'")
            (root / path).write_text(text.replace(old, new))
        return list(check_spack.differences(root))


class CheckSpack(unittest.TestCase):
    def refused(self, path, old, new, message):
        self.assertIn(message, "\n".join(check(path, old, new)))

    def test_accepts_the_project(self):
        self.assertEqual(check(), [])

    def test_status(self):
        script = ROOT / "scripts/check_spack.py"
        self.assertEqual(subprocess.run([sys.executable, script], capture_output=True).returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            self.assertNotEqual(subprocess.run([sys.executable, script, folder], capture_output=True).returncode, 0)

    def test_version(self):
        self.refused("CMakeLists.txt", "granary VERSION 0.1.0", "granary VERSION 0.2.0",
                     "CMakeLists.txt has version 0.2.0, the recipe main, 0.1.0")

    def test_options(self):
        self.refused("CMakeLists.txt", "option(GRANARY_BUILD_EXAMPLES", "option(GRANARY_EXAMPLES",
                     "the recipe does not set CMake's option GRANARY_EXAMPLES")
        self.refused("CMakeLists.txt", "option(GRANARY_BUILD_EXAMPLES", "option(GRANARY_EXAMPLES",
                     "the recipe sets GRANARY_BUILD_EXAMPLES, which is no option of CMakeLists.txt")
        self.refused("CMakeLists.txt", "set(GRANARY_SANITIZE \"\" CACHE", "set(GRANARY_CHECKS \"\" CACHE",
                     "the recipe does not set CMake's option GRANARY_CHECKS")
        self.refused(RECIPE, '"GRANARY_BUILD_TESTS"', '"GRANARY_TESTS"', "the recipe sets GRANARY_TESTS, which is no option")

    def test_variants(self):
        self.refused(RECIPE, 'variant("shared"', 'variant("dynamic"', "from the variant shared, which it does not have")
        self.refused(RECIPE, 'variant("tests"', 'variant("fast", default=True, description="x")\n    variant("tests"',
                     "nothing in the recipe depends on the variant fast")
        self.refused(RECIPE, 'conflicts("~hdf5", msg="granary needs HDF5: its matrix files are built on it")',
                     'conflicts("~hdf5")', "the conflict '~hdf5' has no message")

    def test_dependencies(self):
        self.refused(RECIPE, '    depends_on("hwloc")\n', "", "CMake finds hwloc, on which the recipe does not depend")
        self.refused("cmake/GranaryDependencies.cmake", "find_package(spdlog REQUIRED)\n", "",
                     "the recipe depends on spdlog, which CMake does not find")
        self.refused("cmake/GranaryDependencies.cmake", "find_package(fmt REQUIRED)", "find_package(Boost REQUIRED)",
                     "CMake finds Boost, and scripts/check_spack.py does not know")

    def test_least_versions(self):
        self.refused(RECIPE, "kokkos@3.4.01:", "kokkos@3.7:", "CMake wants kokkos 3.4.1 or newer, the recipe 3.7")
        self.refused("cmake/GranaryKokkos.cmake", "VERSION_LESS 4.6", "VERSION_LESS 4.7",
                     "CMake wants kokkos 4.7 or newer with +cuda, the recipe 4.6")
        self.refused("cmake/GranaryDependencies.cmake", "CUDAToolkit 12", "CUDAToolkit 13",
                     "CMake wants cuda 13 or newer with +cuda, the recipe 12")
        self.refused("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)", "cmake_minimum_required(VERSION 3.25)",
                     "CMake wants cmake 3.25 or newer, the recipe 3.22")

    def test_environments(self):
        self.refused("spack/environments/laptop/spack.yaml", "+examples", "+pictures",
                     "asks for the variant pictures, which the recipe does not have")
        self.refused("spack/environments/laptop/spack.yaml", "- granary", "- granite", "asks for no granary")


unittest.main()
