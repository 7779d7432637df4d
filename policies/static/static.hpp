// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/static/predecessors.hpp>
#include <granary/detail/policies/static/static_pace.hpp>
#include <granary/detail/policies/static/static_plan.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/signatures.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace granary::detail {

/// Runs the tasks of a schedule file, each on the file's worker and in the file's order (Static, section IV: SS), with
/// corrections if asked for.
class GRANARY_EXPORT StaticScheduler final : public Scheduler, public SystemEvents, public SchedulerLimits {
 public:
  /// The tasks that an idle worker may run while the first of its tasks is not ready.
  enum class Repair : std::uint8_t { None, Top, TopTwo, Auto };
  struct Options {
    Repair repair = Repair::None;
    bool refresh = false;    ///< durations are this run's estimates, not the file's
    bool any_graph = false;  ///< tasks that are not the file's are accepted
  };
  StaticScheduler(std::string file, Schedule schedule, Options options);

  void attach(SystemView const& view, PlanBoard& board) override;
  void check(TaskSubmission const& submission, AccessList const& accesses) const override;
  void submitted(TaskId task) override;
  void ready(TaskId task) override;
  [[nodiscard]] TaskId next(GroupId group) override;
  [[nodiscard]] bool hand_over(TaskId task, GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void issued(TaskId task) override;
  void finished(TaskId task) override;
  void stalled() override;
  void released(DataId data) override {
    m_signatures.forget(data);
    m_predecessors.forget(data);
  }
  [[nodiscard]] Traits traits() const override { return {.keeps_plans = true}; }
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

 private:
  static constexpr std::uint32_t nowhere = 0xffffffffU;
  // A task that has not ended.
  struct Item {
    std::uint32_t place = nowhere;
    WorkerId lane;         // invalid: it gets one when it is ready
    Duration duration{0};  // expected there, at the usual pace
    Duration estimate{0};  // at the present pace, once it was given
    bool given = false;
    WorkerId worker;  // from its issue on
    Instant issued{};
  };
  struct Lane {
    StaticLane tasks;
    GroupId group;
    WorkerId worker;  // that ran its last task: a group's workers are alike, but one may be slower
    std::uint32_t held = 0;
    Duration held_time{0};
    Instant since{};                 // the oldest of these began
    std::uint32_t urgent = nowhere;  // runs next although others precede it
  };
  struct Ended {
    TaskId task;
    Item item;
    Duration taken{0};  // 0: it did not run
    CodeletId codelet;
  };

  [[nodiscard]] std::uint64_t signature(Task const& task);
  [[nodiscard]] Duration duration(Task const& task, std::uint32_t place, WorkerId lane) const;
  [[nodiscard]] Duration expected(Task const& task, Duration duration, WorkerId lane) const;
  [[nodiscard]] Duration rest(Lane const& lane) const;
  [[nodiscard]] Duration start_of(std::uint32_t place, WorkerId lane) const;
  void enlist(Task const& task, Item& item);
  void deal(Task const& task, Item& item);
  void leave(TaskId task, Item const& item);
  TaskId give(TaskId task, WorkerId lane);
  void learn();

  [[nodiscard]] bool takes_more(WorkerId lane) const;
  [[nodiscard]] std::uint32_t head(Lane const& lane) const;
  [[nodiscard]] TaskId repair(GroupId group);
  [[nodiscard]] TaskId steal_alike(WorkerId thief) const;
  [[nodiscard]] TaskId steal_sooner(WorkerId thief) const;
  [[nodiscard]] bool worth_stealing(Task const& task, GroupId group) const;
  [[nodiscard]] bool is_late(Task const& task, Item const& item) const;
  [[nodiscard]] Duration lag(Lane const& lane) const;
  [[nodiscard]] bool is_fastest(Task const& task, GroupId on) const;
  void note_acceleration(Task const& task);
  [[nodiscard]] Duration ready_in(TaskId task, int& steps) const;
  [[nodiscard]] Duration ends_in(TaskId task, int& steps) const;

  std::string m_file;
  Schedule m_schedule;
  Options m_options;
  SystemView const* m_view = nullptr;
  PlanBoard* m_board = nullptr;
  std::optional<StaticPlan> m_plan;
  std::vector<Lane> m_lanes;    // by worker
  std::vector<TaskId> m_tasks;  // by place; invalid: not submitted, or ended
  TaskTable<Item> m_items;
  Predecessors m_predecessors;
  TaskSignatures m_signatures;
  std::uint64_t m_submitted = 0;
  std::optional<Ended> m_ended;  // the last task that did, which may come back
  StaticPace m_pace{0};
  std::vector<Instant> m_free;          // by worker: its last task ended
  std::vector<double> m_accelerations;  // by codelet
  double m_top = 0;                     // of these
  double m_second = 0;
  std::uint64_t m_stolen = 0;
  std::uint64_t m_dealt = 0;
  std::uint64_t m_stalls = 0;
};

}  // namespace granary::detail
