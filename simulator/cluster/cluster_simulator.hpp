// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/indexed_heap.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/distributed/common_order.hpp>
#include <granary/detail/distributed/local_tasks.hpp>
#include <granary/detail/simulator/cluster/cluster_report.hpp>
#include <granary/detail/simulator/cluster/network_model.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace granary {

struct GRANARY_EXPORT ClusterOptions {
  std::uint32_t processes = 1;
  detail::Network network{.bandwidth = 5e9, .latency = std::chrono::microseconds(2)};
  std::uint32_t sends = 16;     ///< values that a process sends at once; the others wait, by priority
  std::uint32_t receives = 16;  ///< values that a process receives at once
  /// The owner of a datum, which is registered as the `number`-th; the default: Distribution::for_processes.
  std::function<ProcessId(detail::DataDescription const&, std::uint64_t number)> owner{};
  /// When the submission of each process sleeps, as SimulatorOptions::booking. `submit` lets time pass until some
  /// process is awake and has submitted all that it was given.
  BookingOptions booking{};
  /// Each message and each value arrives late by a time in [0, delay).
  Duration delay{0};
  std::uint64_t seed = 0;  ///< of these times
};

namespace detail {

/// The policies, estimator and options of one process of a cluster. `options.booking` and `options.outside` are the
/// cluster's.
struct GRANARY_EXPORT ClusterProcess {
  PolicySet policies;
  std::unique_ptr<Estimator> estimator;
  SimulatorOptions options{};
};

}  // namespace detail

/// Several processes in virtual time: each has a machine of its own, a planner with its own policies, and the exchange
/// of values of real runs; the owner of a datum computes it. Tasks are submitted once, and each process gets what
/// concerns it, in the order of submission. The same options yield the same commands.
///
/// ```cpp
/// #include <granary/policy.hpp>
/// #include <granary/simulator.hpp>
/// #include <granary/workloads.hpp>
/// auto const platform = granary::Platform::find("v100x1");
/// granary::PlatformTruth const truth(platform);
/// granary::ClusterSimulator cluster(platform.machine, truth, {.processes = 4}, [&](granary::ProcessId) {
///   return granary::detail::ClusterProcess{granary::make_policies("dmdas", "lru"),
///                                  std::make_unique<granary::PlatformEstimator>(platform)};
/// });
/// granary::workloads::TiledCholesky const cholesky({.tiles = 12, .tile = 960});
/// cholesky.submit(cluster, {platform.home_node(), platform.home_in_place()});
/// granary::ClusterReport const report = cluster.run();
/// assert(report.failures.empty() && report.tasks_run() == 12 + 12 * 11 + 12 * 11 * 10 / 6);
/// auto const sent = granary::format_bytes(report.sent().bytes);
/// std::printf("%s sent in %g s\n", sent.c_str(), granary::seconds(report.end.time_since_epoch()));
/// ```
class GRANARY_EXPORT ClusterSimulator final : public Submitter {
 public:
  /// `node`: the machine of each process, without the node of the others. The ground truth must outlive the simulator.
  /// Throws what Topology, Planner and Network document, and InvalidArgument for more than
  /// Distribution::most_processes, or none.
  ClusterSimulator(detail::Machine const& node, GroundTruth const& truth, ClusterOptions options,
                   std::function<detail::ClusterProcess(ProcessId)> const& make);
  ~ClusterSimulator() override;

  detail::CodeletId add_codelet(detail::Codelet codelet) override;
  DataId add_data(detail::DataDescription description) override;
  void release_data(DataId data) override;
  void last_use(DataId data) override;
  /// The id is the task's number. Throws what Submitter documents, and InvalidArgument if the task writes data of
  /// several owners; a process may throw later, when it is that far: from any call that lets time pass.
  TaskId submit(TaskSubmission const& submission, detail::Parameters parameters = {}) override;

  /// Performs the next event; false when none is pending.
  bool step();
  /// Runs all submitted tasks, and writes final values to the homes. Throws MemoryLimitError if no event is pending
  /// while a process has tasks without room, and InternalError, with what waits, if other processes are not done then.
  ClusterReport run();

  [[nodiscard]] detail::Instant now() const { return m_now; }
  [[nodiscard]] std::uint32_t processes() const { return static_cast<std::uint32_t>(m_processes.size()); }
  [[nodiscard]] Simulator const& process(ProcessId process) const;
  /// True if no process knows of a value of another one, and none is on its way: true after `run`.
  [[nodiscard]] bool at_rest() const;

 private:
  struct Process;
  class SimulatedTransport;
  // Items that a process has to submit, in the common order.
  struct OwnData {
    detail::DataKey key;
    detail::DataDescription description;
  };
  struct Release {
    detail::DataKey key;
  };
  // A value of another process that a task is the first to read. Its key may name another datum when the process is
  // that far.
  struct Incoming {
    detail::ValueId value;
    ProcessId owner;
    std::shared_ptr<detail::DataDescription const> description;
  };
  struct OwnTask {
    detail::CodeletId codelet;
    detail::AccessList accesses;  // their data are keys (key_of)
    std::vector<Incoming> incoming;
    std::int64_t priority;
    double flops;
    detail::TaskIndex index;
    std::uint64_t position;
    detail::Parameters parameters;
  };
  struct Ship {
    detail::ValueId value;
    ProcessId reader;
    std::int64_t priority;
    detail::TaskIndex index;
    std::uint64_t position;
  };
  struct LetGo {
    detail::DataKey key;
  };
  struct LetGoOfAll {};
  using Step = std::variant<OwnData, Release, OwnTask, Ship, LetGo, LetGoOfAll>;
  struct Delivery {
    ProcessId from;
    ProcessId to;
    detail::Message message;
  };
  // A value that has arrived, and is reported late.
  struct Arrived {
    std::uint64_t token;
  };
  using TimedEvent = std::variant<Delivery, Arrived>;
  // A value on its way.
  struct Sending {
    ProcessId from;
    ProcessId to;
    TaskId outgoing_value;
    std::uint32_t tag;
  };

  void give(ProcessId process, Step step);
  /// Submits to the process what it may submit now.
  void catch_up(Process& process);
  void perform(Process& process, OwnData& step);
  void perform(Process& process, Release& step);
  void perform(Process& process, OwnTask& step);
  void perform(Process& process, Ship& step);
  void perform(Process& process, LetGo& step);
  void perform(Process& process, LetGoOfAll& step);
  void look_for_sleep(Process& process);
  /// Some process could submit more than it was given.
  [[nodiscard]] bool hungry() const { return m_hungry > 0; }
  /// Hands what exchanges have posted to the planners, and whatever follows from that.
  void settle();
  void touch(Process& process);
  void happens(Delivery const& delivery);
  void happens(Arrived const& arrived);
  void run_until_idle();
  [[nodiscard]] Duration delay();
  [[nodiscard]] std::string what_waits() const;
  [[nodiscard]] Process& at(ProcessId process) { return *m_processes[process.index()]; }

  ClusterOptions m_options;
  GroundTruth const& m_truth;
  detail::Topology m_topology;
  detail::CommonOrder m_order;
  std::vector<std::shared_ptr<detail::DataDescription const>> m_descriptions;  // by key
  detail::NetworkModel m_network;
  std::vector<std::unique_ptr<Process>> m_processes;
  detail::IndexedHeap<detail::Instant> m_next;  // the next event of each process
  detail::EventHeap<TimedEvent> m_timed_events;
  std::unordered_map<std::uint64_t, Sending> m_sendings;  // by token
  std::uint64_t m_next_token = 0;
  std::map<std::pair<ProcessId, ProcessId>, detail::Instant>
      m_last_message;  // between two processes, if messages are late
  std::deque<std::pair<ProcessId, detail::Event>> m_posts;
  std::vector<ProcessId> m_touched;
  detail::Random m_random;
  detail::Instant m_now{};
  std::uint64_t m_data_registered = 0;
  std::uint64_t m_tasks_submitted = 0;
  std::uint64_t m_messages = 0;
  std::uint32_t m_hungry = 0;
};

}  // namespace granary
