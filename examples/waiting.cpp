// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits for some data, one task or one value; failures; work outside; tasks that submit tasks.
#include <granary/granary.hpp>

#include <chrono>
#include <cstdio>
#include <future>
#include <stdexcept>

namespace {

using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Add {
  static constexpr bool launches_kokkos_kernels = false;
  double what;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    if (what < 0) throw std::runtime_error("a negative term");
    for (std::size_t i = 0; i < x.extent(0); ++i) x(i) += what;
  }
};
struct Total {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X, class S>
  void operator()(Exec const&, X x, S sum) const {
    for (std::size_t i = 0; i < x.extent(0); ++i) sum() += x(i);
  }
};

// [inner]
// Submits a task for each level of refinement that is left.
struct Refine {
  static constexpr bool launches_kokkos_kernels = false;
  granary::Runtime* runtime;
  granary::Data<Vector> x;
  int levels;
  template <class Exec, class X>
  void operator()(Exec const&, X values) const {
    values(0) += 1;
    if (levels > 0) runtime->submit("refine", Refine{runtime, x, levels - 1}, read_write(x));
  }
};
// [inner]

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Vector x("x", 1000), y("y", 1000);
  granary::Runtime runtime;
  auto const dx = runtime.data(x), dy = runtime.data(y);

  // [wait]
  runtime.submit("add", Add{2.0}, read_write(dx));
  granary::TaskHandle const other = runtime.submit("add", Add{3.0}, read_write(dy));
  runtime.wait(dx);  // x has its values; the task on y may still run
  std::printf("x(0) is %g\n", x(0));
  if (!other.done()) other.wait();  // that task has ended

  auto const sum = runtime.scalar<double>("sum");
  runtime.submit("total", Total{}, read(dx), read_write(sum));
  std::printf("the sum of x is %g\n", sum.get());  // waits for this value
  // [wait]

  // [failure]
  auto const failing = runtime.submit("add", Add{-1.0}, read_write(dx));
  runtime.submit("total", Total{}, read(dx), read_write(sum));  // cancelled
  try {
    runtime.wait(dx);
  } catch (std::runtime_error const& error) {
    std::printf("x has no value: %s\n", error.what());
  }
  runtime.wait(dy);  // throws nothing: the failure does not concern y
  try {
    runtime.wait();
  } catch (std::runtime_error const& error) {
    std::printf("again, because of the sum: %s\n", error.what());
  }
  runtime.wait();  // throws nothing: all was reported
  // [failure]

  // [outside]
  runtime.wait(dx);
  Kokkos::DefaultHostExecutionSpace const mine;  // or an instance of a device
  deep_copy(mine, x, 1.0);                       // the application's own work, which may still run when this returns
  runtime.submit_after("reset", mine, write(dx));
  runtime.submit("add", Add{2.0}, read_write(dx));  // begins after it

  auto const arrival = std::async(std::launch::async, [&y] { Kokkos::deep_copy(y, 5.0); }).share();
  auto const arrived = [arrival] { return arrival.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  runtime.submit_outside("arrival", arrived, write(dy));
  runtime.submit("add", Add{3.0}, read_write(dy));  // begins when `arrived` has returned true
  runtime.wait();
  // [outside]

  // [refine]
  runtime.submit("refine", Refine{&runtime, dy, 4}, read_write(dy));
  runtime.wait();  // also for tasks that tasks have submitted
  // [refine]
  std::printf("y(0) is %g\n", y(0));
  return x(0) == 3 && y(0) == 13 && failing.done() ? 0 : 1;
}
