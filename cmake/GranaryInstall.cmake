# The installed package: find_package(granary) gives granary::runtime, granary::linalg and the layers below them.
include(CMakePackageConfigHelpers)

install(DIRECTORY core policies linalg outofcore simulator workloads
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/granary FILES_MATCHING PATTERN "*.hpp")
install(FILES core/runtime/granary.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/granary)

set(granary_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/granary)
install(EXPORT granary_layers NAMESPACE granary:: DESTINATION ${granary_package_dir})
configure_package_config_file(cmake/granary-config.cmake.in ${PROJECT_BINARY_DIR}/granary-config.cmake
  INSTALL_DESTINATION ${granary_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/granary-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/granary-config.cmake ${PROJECT_BINARY_DIR}/granary-config-version.cmake
  cmake/GranaryDependencies.cmake DESTINATION ${granary_package_dir})
install(DIRECTORY cmake/kokkos-probe DESTINATION ${granary_package_dir})
