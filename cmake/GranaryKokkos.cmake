# granary::kokkos, an imported target for Kokkos 3.4.1 or newer, independent of the CMake files of its version. If there
# is no suitable Kokkos, granary_kokkos_problem is one sentence that says why. Used by the build and by the installed
# package. Call find_package(Threads) before it.
set(granary_kokkos_problem "")
if(TARGET granary::kokkos)
  return()
endif()

# Debian's Kokkos 5 is in /usr/include/kokkos, and its CMake package names a library that is not shipped.
find_path(GRANARY_KOKKOS_INCLUDE_DIR Kokkos_Core.hpp PATHS /usr/include/kokkos NO_DEFAULT_PATH)
find_library(GRANARY_KOKKOS_LIBRARY kokkoscore)
mark_as_advanced(GRANARY_KOKKOS_INCLUDE_DIR GRANARY_KOKKOS_LIBRARY)
if(GRANARY_KOKKOS_INCLUDE_DIR AND GRANARY_KOKKOS_LIBRARY AND NOT granary_kokkos_hint AND NOT Kokkos_DIR AND NOT Kokkos_ROOT
    AND NOT DEFINED ENV{Kokkos_ROOT})
  if(NOT DEFINED GRANARY_KOKKOS_PACKAGE_WORKS)
    message(STATUS "Checking whether Kokkos' CMake package works")
    # In a separate CMake process: a try_compile that cannot be configured ends newer versions of CMake.
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/kokkos-probe -B ${CMAKE_BINARY_DIR}/kokkos-probe
        -G ${CMAKE_GENERATOR} -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
        "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}"
      RESULT_VARIABLE granary_probe_status OUTPUT_QUIET ERROR_QUIET)
    set(granary_probe_succeeds FALSE)
    if(granary_probe_status EQUAL 0)
      set(granary_probe_succeeds TRUE)
    endif()
    set(GRANARY_KOKKOS_PACKAGE_WORKS ${granary_probe_succeeds} CACHE INTERNAL "Kokkos' CMake package can be used")
  endif()
else()
  set(GRANARY_KOKKOS_PACKAGE_WORKS TRUE)
endif()

if(GRANARY_KOKKOS_PACKAGE_WORKS)
  # granary_kokkos_hint: the Kokkos that an installed granary was built with; a Kokkos that the user names has priority.
  find_package(Kokkos QUIET HINTS ${granary_kokkos_hint})
  if(NOT Kokkos_FOUND)
    set(granary_kokkos_problem
      "granary needs Kokkos 3.4.1 or newer, and no Kokkos was found: set Kokkos_ROOT to the prefix where it is installed")
    return()
  endif()
  if(Kokkos_VERSION VERSION_LESS 3.4.1)
    set(granary_kokkos_problem "granary needs Kokkos 3.4.1 or newer; found ${Kokkos_VERSION} in ${Kokkos_DIR}")
    return()
  endif()
  add_library(granary::kokkos INTERFACE IMPORTED)
  # Before 4.0 the package only has variables: its Kokkos::kokkos names a directory that does not exist.
  if(Kokkos_VERSION VERSION_LESS 4.0)
    target_include_directories(granary::kokkos SYSTEM INTERFACE ${Kokkos_INCLUDE_DIRS} ${Kokkos_TPL_INCLUDE_DIRS})
    target_link_libraries(granary::kokkos INTERFACE ${Kokkos_LIBRARIES} ${Kokkos_TPL_LIBRARIES} Threads::Threads)
  else()
    target_link_libraries(granary::kokkos INTERFACE Kokkos::kokkos Threads::Threads)
  endif()
else()
  message(STATUS "Kokkos' CMake package does not work: using ${GRANARY_KOKKOS_LIBRARY} with plain flags")
  add_library(granary::kokkos INTERFACE IMPORTED)
  target_include_directories(granary::kokkos SYSTEM INTERFACE ${GRANARY_KOKKOS_INCLUDE_DIR})
  target_compile_options(granary::kokkos INTERFACE -fopenmp)
  target_link_options(granary::kokkos INTERFACE -fopenmp)
  target_link_libraries(granary::kokkos INTERFACE ${GRANARY_KOKKOS_LIBRARY} ${CMAKE_DL_LIBS} Threads::Threads)
  # The values that a working package would have set.
  file(STRINGS ${GRANARY_KOKKOS_INCLUDE_DIR}/KokkosCore_config.h Kokkos_VERSION REGEX "define KOKKOS_VERSION_[MP]")
  string(REGEX REPLACE "[^0-9;]" "" Kokkos_VERSION "${Kokkos_VERSION}")
  list(JOIN Kokkos_VERSION . Kokkos_VERSION)
  set(Kokkos_DEVICES OPENMP)
endif()

set(GRANARY_KOKKOS_VERSION ${Kokkos_VERSION} CACHE INTERNAL "The version of the Kokkos that was found")

# Each of several shared libraries would have a copy of a static Kokkos, and all copies would construct and destroy the
# same global objects.
set(granary_kokkos_is_static FALSE)
if(TARGET Kokkos::kokkoscore)
  get_target_property(granary_kokkos_type Kokkos::kokkoscore TYPE)
  if(granary_kokkos_type STREQUAL STATIC_LIBRARY)
    set(granary_kokkos_is_static TRUE)
  endif()
endif()

# The device backends of Kokkos. Several GPUs in one process: CUDA since Kokkos 4.3, HIP since 4.6.
string(TOUPPER "${Kokkos_DEVICES}" granary_kokkos_devices)
if("CUDA" IN_LIST granary_kokkos_devices OR "HIP" IN_LIST granary_kokkos_devices)
  if(Kokkos_VERSION VERSION_LESS 4.6)
    set(granary_kokkos_problem "granary needs Kokkos 4.6 or newer for CUDA and HIP; found ${Kokkos_VERSION} in ${Kokkos_DIR}")
    return()
  endif()
endif()
if("CUDA" IN_LIST granary_kokkos_devices)
  # nvcc warns about conversions that a template's constraints exclude.
  target_compile_options(granary::kokkos INTERFACE "SHELL:-Xcudafe --diag_suppress=554")
endif()
