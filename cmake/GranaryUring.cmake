# Optional liburing, for requests to files: GRANARY_HAVE_URING, and granary::uring. Call find_package(PkgConfig) before it.
set(GRANARY_HAVE_URING FALSE)
if(GRANARY_URING)
  pkg_check_modules(liburing QUIET IMPORTED_TARGET liburing)
  if(liburing_FOUND)
    set(GRANARY_HAVE_URING TRUE)
  endif()
endif()
granary_settle_switch(GRANARY_URING ${GRANARY_HAVE_URING} "${liburing_VERSION}"
  "pkg-config knows no liburing: install it (liburing-dev), or name the folder of its liburing.pc in PKG_CONFIG_PATH")

add_library(granary::uring INTERFACE IMPORTED)
if(GRANARY_HAVE_URING)
  target_link_libraries(granary::uring INTERFACE PkgConfig::liburing)
  target_compile_definitions(granary::uring INTERFACE GRANARY_HAVE_URING)
endif()
