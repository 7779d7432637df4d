# Manual pages and shell completions of the programs, generated from their --help after the build, and installed. There
# are none if a tool is missing, or if the programs do not run on the build machine.
find_program(GRANARY_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(GRANARY_PYTHON python3)
find_program(GRANARY_HELP2MAN help2man)
mark_as_advanced(GRANARY_PYTHON GRANARY_HELP2MAN)
if(GRANARY_PYTHON)
  # Debian's python3-minimal lacks modules that the script needs.
  execute_process(COMMAND ${GRANARY_PYTHON} -c "import argparse, dataclasses, subprocess, tempfile" RESULT_VARIABLE no_library OUTPUT_QUIET
    ERROR_QUIET)
endif()
if(NOT GRANARY_PYTHON OR no_library OR CMAKE_CROSSCOMPILING OR GRANARY_SANITIZE)
  message(STATUS "Manual pages and completions: none")
  return()
endif()
set(forms bash zsh)
if(GRANARY_HELP2MAN)
  list(APPEND forms man)
else()
  message(STATUS "Manual pages: none, help2man is missing")
endif()

set(folder_man ${CMAKE_INSTALL_MANDIR}/man1)
set(folder_bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(folder_zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
set(manuals)
foreach(program granary-cholesky granary-info granary-lstsq granary-lu granary-matrix granary-models granary-qr granary-schedule granary-simulate granary-solve)
  set(file_man ${program}.1)
  set(file_bash ${program})
  set(file_zsh _${program})
  foreach(form IN LISTS forms)
    set(manual ${PROJECT_BINARY_DIR}/manuals/${form}/${file_${form}})
    add_custom_command(OUTPUT ${manual}
      COMMAND ${GRANARY_PYTHON} -B ${PROJECT_SOURCE_DIR}/scripts/make_manual.py ${form} $<TARGET_FILE:${program}> ${manual}
        --version ${PROJECT_VERSION} --policies $<TARGET_FILE:granary-simulate>
      DEPENDS ${program} granary-simulate ${PROJECT_SOURCE_DIR}/scripts/make_manual.py ${PROJECT_SOURCE_DIR}/scripts/program_help.py
      VERBATIM)
    list(APPEND manuals ${manual})
    install(FILES ${manual} DESTINATION ${folder_${form}} OPTIONAL)
  endforeach()
endforeach()
add_custom_target(granary_manuals ALL DEPENDS ${manuals})
