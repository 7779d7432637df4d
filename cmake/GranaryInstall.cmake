# The installed package: headers, libraries, find_package(granary) with its components, and pkg-config files.
include(CMakePackageConfigHelpers)

include(GranaryHeaders)
if(NOT GRANARY_HAVE_MPI)
  set(granary_mpi_headers)
endif()
foreach(header IN LISTS granary_public_headers granary_included_headers granary_mpi_headers)
  get_filename_component(folder ${header} DIRECTORY)
  if(header STREQUAL "granary.hpp")
    set(header runtime/granary.hpp)
  endif()
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/granary/${folder})
endforeach()

set(granary_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/granary)
foreach(export_set IN LISTS granary_export_sets)
  install(EXPORT granary_${export_set} NAMESPACE granary:: DESTINATION ${granary_package_dir})
endforeach()
configure_package_config_file(cmake/granary-config.cmake.in ${PROJECT_BINARY_DIR}/granary-config.cmake
  INSTALL_DESTINATION ${granary_package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/granary-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/granary-config.cmake ${PROJECT_BINARY_DIR}/granary-config-version.cmake
  cmake/GranaryKokkos.cmake DESTINATION ${granary_package_dir})
if(NOT BUILD_SHARED_LIBS)
  install(FILES cmake/GranaryDependencies.cmake DESTINATION ${granary_package_dir})
endif()
install(DIRECTORY cmake/kokkos-probe DESTINATION ${granary_package_dir})

include(GranaryPkgConfig)
