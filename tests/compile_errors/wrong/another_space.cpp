// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the body must take the execution space of the host first: make the type of that parameter a template's, or
// declare 'static constexpr bool device_only = true'
#include "../program.hpp"

struct Device {};
struct OnDevice {
  template <class X>
  void operator()(Device const&, X) const {}
};

void wrong() { runtime.submit("on device", OnDevice{}, read(x)); }
