# Finds granary's dependencies and gives each one target name, independent of the CMake files of its version.
#   granary::kokkos         Kokkos, 3.4.1 or newer (GranaryKokkos.cmake)
#   granary::kokkoskernels  Kokkos Kernels, if it is used (GranaryKokkosKernels.cmake)
#   granary::cuda           cudart, cuBLAS and cuSOLVER, if Kokkos has CUDA (GRANARY_HAVE_CUDA)
#   granary::hip            HIP, rocBLAS and rocSOLVER, if Kokkos has HIP (GRANARY_HAVE_HIP)
#   granary::blas           BLAS and LAPACK
#   granary::uring          liburing, if it is used (GranaryUring.cmake)
#   granary::hwloc, granary::hdf5, granary::clp
# Used by the build, and by the installed package if its libraries are static. The switches of optional dependencies
# (GranarySwitches.cmake) are set before.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/GranaryKokkos.cmake)
if(granary_kokkos_problem)
  message(FATAL_ERROR "${granary_kokkos_problem}")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/GranaryKokkosKernels.cmake)

# The device backends of Kokkos.
set(GRANARY_HAVE_CUDA FALSE)
set(GRANARY_HAVE_HIP FALSE)
add_library(granary::cuda INTERFACE IMPORTED)
add_library(granary::hip INTERFACE IMPORTED)
if("CUDA" IN_LIST granary_kokkos_devices)
  set(GRANARY_HAVE_CUDA TRUE)
  find_package(CUDAToolkit 12 REQUIRED)
  target_link_libraries(granary::cuda INTERFACE CUDA::cudart CUDA::cuda_driver CUDA::cublas CUDA::cusolver)
  target_compile_definitions(granary::cuda INTERFACE GRANARY_HAVE_CUDA)
  # A call of a host function in device code has no defined result; nvcc only warns.
  target_compile_options(granary::kokkos INTERFACE "SHELL:-Werror cross-execution-space-call")
elseif("HIP" IN_LIST granary_kokkos_devices)
  set(GRANARY_HAVE_HIP TRUE)
  find_package(hip REQUIRED)
  target_link_libraries(granary::hip INTERFACE hip::host)
  target_compile_definitions(granary::hip INTERFACE GRANARY_HAVE_HIP)
  find_package(rocblas REQUIRED)
  find_package(rocsolver REQUIRED)
  target_link_libraries(granary::hip INTERFACE roc::rocblas roc::rocsolver)
endif()

find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
add_library(granary::blas INTERFACE IMPORTED)
target_link_libraries(granary::blas INTERFACE LAPACK::LAPACK BLAS::BLAS)

find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)

pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
add_library(granary::hwloc INTERFACE IMPORTED)
target_link_libraries(granary::hwloc INTERFACE PkgConfig::hwloc)

include(${CMAKE_CURRENT_LIST_DIR}/GranaryUring.cmake)

# pkg-config also lists the dependencies of a static Clp (BLAS, compression): only Clp and its direct libraries are
# linked.
pkg_check_modules(clp REQUIRED QUIET clp)
find_library(GRANARY_CLP_LIBRARY Clp HINTS ${clp_LIBRARY_DIRS} REQUIRED)
find_library(GRANARY_COINUTILS_LIBRARY CoinUtils HINTS ${clp_LIBRARY_DIRS} REQUIRED)
mark_as_advanced(GRANARY_CLP_LIBRARY GRANARY_COINUTILS_LIBRARY)
add_library(granary::clp INTERFACE IMPORTED)
target_include_directories(granary::clp SYSTEM INTERFACE ${clp_INCLUDE_DIRS})
target_link_libraries(granary::clp INTERFACE ${GRANARY_CLP_LIBRARY} ${GRANARY_COINUTILS_LIBRARY})

# Only a shared HDF5 itself is linked; it loads its own dependencies (curl, crypto, compression).
find_package(HDF5 REQUIRED COMPONENTS C)
set(granary_hdf5_libraries ${HDF5_C_LIBRARIES})
if("${granary_hdf5_libraries}" MATCHES "libhdf5[^;]*\\.so")
  list(FILTER granary_hdf5_libraries INCLUDE REGEX "hdf5")
endif()
add_library(granary::hdf5 INTERFACE IMPORTED)
target_include_directories(granary::hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_compile_definitions(granary::hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
target_link_libraries(granary::hdf5 INTERFACE ${granary_hdf5_libraries})
if(HDF5_IS_PARALLEL)
  find_package(MPI REQUIRED COMPONENTS C)
  target_link_libraries(granary::hdf5 INTERFACE MPI::MPI_C)
endif()
