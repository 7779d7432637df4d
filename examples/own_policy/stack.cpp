// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scheduler of the application. Linked into a program, or loaded with `granary-simulate --load`, it is available by
// name like granary's own.
#include <granary/policy.hpp>

// Last in, first out.
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
  void withdrawn(granary::TaskId task, granary::Withdrawal, granary::GroupId) override { std::erase(m_tasks, task); }

 private:
  granary::SystemView const* m_view = nullptr;
  std::vector<granary::TaskId> m_tasks;
};

granary::SchedulerRegistration const registration("stack",
                                                  [](granary::PolicyOptions&) { return std::make_unique<Stack>(); });
