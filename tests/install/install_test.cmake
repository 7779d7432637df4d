# Installs BINARY_DIR into WORK_DIR and configures, builds and runs the consumers against the installed package. CXX:
# the compiler. VERSION: granary's. SHARED: whether its libraries are shared.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/consumer_test.cmake)
set(PREFIX ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
# The installation may be moved.
run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/installed)
file(RENAME ${WORK_DIR}/installed ${PREFIX})

consume(consumer consumer ${WORK_DIR}/build)
# Static libraries need all of granary's dependencies.
consume(without_kokkos platforms ${WORK_DIR}/without_kokkos -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=${SHARED})
consume(components "" ${WORK_DIR}/components)
if(EXISTS ${PREFIX}/include/granary/mpi.hpp)
  set(ENV{OMPI_MCA_hwloc_base_binding_policy} none)
  consume(processes distributed ${WORK_DIR}/processes)  # one process, without mpirun
endif()
consume(refusals "" ${WORK_DIR}/refusals)
# The installed program finds the installed platforms.
run(${PREFIX}/bin/granary-simulate --platform p100 --tiles 4 --tile 960 --scheduler eager,superblock)

# The same with pkg-config.
file(GLOB_RECURSE files ${PREFIX}/*/granary.pc)
get_filename_component(folder "${files}" DIRECTORY)
get_filename_component(libraries "${folder}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder}:$ENV{PKG_CONFIG_PATH})
if(EXISTS ${PREFIX}/include/granary/mpi.hpp)
  run(pkg-config --validate granary-mpi)
endif()
foreach(package granary granary-linalg granary-simulator granary-planning)
  run(pkg-config --validate ${package})
endforeach()
run(pkg-config --modversion granary)
if(NOT output MATCHES "^${VERSION}\n$")
  message(FATAL_ERROR "granary.pc has version ${output}, not ${VERSION}")
endif()
run(pkg-config --cflags --libs granary-linalg)
separate_arguments(flags UNIX_COMMAND "${output}")
# An application's warnings do not concern Kokkos' headers.
run(${CXX} -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -o ${WORK_DIR}/by_pkg_config
  ${CMAKE_CURRENT_LIST_DIR}/consumer/consumer.cpp ${flags} -Wl,-rpath,${libraries})
run(${WORK_DIR}/by_pkg_config)

# Every header of the front door compiles, and nothing else is installed but what these include.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/GranaryHeaders.cmake)
granary_installed_headers(front inner)
set(doors ${front})
list(REMOVE_ITEM doors mpi.hpp)
list(TRANSFORM doors REPLACE "(.+)" "#include <granary/\\1>\n" OUTPUT_VARIABLE includes)
list(JOIN includes "" includes)
string(APPEND includes "#include <string_view>\nstatic_assert(std::string_view(GRANARY_VERSION_STRING) == \"${VERSION}\");\n")
file(WRITE ${WORK_DIR}/front_door.cpp "${includes}")
run(${CXX} -std=c++20 -fsyntax-only ${WORK_DIR}/front_door.cpp ${flags})
file(GLOB_RECURSE headers RELATIVE ${PREFIX}/include/granary ${PREFIX}/include/granary/*)
list(TRANSFORM inner PREPEND detail/)
list(REMOVE_ITEM headers version.hpp ${front} ${inner})
if(headers)
  message(FATAL_ERROR "installed, but included by no header of include/granary: ${headers}")
endif()

# The licence and the documents, with the pages and examples to which they lead.
foreach(document LICENSE README.md CHANGELOG.md CITATION.cff docs/install.md docs/figures/report-timeline.png examples/hello.cpp)
  if(NOT EXISTS ${PREFIX}/share/doc/granary/${document})
    message(FATAL_ERROR "share/doc/granary/${document} is not installed")
  endif()
endforeach()

# The soname of a shared library has the interface's version; it exports only symbols of granary or Kokkos, and those of
# headers.
file(GLOB shared ${libraries}/libgranary_*.so)
foreach(library IN LISTS shared)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" interface ${VERSION})
  get_filename_component(name ${library} NAME)
  run(objdump -p ${library})
  if(NOT output MATCHES "SONAME +${name}\\.${interface}\n")
    message(FATAL_ERROR "the soname of ${library} is not ${name}.${interface}")
  endif()
  run(nm --dynamic --defined-only --format=posix ${library})
  string(REGEX MATCHALL "[^\n]+\n" symbols "${output}")
  list(FILTER symbols EXCLUDE REGEX "7granary|[Kk]okkos|desul")
  if(symbols)
    message(FATAL_ERROR "${library} gives away ${symbols}")
  endif()
  # Classes that are not in the public headers.
  string(REGEX MATCH "[^\n]*7granary6detail(10CopyStream|14EmulatedStream)[^\n]*" inner "${output}")
  if(inner)
    message(FATAL_ERROR "${library} gives away ${inner}")
  endif()
endforeach()
