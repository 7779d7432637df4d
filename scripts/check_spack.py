#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares Spack's recipe with the CMake project: version, options, dependencies and their minimum versions, in both
directions. The environments must use existing recipes and variants. If GRANARY_SPACK_PACKAGES names a checkout of
spack-packages, its recipes must have the packages, versions and variants that ours and the environments ask for.
Prints each difference and exits with 1. Recipes are read, not run: no Spack is needed. Argument: granary's folder, if not
the one of this script."""
import ast
import os
import pathlib
import re
import sys

from spack_repository import Repository, numbers

RECIPE = "spack/spack_repo/granary/packages/granary/package.py"
# CMake's module names, and the recipe's dependency for each. None: part of the compiler or of CMake.
PACKAGES = {
    "Kokkos": "kokkos", "KokkosKernels": "kokkos-kernels", "CUDAToolkit": "cuda", "rocblas": "rocblas",
    "rocsolver": "rocsolver", "hip": "rocm", "BLAS": "blas", "LAPACK": "lapack", "fmt": "fmt", "spdlog": "spdlog",
    "nlohmann_json": "nlohmann-json", "HDF5": "hdf5", "CLI11": "cli11", "PkgConfig": "pkgconfig", "GTest": "googletest",
    "hwloc": "hwloc", "liburing": "liburing", "clp": "clp", "CoinUtils": "coinutils", "Clp": "clp", "Threads": None,
    "MPI": "mpi", "kokkoscore": None,
    "gecode": None,  # Spack has no recipe for it
}
# Dependencies without find_package(): compilers and CMake itself.
TOOLS = {"c", "cxx", "cmake"}
# Options for granary's developers.
NOT_IN_RECIPE = {"GRANARY_SANITIZE"}
# Options that the recipe sets in addition to granary's own.
FOREIGN = {"Kokkos_ROOT", "KokkosKernels_ROOT", "CMAKE_CXX_COMPILER"}


class Recipe:
    def __init__(self, text):
        self.versions, self.variants, self.dependencies, self.conflicts = [], {}, {}, []
        self.defined, self.bases, self.specs, self.modules = {}, [], [], []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                self.bases = [base.id for base in node.bases]
            if isinstance(node, ast.FunctionDef) and node.name == "cmake_args":
                self.read_options(node)
            if isinstance(node, ast.ImportFrom) and node.module.startswith("spack_repo.builtin.build_systems."):
                self.modules.append(node.module.rpartition(".")[2])
            if isinstance(node, ast.Call):
                self.read(node)

    def read(self, call):
        name = getattr(call.func, "id", "")
        text = [self.text(argument) for argument in call.args]
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if name in ("depends_on", "conflicts", "requires"):
            self.specs += [*text, *([self.text(keywords["when"])] if "when" in keywords else [])]
        if name == "version":
            self.versions.append(text[0])
        elif name == "variant":
            self.variants[text[0]] = keywords["default"].value
        elif name == "depends_on":
            package, version = re.match(r"([\w-]+)(?:@([\w.]+):)?", text[0]).groups()
            when = self.text(keywords["when"]) if "when" in keywords else ""
            self.dependencies.setdefault(package, []).append((version, when))
        elif name == "conflicts":
            self.conflicts.append((text[0], self.text(keywords["msg"]) if "msg" in keywords else ""))

    def read_options(self, function):
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("define", "define_from_variant"):
                variant = self.text(call.args[1]) if call.func.attr == "define_from_variant" else None
                self.defined[self.text(call.args[0])] = variant

    @staticmethod
    def text(node):
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
        return ""


class Project:
    def __init__(self, root):
        top = (root / "CMakeLists.txt").read_text()
        kokkos = (root / "cmake" / "GranaryKokkos.cmake").read_text()
        everything = "\n".join(re.sub(r"#.*", "", text) for text in [
            top, *(path.read_text() for path in sorted((root / "cmake").glob("Granary*.cmake"))),
            (root / "tests" / "CMakeLists.txt").read_text()])
        self.version = re.search(r"project\(granary VERSION ([\d.]+)", top)[1]
        self.cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", top)[1]
        self.options = set(re.findall(r"option\((\w+)", everything)) | set(re.findall(r"set\((GRANARY_\w+) \S+ CACHE (?!INTERNAL)", everything))
        self.options |= set(re.findall(r"granary_add_switch\((\w+)", everything))
        self.found = re.findall(r"find_package\((\w+)", everything) + re.findall(r"pkg_check_modules\((\w+)", everything)
        self.found += re.findall(r"find_library\(\w+ (\w+)", everything)
        self.found += re.findall(r"find_path\(\w+ (\w+)/", everything)
        self.kokkos = re.search(r"Kokkos_VERSION VERSION_LESS (\S+?)\)\s+set\(granary_kokkos_problem", kokkos)[1]
        self.kokkos_devices = re.search(r'"HIP" IN_LIST.*\n\s*if\(Kokkos_VERSION VERSION_LESS (\S+?)\)', kokkos)[1]
        self.cuda = re.search(r"find_package\(CUDAToolkit ([\d.]+)", everything)[1]


def same_version(one, other):
    def without_zeros(version):
        parts = numbers(version or "")
        while parts and parts[-1] == 0:
            parts.pop()
        return parts
    return without_zeros(one) == without_zeros(other)


def differences_from_spack(root, repository):
    recipe = Recipe((root / RECIPE).read_text())
    api = re.search(r"api: v([\d.]+)", (root / "spack/spack_repo/granary/repo.yaml").read_text())[1]
    if numbers(api) > numbers(repository.api()):
        yield f"our repository has Spack's package API v{api}, and spack-packages v{repository.api()}"
    for module in recipe.modules:
        if not repository.has_build_system(module):
            yield f"spack-packages has no build system {module}"
    for spec in sorted(set(recipe.specs)):
        yield from repository.faults_of(spec)
    for path in sorted((root / "spack/environments").glob("*/spack.yaml")):
        for package, required in re.findall(r"^    (\w[\w-]*):\n +(?:require|variants): (.*)$", path.read_text(), re.M):
            spec = f"{package} {required}" if re.match(r"[+~]", required) else required
            yield from (f"{path.relative_to(root)}: {fault}" for fault in repository.faults_of(spec))


def differences(root):
    recipe = Recipe((root / RECIPE).read_text())
    project = Project(root)

    if project.version not in recipe.versions:
        yield f"CMakeLists.txt has version {project.version}, the recipe {', '.join(recipe.versions)}"

    for option in sorted(project.options - NOT_IN_RECIPE - set(recipe.defined)):
        yield f"the recipe does not set CMake's option {option}"
    for option in sorted(set(recipe.defined) - FOREIGN - project.options):
        yield f"the recipe sets {option}, which is no option of CMakeLists.txt"
    for option, variant in sorted(recipe.defined.items()):
        if variant is not None and variant not in recipe.variants:
            yield f"the recipe sets {option} from the variant {variant}, which it does not have"
    # A variant must be used, or say that it has no effect.
    used = " ".join([*(str(variant) for variant in recipe.defined.values()),
                     *(text for text, _ in recipe.conflicts),
                     *(when for uses in recipe.dependencies.values() for _, when in uses)])
    for variant in sorted(recipe.variants):
        if not re.search(rf"\b{variant}\b", used):
            yield f"nothing in the recipe depends on the variant {variant}"

    mixins = {"CudaPackage": "cuda", "ROCmPackage": "rocm"}
    known = set(recipe.dependencies) | {mixins[base] for base in recipe.bases if base in mixins}
    wanted = set()
    for name in sorted(set(project.found)):
        if name not in PACKAGES:
            yield f"CMake finds {name}, and scripts/check_spack.py does not know what that is in Spack"
        elif PACKAGES[name] is not None:
            wanted.add(PACKAGES[name])
    for package in sorted(wanted - known):
        yield f"CMake finds {package}, on which the recipe does not depend"
    for package in sorted(set(recipe.dependencies) - wanted - TOOLS):
        yield f"the recipe depends on {package}, which CMake does not find"

    least = [("cmake", "", project.cmake), ("kokkos", "", project.kokkos), ("kokkos", "+cuda", project.kokkos_devices),
             ("kokkos", "+rocm", project.kokkos_devices), ("cuda", "+cuda", project.cuda)]
    for package, when, version in least:
        stated = [stated for stated, condition in recipe.dependencies.get(package, []) if condition == when and stated]
        if not any(same_version(text, version) for text in stated):
            yield (f"CMake wants {package} {version} or newer{f' with {when}' if when else ''}, the recipe "
                   f"{', '.join(stated) or 'any'}")
    for text, message in recipe.conflicts:
        if not message:
            yield f"the conflict '{text}' has no message"

    environments = sorted((root / "spack/environments").glob("*/spack.yaml"))
    if not environments:
        yield "there is no environment in spack/environments"
    own = {"cuda", "rocm", "cuda_arch", "amdgpu_target"}
    for path in environments:
        specs = re.findall(r"^\s*- (granary\b.*)$", path.read_text(), re.M)
        if not specs:
            yield f"{path.relative_to(root)} asks for no granary"
        for spec in specs:
            for variant in re.findall(r"[+~](\w+)|\b(\w+)=", spec):
                name = variant[0] or variant[1]
                if name not in recipe.variants and name not in own:
                    yield f"{path.relative_to(root)} asks for the variant {name}, which the recipe does not have"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = list(differences(root))
    checkout = os.environ.get("GRANARY_SPACK_PACKAGES")
    if checkout:
        found += differences_from_spack(root, Repository(pathlib.Path(checkout)))
    for line in found:
        print(line)
    print(f"the recipe for Spack: {len(found)} differences from the CMake project{' and spack-packages' if checkout else ''}")
    if not checkout:
        print("skipped: its comparison with spack-packages, for which GRANARY_SPACK_PACKAGES names a checkout")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
