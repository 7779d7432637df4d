// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scheduler of the application's own, registered by name and used like granary's.
#include <granary/granary.hpp>

#include <cstdio>

// [scheduler]
#include <granary/core/policy/scheduler.hpp>
#include <granary/policies/registry.hpp>

// Last come, first served.
class Stack final : public granary::Scheduler {
 public:
  void attach(granary::SystemView const& view, granary::PlanBoard&) override { m_view = &view; }
  void ready(granary::TaskId task) override { m_tasks.push_back(task); }
  granary::TaskId next(granary::GroupId group) override {
    for (auto task = m_tasks.rbegin(); task != m_tasks.rend(); ++task) {
      if (!m_view->task(*task).allowed_on(group)) continue;
      auto const found = *task;
      m_tasks.erase(std::next(task).base());
      return found;
    }
    return {};
  }
  void cancelled(granary::TaskId task) override { std::erase(m_tasks, task); }

 private:
  granary::SystemView const* m_view = nullptr;
  std::vector<granary::TaskId> m_tasks;
};
// [scheduler]

struct Increment {
  template <class Exec, class X>
  void operator()(Exec const& exec, X x) const {
    Kokkos::parallel_for(
        "increment", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), KOKKOS_LAMBDA(int i) { x(i) += 1; });
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::View<int*, Kokkos::HostSpace> x_view("x", 100);

  // [registration]
  granary::register_scheduler("stack", [](granary::PolicyOptions&) { return std::make_unique<Stack>(); });
  granary::Runtime runtime({.scheduler = "stack"});
  // [registration]
  auto x = runtime.data(x_view);
  for (int step = 0; step < 10; ++step) runtime.submit("increment", Increment{}, read_write(x));
  runtime.wait();

  for (std::size_t i = 0; i < x_view.extent(0); ++i) {
    if (x_view(i) != 10) return 1;
  }
  std::printf("every element was incremented 10 times\n");
}
