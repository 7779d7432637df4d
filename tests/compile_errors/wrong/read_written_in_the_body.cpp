// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error with: read-only location | returns a const value
#include "../program.hpp"

struct Doubles {
  template <class Exec, class X>
  void operator()(Exec const&, X of) const {
    of(0) *= 2;
  }
};

void wrong() { runtime.submit("doubles", Doubles{}, read(x)); }
