// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/schedules/schedule.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace granary::detail {

/// The tasks of a schedule in one order for a whole machine: by expected start, and on each worker by rank. A task's
/// place in this order names it.
class GRANARY_EXPORT StaticPlan {
 public:
  /// The schedule's workers become workers of the machine with the same name, kind and node; else with the same kind on
  /// a node of the same name; else with the same kind. Each becomes at most one, in their order. O(tasks log tasks).
  StaticPlan(Schedule const& schedule, Machine const& machine);

  [[nodiscard]] std::size_t tasks() const { return m_workers.size(); }
  /// The place of the task that is submitted as number `task`, from 0 on.
  [[nodiscard]] std::uint32_t place_of(std::uint64_t task) const { return m_places[task]; }
  /// The worker that the task at this place is for; invalid if the machine lacks it.
  [[nodiscard]] WorkerId worker(std::uint32_t place) const { return m_workers[place]; }
  /// When it is to start: not before the tasks that precede it on the worker.
  [[nodiscard]] Duration start(std::uint32_t place) const { return m_starts[place]; }
  [[nodiscard]] Duration duration(std::uint32_t place) const { return m_durations[place]; }

 private:
  std::vector<std::uint32_t> m_places;  // by task
  std::vector<WorkerId> m_workers;      // by place
  std::vector<Duration> m_starts;       // by place
  std::vector<Duration> m_durations;    // by place
};

/// The tasks that a worker has still to run, by place: tasks of the plan, submitted or not, and others that it got.
class GRANARY_EXPORT StaticLane {
 public:
  /// `planned`: the places that it has in the plan, ascending.
  explicit StaticLane(std::vector<std::uint32_t> planned = {});

  /// O(log tasks) each.
  void insert(std::uint32_t place, Duration duration);
  void erase(std::uint32_t place, Duration duration);
  void make_ready(std::uint32_t place) { m_ready.insert(place); }
  void make_waiting(std::uint32_t place) { m_ready.erase(place); }

  [[nodiscard]] bool empty() const { return m_left.empty(); }
  /// The first place, ready or not, of a lane that is not empty.
  [[nodiscard]] std::uint32_t first() const { return *m_left.begin(); }
  [[nodiscard]] bool is_ready(std::uint32_t place) const { return m_ready.contains(place); }
  [[nodiscard]] std::set<std::uint32_t> const& ready() const { return m_ready; }
  /// The sum of the durations of the tasks before this place. O(log tasks + guests), which are the tasks that it got
  /// besides the plan's.
  [[nodiscard]] Duration before(std::uint32_t place) const;

 private:
  [[nodiscard]] std::size_t index(std::uint32_t place) const;
  [[nodiscard]] bool planned(std::uint32_t place) const;
  void add(std::uint32_t place, Duration::rep duration);

  std::vector<std::uint32_t> m_planned;
  std::vector<Duration::rep> m_sums;  // a Fenwick tree of durations, by the number of planned places before
  std::map<std::uint32_t, Duration::rep> m_guests;
  std::set<std::uint32_t> m_left;
  std::set<std::uint32_t> m_ready;  // of these
};

}  // namespace granary::detail
