# Switches for optional dependencies, with the values AUTO (used if found), ON (configuring fails if it is missing) and
# OFF, and what became of each, for the summary.

# granary_add_switch(<switch> <description>): an option in the cache; in the caller, AUTO, ON or OFF.
macro(granary_add_switch name description)
  set(${name} AUTO CACHE STRING "${description}: AUTO (if found), ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${${name}}" granary_switch_value)
  if(granary_switch_value MATCHES "^(ON|TRUE|YES|Y|1)$")
    set(${name} ON)
  elseif(granary_switch_value MATCHES "^(OFF|FALSE|NO|N|0)$")
    set(${name} OFF)
  elseif(granary_switch_value STREQUAL "AUTO")
    set(${name} AUTO)
  else()
    message(FATAL_ERROR "${name} is '${${name}}': its values are AUTO, ON and OFF")
  endif()
endmacro()

# granary_settle_switch(<switch> <found> <which> <problem>): ends with <problem> if the switch is ON and <found> is false.
# <which>: what is used. <problem>: why nothing is used, and what to do. Sets <switch>_STATE in the caller.
function(granary_settle_switch name found which problem)
  if(found)
    set(state "${which}")
  elseif(NOT ${name})
    set(state "not used, ${name} is OFF")
  elseif(${name} STREQUAL "AUTO")
    set(state "not used: ${problem}")
  else()
    message(FATAL_ERROR "${name} is ON: ${problem}")
  endif()
  set(${name}_STATE "${state}" PARENT_SCOPE)
endfunction()
