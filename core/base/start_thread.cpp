// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/start_thread.hpp>

#include <pthread.h>

#include <cstddef>

namespace granary {

Bytes thread_stack() {
  static Bytes const stack = [] {
    pthread_attr_t defaults;
    std::size_t bytes = 2_MiB;
    if (::pthread_getattr_default_np(&defaults) != 0) return Bytes{bytes};
    std::size_t present = 0;
    ::pthread_attr_getstacksize(&defaults, &present);
    bool const small = present < bytes;
    if (small && ::pthread_attr_setstacksize(&defaults, bytes) == 0) ::pthread_setattr_default_np(&defaults);
    ::pthread_attr_destroy(&defaults);
    return Bytes{small ? bytes : present};
  }();
  return stack;
}

}  // namespace granary
