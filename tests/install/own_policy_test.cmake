# Builds examples/own_policy outside the tree, against the package that the install test left in WORK_DIR/prefix,
# compares its scheduler with darts, and runs the contract tests of its policies. CXX: the compiler. SOURCE_DIR:
# granary's.
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

# The contract tests of the policies; a few cases of each kind.
set(ENV{GRANARY_TEST_CASES} 25)
run(${CMAKE_COMMAND} --build ${example}/build --target stack_contract oldest_contract)
run(${CMAKE_CTEST_COMMAND} --test-dir ${example}/build --no-tests=error)
if(NOT output MATCHES "100% tests passed, 0 tests failed out of 2")
  message(FATAL_ERROR "both contract tests are to pass:\n${output}")
endif()

# refused(<message> <CMake option>...): a project that calls granary_add_policy_test with its ARGUMENTS is refused so.
function(refused message)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/policy_test_refusals -B ${example}/refused
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX} ${ARGN}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")
  if(status EQUAL 0 OR NOT error MATCHES "${message}")
    message(FATAL_ERROR "status ${status}, and the error is '${error}', not '${message}'")
  endif()
endfunction()
refused("granary_add_policy_test\\(mine\\): GoogleTest was not found; install it \\(on Debian: libgtest-dev\\), or set GTest_ROOT"
  -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)
refused("granary_add_policy_test\\(mine\\): write granary_add_policy_test\\(<name> .*, with a scheduler or an eviction policy"
  -DPOLICY=)
