// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For LD_PRELOAD: files as on a file system where locks fail with the error number TEST_LOCK_ERROR.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

namespace {

using Fcntl = int (*)(int, int, ...);

int lock_error() {
  char const* const text = std::getenv("TEST_LOCK_ERROR");
  return text == nullptr ? 0 : std::atoi(text);
}

int control(char const* function, int descriptor, int command, void* argument) {
  bool const locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  if (locks && lock_error() != 0) {
    errno = lock_error();
    return -1;
  }
  return reinterpret_cast<Fcntl>(::dlsym(RTLD_NEXT, function))(descriptor, command, argument);
}

}  // namespace

extern "C" {

int flock(int descriptor, int operation) {
  if (lock_error() != 0) {
    errno = lock_error();
    return -1;
  }
  return reinterpret_cast<int (*)(int, int)>(::dlsym(RTLD_NEXT, "flock"))(descriptor, operation);
}

int fcntl(int descriptor, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return control("fcntl", descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return control("fcntl64", descriptor, command, argument);
}
}
