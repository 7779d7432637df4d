# Included: run(), and consume(): configures, builds and runs the consumer against the package installed in PREFIX.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# consume(<folder> <program> <build> [<CMake option>...])
function(consume folder program build)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${folder} -B ${build}
    -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release ${ARGN})
  if(program)
    run(${CMAKE_COMMAND} --build ${build})
    run(${build}/${program})
  endif()
endfunction()
