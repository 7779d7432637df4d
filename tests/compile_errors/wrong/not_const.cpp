// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the call operator of a task's body must be const: a functor's ends with 'const', and a lambda is not mutable
#include "../program.hpp"

struct Counts {
  int calls = 0;
  template <class Exec, class X>
  void operator()(Exec const&, X) {
    ++calls;
  }
};

void wrong() { runtime.submit("counts", Counts{}, read(x)); }
