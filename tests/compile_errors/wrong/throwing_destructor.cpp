// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the destructor of a task's body must not throw: a worker runs it, where nobody can catch what it throws
#include "../program.hpp"

struct Body {
  ~Body() noexcept(false) {}
  template <class Exec, class X>
  void operator()(Exec const&, X) const {}
};

void wrong() { runtime.submit("careless", Body{}, read(x)); }
