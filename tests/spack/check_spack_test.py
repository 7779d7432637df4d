#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_spack.py accepts the project and names each difference caused by a change on one side only, also of spack-packages;
export_spack.py writes a recipe for these."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = "spack/spack_repo/granary/packages/granary/package.py"
READ = ["CMakeLists.txt", "tests/CMakeLists.txt", RECIPE, "spack/spack_repo/granary/repo.yaml",
        *(str(path.relative_to(ROOT)) for pattern in ("cmake/Granary*.cmake", "spack/environments/*/spack.yaml")
          for path in sorted(ROOT.glob(pattern)))]

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
specification = importlib.util.spec_from_file_location("check_spack", ROOT / "scripts/check_spack.py")
check_spack = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_spack)


# Recipes of spack-packages, as far as ours needs them: the package, and the lines of its class.
BUILTIN = {
    "kokkos": """
    version("4.7.00", sha256="0")
    version("3.4.01", sha256="0")
    for name in {"openmp": (False, "threads"), "serial": (True, "none")}:
        variant(name, default=False)
    variant("shared", default=True)
    variant("wrapper", default=False)
    variant("cxxstd", default="17")""",
    "kokkos_kernels": """
    version("4.7.00", sha256="0")
    variant("blas", default=False)""",
    "openblas": """
    variant("threads", default="none")
    provides("blas", "lapack")""",
    "cmake": 'version("3.31.0", sha256="0")',
    "cuda": """
    releases = {"12.4": {}, "11.8": {}}
    for release, archives in releases.items():
        version(release, sha256="0")""",
    "hdf5": 'variant("mpi", default=True)',
    "googletest": 'variant("gmock", default=True)',
    "mpich": 'provides("mpi@:4.0")',
    "pkgconf": 'provides("pkgconfig")',
    "gcc": 'provides("c", "cxx")',
    **dict.fromkeys(["cli11", "clp", "coinutils", "fmt", "hwloc", "liburing", "nlohmann_json", "rocblas", "rocsolver", "spdlog"], "pass"),
}
BUILD_SYSTEMS = {"cmake": "CMakePackage", "cuda": "CudaPackage", "rocm": "ROCmPackage"}


def write_spack_packages(root):
    """A checkout of spack-packages with BUILTIN."""
    builtin = root / "repos/spack_repo/builtin"
    for name, lines in BUILTIN.items():
        folder = builtin / "packages" / name
        folder.mkdir(parents=True)
        (folder / "package.py").write_text(f"class It(CMakePackage, CudaPackage, ROCmPackage):\n    {lines.strip()}\n")
    (builtin / "build_systems").mkdir()
    for module, name in BUILD_SYSTEMS.items():
        variants = {"cuda": ("cuda", "cuda_arch"), "rocm": ("rocm", "amdgpu_target")}.get(module, ())
        lines = "".join(f'    variant("{variant}", default=False)\n' for variant in variants)
        (builtin / "build_systems" / f"{module}.py").write_text(f"class {name}(PackageBase):\n{lines}    pass\n")
    (builtin / "repo.yaml").write_text("repo:\n  namespace: builtin\n  api: v2.2\n")


def check(path=None, old="", new="", spack_packages=None):
    """The checker's findings in a copy of its inputs, with `old` replaced by `new` in the file `path`; those of the comparison
    with spack-packages, if there is a checkout."""
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
        if spack_packages is not None:
            return list(check_spack.differences_from_spack(root, check_spack.Repository(spack_packages)))
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
        self.refused(RECIPE, '            self.define("GRANARY_URING", True),\n', "", "the recipe does not set CMake's option GRANARY_URING")
        self.refused("CMakeLists.txt", "set(GRANARY_SANITIZE \"\" CACHE", "set(GRANARY_CHECKS \"\" CACHE",
                     "the recipe does not set CMake's option GRANARY_CHECKS")
        self.refused(RECIPE, '"GRANARY_BUILD_TESTS"', '"GRANARY_TESTS"', "the recipe sets GRANARY_TESTS, which is no option")

    def test_variants(self):
        self.refused(RECIPE, 'variant("shared"', 'variant("dynamic"', "from the variant shared, which it does not have")
        self.refused(RECIPE, 'variant("tests"', 'variant("fast", default=True, description="x")\n    variant("tests"',
                     "nothing in the recipe depends on the variant fast")
        self.refused(RECIPE, 'conflicts("%gcc@:10", msg="granary is C++20: GCC 11 or newer")',
                     'conflicts("%gcc@:10")', "the conflict '%gcc@:10' has no message")

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

    def test_spack_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write_spack_packages(root)
            self.assertEqual(check(spack_packages=root), [])
            for old, new, message in [
                    ('depends_on("clp")', 'depends_on("gecode")', "'gecode': spack-packages has no gecode"),
                    ("kokkos-kernels@3.4.01: +blas", "kokkos-kernels +speed", "kokkos-kernels has no variant speed in spack-packages"),
                    ("kokkos-kernels@3.4.01:", "kokkos-kernels@5:", "spack-packages has no kokkos-kernels@5:"),
                    ("kokkos@3.4.01:", "kokkos@:3.3", "spack-packages has no kokkos@:3.3"),
                    ("cuda@12:", "cuda@13:", "spack-packages has no cuda@13:"),
                    ('"^kokkos cxxstd=20"', '"^kokkos standard=20"', "kokkos has no variant standard"),
                    ("build_systems.rocm", "build_systems.amd", "spack-packages has no build system amd")]:
                with self.subTest(message):
                    self.assertIn(message, "\n".join(check(RECIPE, old, new, root)))
            found = check("spack/environments/laptop/spack.yaml", "openblas threads", "openblas lanes", root)
            self.assertIn("laptop/spack.yaml: 'openblas lanes=pthreads': openblas has no variant lanes", "\n".join(found))
            found = check("spack/spack_repo/granary/repo.yaml", "v2.2", "v2.3", root)
            self.assertEqual(found, ["our repository has Spack's package API v2.3, and spack-packages v2.2"])

    def test_no_checkout(self):
        script = ROOT / "scripts/check_spack.py"
        run = lambda **more: subprocess.run([sys.executable, script], capture_output=True, text=True, env={**os.environ, **more})
        self.assertIn("skipped: its comparison with spack-packages", run(GRANARY_SPACK_PACKAGES="").stdout)
        with tempfile.TemporaryDirectory() as folder:
            result = run(GRANARY_SPACK_PACKAGES=folder)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f"{folder} is no checkout of spack-packages", result.stderr)

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = pathlib.Path(folder) / "v0.1.0.tar.gz"
            archive.write_text("granary")
            export = [sys.executable, ROOT / "scripts/export_spack.py", "--repository", "https://forge.example/g/granary",
                      "--maintainer", "ann", "--maintainer", "bob"]
            result = subprocess.run([*export, f"0.1.0={archive}"], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            for line in ['homepage = "https://forge.example/g/granary"', 'maintainers("ann", "bob")',
                         'url = "https://forge.example/g/granary/archive/refs/tags/v0.1.0.tar.gz"',
                         'version("0.1.0", sha256="7c3f43c3cf7ec2dd73e59d7d6139434640a411e8fe49e18a0523ebd9d01d46b1")']:
                self.assertIn(line, result.stdout)
            self.assertNotIn("pathlib", result.stdout)
            self.assertIn("def test_consumer(self)", result.stdout)
            self.assertIn("is not VERSION=ARCHIVE", subprocess.run([*export, "0.1.0=none"], capture_output=True, text=True).stderr)


unittest.main()
