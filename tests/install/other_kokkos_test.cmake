# Builds granary with the Kokkos in the prefix GRANARY_TEST_KOKKOS, installs it and runs the consumer against it.
# WORK_DIR; SOURCE_DIR: granary's; CXX: the compiler; SHARED: kind of libraries.
if("$ENV{GRANARY_TEST_KOKKOS}" STREQUAL "")
  message(STATUS "skipped: GRANARY_TEST_KOKKOS names no installation of Kokkos")
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/consumer_test.cmake)
set(PREFIX ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${PREFIX} ${WORK_DIR}/consumer)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_INSTALL_PREFIX=${PREFIX} -DBUILD_SHARED_LIBS=${SHARED} -DKokkos_ROOT=$ENV{GRANARY_TEST_KOKKOS}
  -DGRANARY_BUILD_TESTS=OFF -DGRANARY_BUILD_BENCHMARKS=OFF -DGRANARY_BUILD_EXAMPLES=OFF)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel)
run(${CMAKE_COMMAND} --install ${WORK_DIR}/build)
consume(consumer consumer ${WORK_DIR}/consumer)
