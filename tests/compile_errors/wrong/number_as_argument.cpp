// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: submit takes no numbers after the body: make them members of the body, submit(name, Axpy{2.0}, read(x),
// read_write(y))
#include "../program.hpp"

struct AxpyWith {
  template <class Exec, class X, class Y>
  void operator()(Exec const&, double, X, Y) const {}
};

void wrong() { runtime.submit("axpy", AxpyWith{}, 2.0, read(x), read_write(y)); }
