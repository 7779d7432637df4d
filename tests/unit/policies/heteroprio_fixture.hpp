// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/fake_system_view.hpp"

#include <granary/detail/policies/registry.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace granary::test {

/// The groups of `mixed(cpus, 2)`.
inline constexpr std::uint32_t cpu = 0, gpu0 = 1, gpu1 = 2;

/// CPU cores on node 0 (group 0) and devices of one worker each (groups 1, 2, ... on nodes 1, 2, ...).
inline detail::Machine mixed(std::uint32_t cpus, std::uint32_t count) {
  detail::Machine machine;
  NodeId const host = machine.add_node({.name = "RAM"});
  for (std::uint32_t c = 0; c < cpus; ++c)
    machine.add_worker({.name = "cpu", .node = host, .kind = detail::WorkerKind::Cpu});
  for (std::uint32_t d = 0; d < count; ++d) {
    NodeId const node = machine.add_node({.name = "GPU" + std::to_string(d), .kind = detail::NodeKind::Device});
    machine.add_link_pair(host, node, 1e9);
    machine.add_worker({.name = "device", .node = node, .kind = detail::WorkerKind::Device});
  }
  return machine;
}

/// A scheduler of the heteroprio family on such a machine.
struct HeteroprioRun {
  HeteroprioRun(std::string const& specification, detail::Machine const& machine)
      : view(machine), run(view, make_scheduler(specification)) {}

  /// A ready task of the codelet; a time of 0 means that this kind cannot run it.
  TaskId add(std::string const& codelet, std::int64_t cpu_time, std::int64_t device_time, std::int64_t priority = 0,
             std::vector<detail::Access> const& accesses = {}) {
    std::uint64_t allowed = 0;
    auto const& groups = view.topology().groups();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if ((groups[g].kind == detail::WorkerKind::Cpu ? cpu_time : device_time) > 0) allowed |= std::uint64_t{1} << g;
    }
    TaskId const task = view.add_task(accesses, priority, Duration{100}, allowed);
    if (!codelets.contains(codelet)) {
      detail::Codelet added;
      added.name = codelet;
      codelets[codelet] = view.add_codelet(std::move(added));
    }
    view.set_codelet(task, codelets[codelet]);
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      view.set_duration(task, GroupId(g), Duration{groups[g].kind == detail::WorkerKind::Cpu ? cpu_time : device_time});
    }
    run.scheduler->ready(task);
    return task;
  }
  TaskId next(std::uint32_t group) { return run.next_and_commit(GroupId(group)); }
  void finish(TaskId task) {
    run.scheduler->finished(task);
    view.finish(task);
  }

  FakeSystemView view;
  FakeRun run;
  std::map<std::string, detail::CodeletId> codelets;
};

}  // namespace granary::test
