# Builds examples/own_policy outside the tree, against the package that the install test left in WORK_DIR/prefix, and
# compares its scheduler with darts. CXX: the compiler. SOURCE_DIR: granary's.
include(${CMAKE_CURRENT_LIST_DIR}/consumer_test.cmake)

set(example ${WORK_DIR}/own_policy)
file(REMOVE_RECURSE ${example})
file(COPY ${SOURCE_DIR}/examples/own_policy/ DESTINATION ${example}/source)
file(READ ${example}/source/stack.cpp text)
string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH lines count)
if(count GREATER_EQUAL 60)
  message(FATAL_ERROR "the scheduler of examples/own_policy has ${count} lines; it is to have fewer than 60")
endif()
run(${CMAKE_COMMAND} -S ${example}/source -B ${example}/build
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${example}/build --target stack)
run(${WORK_DIR}/prefix/bin/granary-simulate --load ${example}/build/libstack.so --scheduler stack,darts
  --platform v100x1 --algorithm lu --tiles 16 --tile 960 --memory 0.25)
foreach(line "  stack +lru " "  darts +luf ")
  if(NOT output MATCHES "${line}")
    message(FATAL_ERROR "no line matches '${line}' in\n${output}")
  endif()
endforeach()
