// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/granary.hpp>

#include <cstddef>
#include <string>

// What the programs share: a runtime, Views, handles and a body, all of them right.
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Scale {
  template <class Exec, class X>
  void operator()(Exec const&, X) const {}
};

struct Axpy {
  template <class Exec, class X, class Y>
  void operator()(Exec const&, X, Y) const {}
};

extern granary::Runtime& runtime;
extern Vector x_view;
extern granary::Data<Vector> x, y;
extern std::size_t n;
