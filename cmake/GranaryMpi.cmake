# Optional MPI: GRANARY_HAVE_MPI, and granary::mpi from the implementation that CMake finds.
#
# For tests and benchmarks with several implementations: granary_find_mpi(<implementation> <found>) looks for the compiler wrapper
# and mpirun of one; Debian's have its name as a suffix: openmpi, mpich. granary_mpi_<implementation> is the layer mpi with it.
# granary_link_mpi(<target> <scope> <implementation>) compiles and links with it.
set(GRANARY_HAVE_MPI FALSE)
set(mpi_problem)
if(GRANARY_MPI AND GRANARY_SANITIZE)
  set(mpi_problem "the implementations of MPI are not clean under GRANARY_SANITIZE=${GRANARY_SANITIZE}: build without one of the two")
elseif(GRANARY_MPI)
  # C: granary uses no C++ bindings.
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(GRANARY_HAVE_MPI TRUE)
  else()
    set(mpi_problem "no MPI was found: install one (libopenmpi-dev, libmpich-dev), or set MPI_HOME to its prefix")
  endif()
endif()
granary_settle_switch(GRANARY_MPI ${GRANARY_HAVE_MPI} "standard ${MPI_C_VERSION}, ${MPI_C_LIBRARIES}" "${mpi_problem}")

function(granary_find_mpi implementation found)
  find_program(GRANARY_MPICXX_${implementation} mpicxx.${implementation})
  find_program(GRANARY_MPIRUN_${implementation} mpirun.${implementation})
  mark_as_advanced(GRANARY_MPICXX_${implementation} GRANARY_MPIRUN_${implementation})
  set(${found} FALSE PARENT_SCOPE)
  if(GRANARY_MPICXX_${implementation} AND GRANARY_MPIRUN_${implementation})
    set(${found} TRUE PARENT_SCOPE)
    if(NOT TARGET granary_mpi_${implementation})
      add_library(granary_mpi_${implementation} STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/mpi/mpi_transport.cpp
        ${PROJECT_SOURCE_DIR}/mpi/runtime.cpp)
      target_link_libraries(granary_mpi_${implementation} PUBLIC granary::runtime PRIVATE granary_options)
      granary_link_mpi(granary_mpi_${implementation} PUBLIC ${implementation})
    endif()
  endif()
endfunction()

function(granary_link_mpi target scope implementation)
  execute_process(COMMAND ${GRANARY_MPICXX_${implementation}} -show OUTPUT_VARIABLE line COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(line UNIX_COMMAND "${line}")
  set(includes ${line})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(libraries ${line})
  list(FILTER libraries INCLUDE REGEX "^-[lL]")
  list(FILTER libraries EXCLUDE REGEX "cxx$")  # the bindings that MPI 3 removed
  target_compile_definitions(${target} ${scope} OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} SYSTEM ${scope} ${includes})
  target_link_libraries(${target} ${scope} ${libraries})
endfunction()
