# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Granary(CMakePackage, CudaPackage, ROCmPackage):
    """A library on Kokkos that runs task graphs larger than RAM or GPU memory, with out-of-core
    linear algebra, and a simulator of its schedulers on other machines."""

    # The clone of granary that this recipe stands in. For spack-packages, scripts/export_spack.py
    # writes the addresses, the maintainers and the releases of a forge in place of these lines.
    # begin clone
    homepage = pathlib.Path(__file__).resolve().parents[5].as_uri()
    git = homepage

    version("main", branch="main")
    version("0.1.0", commit="46e816e4c793dbe68633ff03377ca51ba9d7908b")
    # end clone

    license("Apache-2.0 WITH LLVM-exception")

    test_requires_compiler = True

    variant("openmp", default=False, description="Use a Kokkos with OpenMP for the host")
    variant("mpi", default=False, description="Several processes")
    variant("shared", default=True, description="Build shared libraries")
    variant("tests", default=False, description="Build the tests")
    variant("examples", default=False, description="Build the examples")

    depends_on("c", type="build")  # for what CMake's FindHDF5 compiles
    depends_on("cxx", type="build")
    # Run: for `spack test run`, and for applications that find static libraries.
    depends_on("cmake@3.22:", type=("build", "run"))
    depends_on("pkgconfig", type="build")
    depends_on("pkgconfig", type="run", when="~shared")

    depends_on("kokkos@3.4.01:")
    depends_on("kokkos-kernels@3.4.01: +blas")
    depends_on("kokkos +shared", when="+shared")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("kokkos@4.6: +cuda +wrapper", when="+cuda")
    depends_on("kokkos@4.6: +rocm", when="+rocm")
    requires(
        "^kokkos cxxstd=20",
        "^kokkos cxxstd=23",
        policy="one_of",
        when="^kokkos@4:",
        msg="granary is C++20, and Kokkos has to be compiled for it: kokkos cxxstd=20",
    )
    for _arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos +cuda cuda_arch={_arch}", when=f"+cuda cuda_arch={_arch}")
        depends_on(f"kokkos-kernels +cuda cuda_arch={_arch}", when=f"+cuda cuda_arch={_arch}")
    for _target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos +rocm amdgpu_target={_target}", when=f"+rocm amdgpu_target={_target}")

    depends_on("cuda@12:", when="+cuda")
    depends_on("rocblas", when="+rocm")
    depends_on("rocsolver", when="+rocm")
    depends_on("blas")
    depends_on("lapack")
    depends_on("hwloc")
    depends_on("hdf5")
    depends_on("hdf5 ~mpi", when="~mpi")
    depends_on("liburing")
    depends_on("clp")
    depends_on("coinutils")
    depends_on("mpi@3:", when="+mpi")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("googletest +gmock", when="+tests")

    conflicts(
        "+cuda", when="cuda_arch=none", msg="granary +cuda needs an architecture, as cuda_arch=80"
    )
    conflicts(
        "+cuda", when="+rocm", msg="Kokkos drives NVIDIA or AMD devices, not both: +cuda or +rocm"
    )
    requires("platform=linux", msg="granary runs on Linux only")
    conflicts("%gcc@:10", msg="granary is C++20: GCC 11 or newer")

    @property
    def device_compiler(self):
        """What compiles for devices in place of the C++ compiler; None for the host alone."""
        if self.spec.satisfies("+cuda"):
            return self["kokkos"].kokkos_cxx
        if self.spec.satisfies("+rocm"):
            return self.spec["hip"].hipcc
        return None

    def cmake_args(self):
        args = [
            self.define("Kokkos_ROOT", self["kokkos"].prefix),
            self.define("KokkosKernels_ROOT", self["kokkos-kernels"].prefix),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("GRANARY_KOKKOSKERNELS", True),
            self.define("GRANARY_URING", True),
            self.define_from_variant("GRANARY_MPI", "mpi"),
            # Spack has no recipe for Gecode.
            self.define("GRANARY_GECODE", False),
            self.define_from_variant("GRANARY_BUILD_TESTS", "tests"),
            self.define_from_variant("GRANARY_BUILD_EXAMPLES", "examples"),
            self.define("GRANARY_BUILD_BENCHMARKS", False),
        ]
        if self.device_compiler:
            args.append(self.define("CMAKE_CXX_COMPILER", self.device_compiler))
        return args

    consumer = join_path("tests", "install", "consumer")

    @run_after("install")
    def keep_consumer(self):
        """Keeps the sources that `spack test run` builds against the installed package."""
        cache_extra_test_sources(self, [self.consumer])

    def test_consumer(self):
        """configure, build and run an application against the installed package"""
        args = [
            ".",
            self.define("CMAKE_PREFIX_PATH", get_cmake_prefix_path(self)),
            self.define("granary_ROOT", self.prefix),
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("CMAKE_CXX_COMPILER", self.device_compiler or self["cxx"].cxx),
        ]
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        with working_dir(join_path(self.test_suite.current_test_cache_dir, self.consumer)):
            cmake(*args)
            cmake("--build", ".")
            consumer = Executable("./consumer")
            out = consumer(output=str.split, error=str.split)
            check_outputs(["y = 20 everywhere"], out)

    def test_simulate(self):
        """compare two schedulers on a platform that comes with granary"""
        simulate = which(self.prefix.bin.join("granary-simulate"), required=True)
        args = ["--platform", "p100", "--tiles", "4", "--tile", "960"]
        out = simulate(*args, "--scheduler", "eager,darts", output=str.split, error=str.split)
        check_outputs(["eager", "darts"], out)
