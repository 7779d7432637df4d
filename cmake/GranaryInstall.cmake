# The installed package: headers, libraries, find_package(granary) with its components, pkg-config files, the sources of
# the contract tests of policies, and the licence with the documents and the examples that these show.
include(CMakePackageConfigHelpers)

include(GranaryHeaders)
granary_installed_headers(granary_front_headers granary_inner_headers)
if(NOT GRANARY_HAVE_MPI)
  list(REMOVE_ITEM granary_front_headers mpi.hpp)
  list(FILTER granary_inner_headers EXCLUDE REGEX "^mpi/")
endif()
foreach(header IN LISTS granary_front_headers)
  install(FILES include/granary/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/granary)
endforeach()
install(FILES ${GRANARY_INCLUDE_DIR}/granary/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/granary)
foreach(header IN LISTS granary_inner_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/granary/detail/${folder})
endforeach()

set(granary_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/granary)
foreach(export_set IN LISTS granary_export_sets)
  install(EXPORT granary_${export_set} NAMESPACE granary:: DESTINATION ${granary_package_dir})
endforeach()
configure_package_config_file(cmake/granary-config.cmake.in ${PROJECT_BINARY_DIR}/granary-config.cmake
  INSTALL_DESTINATION ${granary_package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/granary-config-version.cmake COMPATIBILITY SameMinorVersion)
set(granary_contract_dir ${CMAKE_INSTALL_DATADIR}/granary/contract)
file(RELATIVE_PATH granary_contract_from_package
  ${CMAKE_INSTALL_PREFIX}/${granary_package_dir} ${CMAKE_INSTALL_PREFIX}/${granary_contract_dir})
configure_file(cmake/GranaryPolicyTest.cmake.in ${PROJECT_BINARY_DIR}/GranaryPolicyTest.cmake @ONLY)
install(FILES tests/contract/own/policy_contract.cpp DESTINATION ${granary_contract_dir})
foreach(source acts.cpp acts.hpp aborting_scheduler.hpp case_truth.hpp coherence_oracle.cpp coherence_oracle.hpp
    coherence_oracle_tasks.cpp coherence_oracle_values.cpp contract_cases.cpp contract_cases.hpp draw_policy_case.cpp
    mischief.cpp mischief.hpp policy_case.cpp policy_case.hpp print_events.cpp print_events.hpp random_families.cpp
    random_graph.cpp random_graph.hpp random_machine.cpp random_machine.hpp seeds.hpp)
  install(FILES tests/support/${source} DESTINATION ${granary_contract_dir}/support)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/GranaryPolicyTest.cmake ${PROJECT_BINARY_DIR}/granary-config.cmake ${PROJECT_BINARY_DIR}/granary-config-version.cmake
  cmake/GranaryKokkos.cmake DESTINATION ${granary_package_dir})
if(NOT BUILD_SHARED_LIBS)
  install(FILES cmake/GranaryDependencies.cmake cmake/GranaryKokkosKernels.cmake cmake/GranarySwitches.cmake cmake/GranaryUring.cmake
    DESTINATION ${granary_package_dir})
endif()
install(DIRECTORY cmake/kokkos-probe DESTINATION ${granary_package_dir})

install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN site EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)

include(GranaryPkgConfig)
