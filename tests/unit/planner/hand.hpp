// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/policies/registry.hpp>

#include "support/acts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

inline void no_kernel(KernelCall const&) {}

inline std::exception_ptr some_error(std::string const& text = "it broke") {
  return std::make_exception_ptr(std::runtime_error(text));
}

inline std::string text_of(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& caught) {
    return caught.what();
  }
}

/// A disk (node 0) under a host of `capacity` bytes (node 1) with host workers; the link moves `width` data at once.
inline Machine disk_and_host(Bytes capacity, std::uint32_t width = 8, std::uint32_t workers = 1) {
  Machine machine;
  NodeId const disk = machine.add_node({.name = "disk", .kind = NodeKind::Disk});
  NodeId const host = machine.add_node({.name = "host", .kind = NodeKind::Host, .capacity = capacity});
  machine.add_link_pair(disk, host, 1e9, Duration{0}, width);
  for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker({.name = "cpu" + std::to_string(w), .node = host});
  return machine;
}

/// A disk (0), a host (1) without workers, a device (2) with one worker.
inline Machine three_levels(Bytes host_capacity, Bytes device_capacity) {
  Machine machine = disk_and_host(host_capacity, 8, 0);
  NodeId const device = machine.add_node({.name = "device", .kind = NodeKind::Device, .capacity = device_capacity});
  machine.add_link_pair(NodeId(1), device, 1e10, Duration{0}, 4);
  machine.add_worker({.name = "gpu", .node = device, .kind = WorkerKind::Device});
  return machine;
}

inline constexpr NodeId disk_node{0};
inline constexpr NodeId host_node{1};
inline constexpr NodeId device_node{2};

/// A planner driven by hand: the test enters events; commands wait in `copies` and `runs` until it answers them.
class Hand {
 public:
  explicit Hand(Machine machine, PlannerOptions options = {}, std::string const& scheduler = "eager",
                std::string const& eviction = "lru")
      : Hand(std::move(machine), options, make_policies(scheduler, eviction)) {}
  Hand(Machine machine, PlannerOptions options, PolicySet policies, BookingOptions const& booking = {})
      : planner(Topology(std::move(machine)), std::move(policies), m_estimator, options, booking) {
    planner.attach(m_acts);
    codelet = planner.handle(AddCodelet{{.name = "work", .kernels = {no_kernel, no_kernel}}});
  }

  DataId add(DataDescription description, std::vector<SharedBytes> const& shares = {}) {
    DataId const id = planner.handle(AddData{std::move(description), {}, shares});
    absorb();
    return id;
  }
  /// A datum that is read from the disk and written back there.
  DataId stored(std::string name, Bytes bytes, std::vector<SharedBytes> const& shares = {}) {
    return add(
        {.name = std::move(name), .bytes = bytes, .origin = disk_node, .home = disk_node, .origin_is_home = true},
        shares);
  }
  DataId temporary(std::string name, Bytes bytes) { return add({.name = std::move(name), .bytes = bytes}); }

  TaskId submit(std::initializer_list<Access> accesses, std::int64_t priority = 0) {
    TaskId const id = planner.handle(
        TaskSubmission{.codelet = codelet, .accesses = {accesses.begin(), accesses.size()}, .priority = priority});
    absorb();
    return id;
  }
  void retain(DataId data) {
    planner.handle(RetainData{data});
    absorb();
  }
  void release(DataId data) {
    planner.handle(ReleaseData{data});
    absorb();
  }
  void finish(TaskId task) {
    std::erase_if(runs, [&](RunCommand const& run) { return run.task == task; });
    planner.handle(TaskDone{task, Duration(1000)});
    absorb();
  }
  void fail(TaskId task, std::exception_ptr error = some_error()) {
    std::erase_if(runs, [&](RunCommand const& run) { return run.task == task; });
    planner.handle(TaskFailed{task, std::move(error)});
    absorb();
  }
  void skip(TaskId task) {
    std::erase_if(runs, [&](RunCommand const& run) { return run.task == task; });
    planner.handle(TaskSkipped{task});
    absorb();
  }
  void finish_copy() {
    TransferId const first = copies.front().transfer;
    copies.erase(copies.begin());
    planner.handle(CopyDone{first});
    absorb();
  }
  void fail_copy(std::exception_ptr error = some_error("the disk broke")) {
    TransferId const first = copies.front().transfer;
    copies.erase(copies.begin());
    planner.handle(CopyFailed{first, std::move(error)});
    absorb();
  }
  void finish_copies() {
    while (!copies.empty()) finish_copy();
  }
  /// Answers commands until there are none.
  void finish_all() {
    while (!copies.empty() || !runs.empty()) {
      if (copies.empty()) {
        finish(runs.front().task);
      } else {
        finish_copy();
      }
    }
  }
  void flush() {
    planner.handle(FlushHomes{});
    absorb();
  }
  void cancel_all(std::exception_ptr error = some_error("interrupted")) {
    planner.handle(CancelAll{std::move(error)});
    absorb();
  }
  [[nodiscard]] bool runs_now(TaskId task) const {
    return std::ranges::any_of(runs, [&](RunCommand const& run) { return run.task == task; });
  }
  /// The command of a task that a worker has.
  [[nodiscard]] RunCommand const& run_of(TaskId task) const {
    return *std::ranges::find(runs, task, &RunCommand::task);
  }
  template <class Kind>
  [[nodiscard]] std::vector<Kind> logged() const {
    std::vector<Kind> found;
    for (auto const& act : log) {
      if (auto const* const one = std::get_if<Kind>(&act)) found.push_back(*one);
    }
    return found;
  }
  [[nodiscard]] std::size_t copies_of(DataId data) const {
    auto const all = logged<CopyCommand>();
    return static_cast<std::size_t>(std::ranges::count(all, data, &CopyCommand::data));
  }
  [[nodiscard]] std::size_t copies_home(DataId data) const {
    auto const all = logged<CopyCommand>();
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](auto const& copy) { return copy.data == data && copy.to.slot == Slot::Home; }));
  }
  [[nodiscard]] bool allocated(DataId data) const {
    return std::ranges::any_of(logged<Allocated>(), [&](auto const& taken) { return taken.data == data; });
  }
  [[nodiscard]] bool freed(DataId data, NodeId node = host_node) const {
    return std::ranges::any_of(logged<Freed>(), [&](auto const& f) { return f.data == data && f.node == node; });
  }
  [[nodiscard]] std::vector<std::uint64_t> order_of_runs() const {
    std::vector<std::uint64_t> order;
    for (auto const& run : logged<RunCommand>()) order.push_back(run.task.value());
    return order;
  }
  void absorb() {
    planner.take_commands(m_taken);
    for (auto const& command : m_taken) {
      if (auto const* const copy = std::get_if<CopyCommand>(&command)) copies.push_back(*copy);
      if (auto const* const run = std::get_if<RunCommand>(&command)) runs.push_back(*run);
      if (auto const* const abort = std::get_if<AbortCommand>(&command)) aborts.push_back(*abort);
    }
    planner.inspect().check_invariants();
  }

 private:
  AveragingEstimator m_estimator;
  Acts m_acts{[this](Act const& act) { log.push_back(act); }};
  std::vector<Command> m_taken;

 public:
  Planner planner;
  CodeletId codelet;
  std::vector<CopyCommand> copies;  // not answered
  std::vector<RunCommand> runs;     // not answered
  std::vector<AbortCommand> aborts;
  std::vector<Act> log;
};

[[nodiscard]] inline Access read(DataId data) { return {data, AccessMode::Read}; }
[[nodiscard]] inline Access write(DataId data) { return {data, AccessMode::Write}; }
[[nodiscard]] inline Access read_write(DataId data) { return {data, AccessMode::ReadWrite}; }
[[nodiscard]] inline Access commute(DataId data) { return {data, AccessMode::Commute}; }

}  // namespace granary::test
