# granary::kokkos, an imported target for Kokkos 3.4.1 or newer, whatever its version's CMake files look like. Where there
# is none, or none that fits, granary_kokkos_problem says so in a sentence.
# Used by the build and by the installed package alike. Before it, find_package(Threads).
set(granary_kokkos_problem "")
if(TARGET granary::kokkos)
  return()
endif()

# Debian's Kokkos 5 lies in /usr/include/kokkos, and its CMake package names a library that is not shipped.
find_path(GRANARY_KOKKOS_INCLUDE_DIR Kokkos_Core.hpp PATHS /usr/include/kokkos NO_DEFAULT_PATH)
find_library(GRANARY_KOKKOS_LIBRARY kokkoscore)
mark_as_advanced(GRANARY_KOKKOS_INCLUDE_DIR GRANARY_KOKKOS_LIBRARY)
if(GRANARY_KOKKOS_INCLUDE_DIR AND GRANARY_KOKKOS_LIBRARY AND NOT granary_kokkos_hint AND NOT Kokkos_DIR AND NOT Kokkos_ROOT
    AND NOT DEFINED ENV{Kokkos_ROOT})
  if(NOT DEFINED GRANARY_KOKKOS_PACKAGE_WORKS)
    message(STATUS "Checking whether Kokkos' CMake package works")
  endif()
  try_compile(GRANARY_KOKKOS_PACKAGE_WORKS ${CMAKE_BINARY_DIR}/kokkos-probe ${CMAKE_CURRENT_LIST_DIR}/kokkos-probe
    kokkos_probe CMAKE_FLAGS "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}")
else()
  set(GRANARY_KOKKOS_PACKAGE_WORKS TRUE)
endif()

if(GRANARY_KOKKOS_PACKAGE_WORKS)
  # granary_kokkos_hint: the Kokkos that an installed granary was built with; what the user names comes before it.
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
  # Before 4.0 the package comes with variables only: its Kokkos::kokkos names a directory that is not there.
  if(Kokkos_VERSION VERSION_LESS 4.0)
    target_include_directories(granary::kokkos SYSTEM INTERFACE ${Kokkos_INCLUDE_DIRS} ${Kokkos_TPL_INCLUDE_DIRS})
    target_link_libraries(granary::kokkos INTERFACE ${Kokkos_LIBRARIES} ${Kokkos_TPL_LIBRARIES} Threads::Threads)
  else()
    target_link_libraries(granary::kokkos INTERFACE Kokkos::kokkos Threads::Threads)
  endif()
else()
  message(STATUS "Kokkos' CMake package is broken: using ${GRANARY_KOKKOS_LIBRARY} with plain flags")
  add_library(granary::kokkos INTERFACE IMPORTED)
  target_include_directories(granary::kokkos SYSTEM INTERFACE ${GRANARY_KOKKOS_INCLUDE_DIR})
  target_compile_options(granary::kokkos INTERFACE -fopenmp)
  target_link_options(granary::kokkos INTERFACE -fopenmp)
  target_link_libraries(granary::kokkos INTERFACE ${GRANARY_KOKKOS_LIBRARY} ${CMAKE_DL_LIBS} Threads::Threads)
endif()

# What Kokkos drives devices with. Several GPUs in one process: CUDA since Kokkos 4.3, HIP since 4.6.
string(TOUPPER "${Kokkos_DEVICES}" granary_kokkos_devices)
if("CUDA" IN_LIST granary_kokkos_devices OR "HIP" IN_LIST granary_kokkos_devices)
  if(Kokkos_VERSION VERSION_LESS 4.6)
    set(granary_kokkos_problem "granary needs Kokkos 4.6 or newer for CUDA and HIP; found ${Kokkos_VERSION} in ${Kokkos_DIR}")
    return()
  endif()
endif()
if("CUDA" IN_LIST granary_kokkos_devices)
  # nvcc warns of conversions that a template's constraints exclude.
  target_compile_options(granary::kokkos INTERFACE "SHELL:-Xcudafe --diag_suppress=554")
endif()
