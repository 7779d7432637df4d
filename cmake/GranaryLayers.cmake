# granary_add_layer(<name> SOURCES <file>... [LINKS <target>...] [PRIVATE_LINKS <target>...])
#
# One library per layer, granary_<name>, alias granary::<name>. A layer sees what it links and nothing else: undefined
# symbols are refused at link time, so that using a layer above fails the build.

# <granary/...> means the same in the build tree as when installed.
set(GRANARY_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${GRANARY_INCLUDE_DIR}/granary)
foreach(folder core policies linalg outofcore simulator workloads)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${GRANARY_INCLUDE_DIR}/granary/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/core/runtime/granary.hpp ${GRANARY_INCLUDE_DIR}/granary/granary.hpp SYMBOLIC)

add_library(granary_options INTERFACE)
target_compile_options(granary_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
  # What nvcc generates is not pedantic.
  $<$<NOT:$<BOOL:${GRANARY_HAVE_CUDA}>>:-Wpedantic>
  # Of Clang's -Wconversion, what GCC's is too.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
  # GCC 12 sees overlaps in the concatenation of strings that are not there (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(GRANARY_HAVE_CUDA)
  # fmt 9 takes nvcc for a compiler without constexpr, and then calls what is not constexpr from what is.
  target_compile_definitions(granary_options INTERFACE FMT_USE_CONSTEXPR=1)
endif()
if(GRANARY_SANITIZE)
  target_compile_options(granary_options INTERFACE -fsanitize=${GRANARY_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(granary_options INTERFACE -fsanitize=${GRANARY_SANITIZE})
  if(GRANARY_SANITIZE MATCHES "undefined")
    target_compile_options(granary_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

function(granary_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;PRIVATE_LINKS")
  add_library(granary_${name} SHARED ${arg_SOURCES})
  add_library(granary::${name} ALIAS granary_${name})
  target_include_directories(granary_${name} PUBLIC
    $<BUILD_INTERFACE:${GRANARY_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(granary_${name}
    PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:granary_options>)
  if(NOT GRANARY_SANITIZE)
    target_link_options(granary_${name} PRIVATE -Wl,--no-undefined)
  endif()
  target_compile_features(granary_${name} PUBLIC cxx_std_20)
  set_target_properties(granary_${name} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXPORT_NAME ${name})
  install(TARGETS granary_${name} EXPORT granary_layers LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
