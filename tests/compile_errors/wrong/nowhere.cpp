// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: a body cannot be both host_only and device_only: remove one of the two
#include "../program.hpp"

struct Nowhere : Scale {
  static constexpr bool host_only = true;
  static constexpr bool device_only = true;
};

void wrong() { runtime.submit("nowhere", Nowhere{}, read(x)); }
