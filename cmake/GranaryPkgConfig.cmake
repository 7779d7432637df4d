# Pkg-config files: granary.pc (the component core), granary-linalg.pc, granary-simulator.pc, and granary-planning.pc,
# which they require. Kokkos has none, so its flags are in granary.pc. The dependencies of static libraries are listed
# too: the files are correct with and without --static.

# granary_link_flags(<variable> <item>...): the linker flags for these targets, libraries and flags and their
# dependencies; nothing for granary's own layers.
function(granary_link_flags variable)
  set(flags)
  set(ancestors ${granary_link_flags_of})
  foreach(item IN LISTS ARGN)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
    if(TARGET ${item})
      get_target_property(type ${item} TYPE)
      get_target_property(imported ${item} IMPORTED)
      # Trilinos' libraries list themselves as dependencies.
      if(NOT imported OR item IN_LIST ancestors)
        continue()
      endif()
      if(NOT type STREQUAL INTERFACE_LIBRARY)
        list(APPEND flags $<TARGET_FILE:${item}>)
      endif()
      get_target_property(options ${item} INTERFACE_LINK_OPTIONS)
      if(options)
        string(REGEX REPLACE "\\$<\\$<LINK_LANGUAGE:CXX>:([^>]*)>" "\\1" options "${options}")
        list(APPEND flags ${options})
      endif()
      get_target_property(needed ${item} INTERFACE_LINK_LIBRARIES)
      if(needed)
        set(granary_link_flags_of ${ancestors} ${item})
        granary_link_flags(needed_flags ${needed})
        list(APPEND flags ${needed_flags})
      endif()
    elseif(item MATCHES "^[-/]")
      list(APPEND flags ${item})
    elseif(item AND NOT item MATCHES "^\\$")
      list(APPEND flags -l${item})
    endif()
  endforeach()
  list(FILTER flags EXCLUDE REGEX "^-D")
  # The last of duplicates stays: static libraries come before their dependencies.
  list(REVERSE flags)
  list(REMOVE_DUPLICATES flags)
  list(REVERSE flags)
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

# granary_add_pkg_config(<name> <description> SETS <export set>... [REQUIRES <name>...] [CFLAGS <text>] [NEEDS <target>...])
function(granary_add_pkg_config name description)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CFLAGS" "SETS;REQUIRES;NEEDS")
  set(libraries)
  set(outside)
  foreach(export_set IN LISTS arg_SETS)
    foreach(layer IN LISTS granary_layers_${export_set})
      list(PREPEND libraries -lgranary_${layer})
      get_target_property(links granary_${layer} LINK_LIBRARIES)
      list(APPEND outside ${links})
    endforeach()
  endforeach()
  if(BUILD_SHARED_LIBS)
    granary_link_flags(flags ${arg_NEEDS})
  else()
    granary_link_flags(flags ${outside})
  endif()
  list(JOIN libraries " " libraries)
  list(JOIN flags " " flags)
  list(JOIN arg_REQUIRES ", " requires)
  # Relative to the file's location, so that the prefix may be moved.
  file(RELATIVE_PATH prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/pkgconfig/$<COMPILE_LANGUAGE>/${name}.pc
    CONTENT "prefix=\${pcfiledir}/${prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Libs: -L\${libdir} ${libraries} ${flags}
Cflags: -I\${includedir} ${arg_CFLAGS}
")
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/CXX/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# Never compiled: the compiler flags that Kokkos requires are read from it.
add_library(granary_pkg_config_flags OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/kokkos-probe/probe.cpp)
target_link_libraries(granary_pkg_config_flags PRIVATE granary::kokkos)
set(kokkos_flags)
# Kokkos' headers are the system's, so that the application's warnings do not concern them, as with CMake.
foreach(property_and_flag "INCLUDE_DIRECTORIES=-isystem " COMPILE_DEFINITIONS=-D COMPILE_OPTIONS=)
  string(REPLACE "=" ";" property_and_flag "${property_and_flag};")
  list(GET property_and_flag 0 property)
  list(GET property_and_flag 1 flag)
  set(values $<REMOVE_DUPLICATES:$<TARGET_PROPERTY:granary_pkg_config_flags,${property}>>)
  if(property STREQUAL INCLUDE_DIRECTORIES)
    # GCC's own headers do not find the next ones if this folder comes first.
    set(values $<FILTER:${values},EXCLUDE,^/usr/include$>)
  endif()
  string(APPEND kokkos_flags " $<$<BOOL:${values}>:${flag}$<JOIN:${values}, ${flag}>>")
endforeach()

granary_add_pkg_config(granary-planning "granary: the planner and its policies" SETS planning)
granary_add_pkg_config(granary "${PROJECT_DESCRIPTION}" SETS core REQUIRES granary-planning NEEDS granary::kokkos
  CFLAGS "${kokkos_flags}")
granary_add_pkg_config(granary-linalg "granary: tiled linear algebra and matrix files" SETS linalg REQUIRES granary)
granary_add_pkg_config(granary-simulator "granary: the simulator" SETS simulator REQUIRES granary-planning)
if(GRANARY_HAVE_MPI)  # the application is compiled with MPI's own wrapper
  granary_add_pkg_config(granary-mpi "granary: a runtime of several processes" SETS mpi REQUIRES granary)
endif()
