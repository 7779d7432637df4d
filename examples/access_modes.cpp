// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways in which a task uses a datum: read, write, read_write, commute, reduce; and scratch.
#include <granary/granary.hpp>

#include <cstdio>
#include <vector>

namespace {

// [bodies]
struct Fill {
  double value;
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    auto const v = value;
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) { x(i) = v; });
  }
};
struct Add {
  template <class Exec, class X, class Y>
  void operator()(Exec const& exec, X x, Y y) const {
    Kokkos::parallel_for(
        "add", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) { y(i) += x(i); });
  }
};
struct Halve {
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    Kokkos::parallel_for(
        "halve", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i) { x(i) *= 0.5; });
  }
};
// Adds the sum of x to what `sum` holds; `part` is scratch.
struct AddSum {
  template <class Exec, class X, class S, class P>
  void operator()(Exec const& exec, X x, S sum, P part) const {
    Kokkos::parallel_reduce(
        "sum", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(std::size_t i, double& s) { s += x(i); },
        part);
    Kokkos::parallel_for(
        "add", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) { sum() += part(); });
  }
};
// [bodies]

// [operation]
struct Range {
  double least, most;
};
struct Unite {
  template <class T>
  static T identity() {
    return {1e300, -1e300};
  }
  KOKKOS_INLINE_FUNCTION Range operator()(Range const& a, Range const& b) const {
    return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
  }
};
// [operation]
struct FindRange {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X, class R>
  void operator()(Exec const&, X x, R range) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) range() = Unite{}(range(), Range{x(i), x(i)});
  }
};

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  granary::Runtime runtime;
  using granary::in_order, granary::scratch, granary::Sum;
  constexpr int blocks = 8;

  // [modes]
  Kokkos::View<double*, Kokkos::HostSpace> total("total", 1000);
  auto const all = runtime.data(total);
  auto const sum = runtime.scalar<double>("sum"), same = runtime.scalar<double>("same");
  auto const range = runtime.scalar<Range>("range", Unite::identity<Range>());
  for (int b = 1; b <= blocks; ++b) {
    auto const x = runtime.temporary<double>("block", 1000);                          // no value yet
    runtime.submit("fill", Fill{1.0 * b}, write(x));                                  // writes every element
    runtime.submit("add", Add{}, read(x), commute(all));                              // in any order, one at a time
    runtime.submit("sum", AddSum{}, read(x), reduce(sum, Sum{}), scratch<double>());  // several at a time
    runtime.submit("sum", AddSum{}, read(x), reduce(same, Sum{}, in_order), scratch<double>());
    runtime.submit("range", FindRange{}, read(x), reduce(range, Unite{}));
  }
  runtime.submit("halve", Halve{}, read_write(all));  // after all that commute
  // [modes]
  auto const [least, most] = range.get();
  std::printf("sums %g and %g, from %g to %g\n", sum.get(), same.get(), least, most);
  runtime.wait();
  return sum.get() == 36000 && same.get() == 36000 && least == 1 && most == 8 && total(999) == 18 ? 0 : 1;
}
