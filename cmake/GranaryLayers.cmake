# granary_add_layer(<name> [WHOLE] SOURCES <file>... [LINKS <target>...] [PRIVATE_LINKS <target>...])
#
# One library per layer, granary_<name>, alias granary::<name>, shared or static according to BUILD_SHARED_LIBS. A layer
# sees only the libraries that it links: undefined symbols are link errors, so using a higher layer fails the build.
# WHOLE: a program gets all of the layer or nothing of it, also from a static library.

# The layers by component of the installed package; `planning` is part of every component.
set(granary_layers_planning base model policy planner schedules schedule_recorder policies trace distributed simulator auto)
set(granary_layers_core engine transports backends outofcore disk_node runtime)
set(granary_layers_linalg kernels matrix_files generators algorithms linalg)
set(granary_layers_simulator bounds search cluster)
set(granary_layers_workloads workloads)
set(granary_layers_mpi mpi)
set(granary_export_sets planning core linalg simulator workloads)
if(GRANARY_HAVE_MPI)
  list(APPEND granary_export_sets mpi)
endif()

# <granary/...> means the same in the build tree and when installed: include/granary/x.hpp is <granary/x.hpp>, and a
# header of a layer is <granary/detail/LAYER/x.hpp>.
set(GRANARY_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
file(GLOB granary_front_door RELATIVE ${PROJECT_SOURCE_DIR}/include/granary CONFIGURE_DEPENDS include/granary/*.hpp)
# Headers of an older tree would hide that they are no longer there. The version's header is not written again: all would
# be compiled anew.
file(GLOB stale RELATIVE ${GRANARY_INCLUDE_DIR}/granary ${GRANARY_INCLUDE_DIR}/granary/*)
list(REMOVE_ITEM stale detail version.hpp ${granary_front_door})
foreach(header IN LISTS stale)
  file(REMOVE ${GRANARY_INCLUDE_DIR}/granary/${header})
endforeach()
file(MAKE_DIRECTORY ${GRANARY_INCLUDE_DIR}/granary/detail)
set(granary_folders auto bounds core distributed policies linalg mpi outofcore runtime schedules simulator trace workloads)
foreach(folder IN LISTS granary_folders)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${GRANARY_INCLUDE_DIR}/granary/detail/${folder} SYMBOLIC)
endforeach()
foreach(header IN LISTS granary_front_door)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/granary/${header} ${GRANARY_INCLUDE_DIR}/granary/${header} SYMBOLIC)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in ${GRANARY_INCLUDE_DIR}/granary/version.hpp @ONLY)

add_library(granary_options INTERFACE)
target_compile_options(granary_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
  # Code that nvcc generates is not pedantic.
  $<$<NOT:$<BOOL:${GRANARY_HAVE_CUDA}>>:-Wpedantic>
  # Only those warnings of Clang's -Wconversion that GCC's has too.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  # GCC 12 reports false overlaps in string concatenations (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(CMAKE_UNITY_BUILD)
  # In a unity build, GCC takes local types for types of a header.
  target_compile_options(granary_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(GRANARY_HAVE_CUDA)
  # fmt 9 takes nvcc for a compiler without constexpr, and then calls non-constexpr functions from constexpr ones.
  target_compile_definitions(granary_options INTERFACE FMT_USE_CONSTEXPR=1)
endif()
if(GRANARY_SANITIZE)
  target_compile_options(granary_options INTERFACE -fsanitize=${GRANARY_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(granary_options INTERFACE -fsanitize=${GRANARY_SANITIZE})
  if(GRANARY_SANITIZE MATCHES "undefined")
    # The option that leaves checks out must follow the one that asks for them, which a target's own options precede.
    target_compile_options(granary_options INTERFACE -fno-sanitize-recover=undefined
      $<$<BOOL:$<TARGET_PROPERTY:GRANARY_FEW_POINTER_CHECKS>>:-fno-sanitize=null,alignment,vptr,object-size>)
  endif()
endif()

# Tests, and the programs with sanitizers, are compiled in a unity build with little optimisation, which takes a third of
# the time. Files of a folder whose local names clash have a namespace each, granary::<file>.
function(granary_compile_quickly target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # In a unity build, GCC takes local types for types of a header.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  if(GRANARY_SANITIZE)
    # With -Og, GCC warns of variables of its own library.
    target_compile_options(${target} PRIVATE -Og $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    # Checks of every pointer take a third of the compile time. Null and dead pointers crash, or are found by the
    # address sanitizer. The layers' sources keep all checks; templates that only these targets instantiate lose these.
    set_target_properties(${target} PROPERTIES GRANARY_FEW_POINTER_CHECKS ON)
  endif()
endfunction()

# Symbols that a shared library exports: granary's own and its template instances, none of its dependencies.
set(granary_version_script ${PROJECT_SOURCE_DIR}/cmake/granary.map)

function(granary_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE" "" "SOURCES;LINKS;PRIVATE_LINKS")
  set(export_set)
  foreach(candidate IN LISTS granary_export_sets)
    if(name IN_LIST granary_layers_${candidate})
      set(export_set granary_${candidate})
    endif()
  endforeach()
  if(NOT export_set)
    message(FATAL_ERROR "The layer ${name} is in no component: name it in one of granary_layers_* in GranaryLayers.cmake")
  endif()
  set(compiled granary_${name})
  if(arg_WHOLE AND NOT BUILD_SHARED_LIBS)
    # One member in the archive: from several, a linker takes only those that are referenced.
    set(compiled granary_${name}_members)
    add_library(${compiled} OBJECT ${arg_SOURCES})
    set(member ${CMAKE_CURRENT_BINARY_DIR}/granary_${name}.o)
    add_custom_command(OUTPUT ${member} DEPENDS $<TARGET_OBJECTS:${compiled}> COMMAND_EXPAND_LISTS VERBATIM
      COMMAND ${CMAKE_LINKER} -r -o ${member} $<TARGET_OBJECTS:${compiled}>)
    add_library(granary_${name} ${member})
    set_target_properties(granary_${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${compiled} PRIVATE ${arg_LINKS} ${arg_PRIVATE_LINKS} granary_options)
    target_include_directories(${compiled} PRIVATE ${GRANARY_INCLUDE_DIR})
  else()
    add_library(granary_${name} ${arg_SOURCES})
  endif()
  add_library(granary::${name} ALIAS granary_${name})
  target_include_directories(granary_${name} PUBLIC
    $<BUILD_INTERFACE:${GRANARY_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(granary_${name}
    PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:granary_options>)
  if(BUILD_SHARED_LIBS AND NOT GRANARY_SANITIZE)
    target_link_options(granary_${name} PRIVATE
      -Wl,--no-undefined -Wl,--version-script=${granary_version_script})
    set_property(TARGET granary_${name} APPEND PROPERTY LINK_DEPENDS ${granary_version_script})
  endif()
  target_compile_features(granary_${name} PUBLIC cxx_std_20)
  set_target_properties(${compiled} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_target_properties(granary_${name} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXPORT_NAME ${name})
  install(TARGETS granary_${name} EXPORT ${export_set}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
