// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: the call operator of a task's body must be const: a functor's ends with 'const', and a lambda is not mutable
#include "../program.hpp"

void wrong() {
  runtime.submit(
      "counts", [calls = 0](auto const&, auto) mutable { ++calls; }, read(x));
}
