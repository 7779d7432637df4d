// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/paged_array.hpp>
#include <granary/core/model/estimator.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/core/model/submitter.hpp>
#include <granary/core/model/task_graph.hpp>
#include <granary/core/planner/agenda.hpp>
#include <granary/core/planner/command.hpp>
#include <granary/core/planner/event.hpp>
#include <granary/core/planner/eviction_observer.hpp>
#include <granary/core/planner/failure.hpp>
#include <granary/core/planner/ledger.hpp>
#include <granary/core/planner/options.hpp>
#include <granary/core/planner/replicas.hpp>
#include <granary/core/planner/statistics.hpp>
#include <granary/core/policy/policy_set.hpp>

#include <deque>
#include <exception>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// The state machine that makes all decisions: events in, commands out. Passive: no thread, lock, clock or device
/// inside; not thread-safe. Every event appends the resulting commands to `commands()`; the same events yield the same
/// commands.
///
/// Committed tasks get memory on a node in the order of commitment, all data of a task at once. A task that needs no
/// additional memory may pass waiting ones. docs/design.md states the guarantees and the reasons.
class Planner final : private SystemView, private PlanBoard::Observer {
 public:
  /// Throws InvalidArgument when the machine has no workers, the policies are incomplete or an option is out of range.
  Planner(Topology topology, PolicySet policies, Estimator& estimator, PlannerOptions options = {});
  ~Planner() override;
  Planner(Planner const&) = delete;
  Planner& operator=(Planner const&) = delete;

  /// Sets the time of the following events; must not decrease.
  void set_now(Instant now) { m_now = now; }
  /// Sets the observer of evictions; null: none.
  void observe_evictions(EvictionObserver* observer) { m_eviction_observer = observer; }

  // Events. The first five throw as Submitter documents, without any effect.
  CodeletId add_codelet(Codelet codelet);
  DataId add_data(DataDescription description);
  /// The datum needs one more release; also allowed after its last release, until it is forgotten.
  void retain_data(DataId data);
  void release_data(DataId data);
  TaskId submit(TaskSubmission const& submission);
  void copy_done(TransferId transfer);
  void copy_failed(TransferId transfer, std::exception_ptr error);
  void task_done(TaskId task, Duration measured);
  void task_failed(TaskId task, std::exception_ptr error);
  void task_skipped(TaskId task);
  /// Requests that final values are written to all homes; `idle` is false until then.
  void flush_homes();
  /// Cancels every task that was not handed to a worker, with `error` as the failure.
  void cancel_all(std::exception_ptr error);
  /// Returns and clears the failures since the last call, in order of submission. Poisoned data stay poisoned until a
  /// task that only writes them has run.
  std::vector<Failure> take_failures();
  /// Applies a recorded event.
  void handle(Event const& event);

  /// The commands that were not performed yet; the driver reads and clears them.
  [[nodiscard]] std::vector<Command>& commands() { return m_commands; }
  /// The location of the datum for workers on `node`; valid between a task's RunCommand and the reply.
  [[nodiscard]] Place place(DataId data, NodeId node) const;
  /// No live task, no requested or active transfer, and no home to be updated.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] std::size_t live_tasks() const { return m_graph.size(); }
  /// The number of ready tasks that are committed to the group and not handed to a worker yet.
  [[nodiscard]] std::uint32_t ahead(GroupId group) const { return m_groups[group.index()].ahead; }
  [[nodiscard]] bool failed() const { return !m_failures.empty(); }
  [[nodiscard]] bool poisoned(DataId data) const { return record(data).poisoned; }
  /// Whether a registration of the datum is not released; whether a submitted task accesses or writes it.
  [[nodiscard]] bool held(DataId data) const { return !record(data).released(); }
  [[nodiscard]] bool accessed(DataId data) const { return record(data).accessed; }
  [[nodiscard]] bool written(DataId data) const { return record(data).written; }
  [[nodiscard]] DataDescription const& description(DataId data) const { return record(data).description; }
  [[nodiscard]] Codelet const& codelet(CodeletId codelet) const override { return m_codelets[codelet.index()]; }
  [[nodiscard]] Statistics const& statistics() const { return m_statistics; }
  [[nodiscard]] PlanBoard const& board() const { return m_board; }
  [[nodiscard]] SystemView const& view() const { return *this; }
  [[nodiscard]] Scheduler const& scheduler() const { return *m_policies.scheduler; }
  [[nodiscard]] Topology const& topology() const override { return m_topology; }
  /// A live task.
  [[nodiscard]] Task const& task(TaskId task) const override { return m_graph[task]; }
  /// Throws InternalError with the first broken invariant; O(everything). Tests call it after every event.
  void check_invariants() const;
  /// The running tasks, what each task waits for, and the bytes in use of every memory, as text; at most 20 lines of
  /// each kind. O(live tasks and their edges).
  [[nodiscard]] std::string describe_waiting() const;

 private:
  // invariants.cpp
  void check_nodes() const;
  void check_data() const;
  void check_tasks() const;

  // describe.cpp
  [[nodiscard]] std::string describe_phases() const;
  [[nodiscard]] std::string describe_committed() const;
  [[nodiscard]] std::string describe_uncommitted() const;
  [[nodiscard]] std::string describe_memories() const;

  /// Limit of the tasks without need of memory that may pass the first task waiting for room: keeps workers busy
  /// without starvation.
  static constexpr std::uint32_t most_passes = 256;

  struct WriteBack {
    DataId data;
    NodeId from;
  };
  struct NodeState {
    Ledger ledger;
    Bytes reserve = 0;                          // reserved for write-backs that pass through
    std::deque<TaskId> waiting;                 // committed tasks without room, in order
    std::deque<DataId> transits;                // data that wait for room on their way to a worker
    std::deque<WriteBack> write_backs;          // data that wait for room on their way home
    std::deque<DataId> final_values;            // data with final values that are not home yet
    std::vector<std::uint32_t> committed_uses;  // by datum
    Bytes evicting = 0;                         // bytes of replicas that are written back before they are dropped
    std::uint32_t passed = 0;                   // tasks that passed the first waiting one
    std::uint32_t holders = 0;                  // tasks with allocated data
  };
  struct GroupState {
    std::deque<TaskId> committed;  // unfinished, in order
    std::vector<TaskId> fetching;  // have memory, inputs missing
    std::deque<TaskId> startable;  // inputs complete
    std::uint32_t ahead = 0;       // committed, but not handed to a worker
  };
  struct WorkerState {
    std::uint32_t held = 0;
    Duration held_time{0};
    TaskId last;  // its last task; may have ended
  };
  struct LinkState {
    std::deque<TransferId> queue;
    std::uint32_t active = 0;
    bool asked = false;  // to start transfers: it is on the agenda
  };
  struct Transfer {
    DataId data;
    LinkId link;
    Place to;
    bool write_back = false;  // toward the home; no task waits for it
    bool active = false;
    bool cancelled = false;
    Slot from_slot = Slot::Pool;  // once active
  };

  // SystemView
  [[nodiscard]] Instant now() const override { return m_now; }
  [[nodiscard]] Bytes bytes(DataId data) const override { return record(data).description.bytes; }
  [[nodiscard]] std::uint32_t unfinished_uses(DataId data) const override { return m_graph.pending_tasks(data); }
  [[nodiscard]] bool valid(DataId data, NodeId node) const override;
  [[nodiscard]] bool expected(DataId data, NodeId node) const override;
  [[nodiscard]] bool evictable(DataId data, NodeId node) const override;
  [[nodiscard]] Duration transfer_time(DataId data, NodeId node) const override;
  [[nodiscard]] Duration kernel_time(TaskId task, GroupId group) const override;
  [[nodiscard]] std::deque<TaskId> const& committed(GroupId group) const override {
    return m_groups[group.index()].committed;
  }
  [[nodiscard]] std::uint32_t committed_uses(DataId data, NodeId node) const override;
  void planned_uses_changed(DataId data, GroupId group) override;

  // planner.cpp: submission, and the loop that moves everything on
  void check_submission(TaskSubmission const& submission, AccessList const& accesses) const;
  [[nodiscard]] GroupSet allowed_groups(TaskSubmission const& submission, AccessList const& accesses) const;
  [[nodiscard]] Bytes footprint(AccessList const& accesses, NodeId node) const;
  void make_ready(Task& task);
  void advance();
  void perform(Agenda::Cancel item);
  void perform(Agenda::StartTransfers item) { start_transfers(item.link); }
  void perform(Agenda::Fetch item);
  void perform(Agenda::PassThrough item);
  void perform(Agenda::WriteBack item);
  void perform(Agenda::Forget item);
  void perform(Agenda::GiveRoom item) { give_room(item.node); }
  void perform(Agenda::Commit item) { commit_tasks(item.group); }
  void commit_tasks(GroupId group);
  void commit(Task& task, GroupId group);
  bool issue_tasks(GroupId group);
  [[nodiscard]] WorkerId free_worker(WorkerGroup const& group, Duration estimate) const;
  [[nodiscard]] bool takes_more(WorkerId worker, WorkerKind kind, Duration estimate) const;
  void issue(Task& task, WorkerId worker);
  void end_task(Task& task);
  void uncommit(Task& task);
  void room_may_have_changed(NodeId node);

  // followers.cpp: tasks that are issued behind the task that they wait for
  bool issue_followers(GroupId group);
  [[nodiscard]] TaskId find_follower(WorkerId worker, GroupId group);
  [[nodiscard]] bool may_follow(Task const& task, Task const& before, NodeId node);

  // stall.cpp
  bool resolve_stall();
  bool offer_to_all_groups();
  [[nodiscard]] TaskId oldest_committed() const;
  void give_way_to(Task const& task);
  void let_all_look_for_room();
  void end_being_alone();
  bool fail_one();

  // staging.cpp: room on nodes
  void give_room(NodeId node);
  void give_room_to_write_backs(NodeId node);
  bool give_room_to_transit(NodeId node, DataId data);
  bool place_task(Task& task, bool may_evict);
  void hold_places(Task& task);
  void let_go_of_places(Task const& task);
  [[nodiscard]] Bytes end_of_places(Task const& task, NodeId node) const;
  bool stands_in_reserve(Task const& task, NodeId node, Bytes high, bool may_evict);
  bool allocate_all(Task const& task, NodeId node, Bytes high, std::vector<std::pair<DataId, Bytes>>& taken);
  bool make_room(NodeId node, Bytes total, Bytes largest, Bytes low, Bytes high);
  void clear_node(NodeId node);
  std::optional<Bytes> take_room(NodeId node, DataId data, Bytes low, Bytes high);
  std::optional<Bytes> take_room_to_pass(NodeId node, DataId data);
  bool may_enter_reserve(NodeId node, DataId data);
  [[nodiscard]] bool leads_on(DataId data, NodeId node) const;
  void keep(DataId data, NodeId node);
  void withdraw(TaskId task, GroupId group, DataId lost);
  void add_pool_replica(DataId data, NodeId node, Bytes offset);
  void evict(DataId data, NodeId node, EvictionReason reason);
  void drop(DataId data, NodeId node, bool evicted);
  void drop_if_useless(DataId data, NodeId node);
  [[nodiscard]] DataId fallback_victim(NodeId node) const;
  [[nodiscard]] Bytes room_for_tasks(NodeId node) const {
    auto const& state = m_nodes[node.index()];
    return state.ledger.capacity() - std::min(state.reserve, state.ledger.capacity());
  }
  /// The same for `bytes` of something that was accepted already: the whole capacity if the reserve has grown too large
  /// since.
  [[nodiscard]] Bytes room_for_accepted(Bytes bytes, NodeId node) const {
    Bytes const room = room_for_tasks(node);
    return bytes > room ? m_nodes[node.index()].ledger.capacity() : room;
  }

  // transfers.cpp: replicas on the move
  void fetch(DataId data, NodeId node);
  void pass_through(DataId data, NodeId node);
  bool write_back(DataId data, NodeId from);
  [[nodiscard]] NodeId storage_of(DataId data, NodeId from) const;
  [[nodiscard]] std::vector<NodeId> find_storage() const;
  TransferId queue_transfer(DataId data, LinkId link, Place to, bool write_back);
  void ask_for_transfers(LinkId link);
  void start_transfers(LinkId link);
  void start_transfer(TransferId id);
  Transfer end_transfer(TransferId id);
  void cancel_queued_transfers(DataId data);
  void end_hops(DataId data, NodeId target);
  void finish_eviction(DataId data, NodeId node, Slot slot);
  [[nodiscard]] bool busy(LinkId link) const;
  void value_arrived(DataId data, NodeId node);
  void find_ways_anew(DataId data);
  void send_home(DataId data);
  bool write_back_early();
  void try_forget(DataId data);
  void forget(DataId data);
  void scan_fetching(DataId data);
  [[nodiscard]] bool can_start(Task const& task) const;

  // failures.cpp
  void fail(Task& task, std::exception_ptr error);
  void discard(Task& task);
  [[nodiscard]] std::uint32_t cause_of(Task const& task) const;
  [[nodiscard]] std::vector<DataId> lose_outputs(Task const& task, std::uint32_t cause);
  void poison(DataId data);
  void make_stale(DataId data, std::uint32_t cause);
  void cancel(Task& task);
  void fail_write_back(DataId data, std::exception_ptr error);
  void give_up_lost(DataId data);
  void fail_waiting_for(DataId data, NodeId node, std::exception_ptr const& error);
  void cancel_unissued();

  void set_valid(DataId data, Replica& replica);
  void invalidate(DataId data, Replica& replica);
  [[nodiscard]] DataRecord& record(DataId data) { return m_data[data.index()]; }
  [[nodiscard]] DataRecord const& record(DataId data) const { return m_data[data.index()]; }
  [[nodiscard]] bool known(DataId data) const {
    return data.index() < m_data.size() && m_data[data.index()].description.bytes > 0;
  }
  [[nodiscard]] NodeState& node_of(Task const& task) { return m_nodes[m_topology.group(task.group).node.index()]; }
  [[nodiscard]] std::string name_of(Task const& task) const;

  Topology m_topology;
  PolicySet m_policies;
  Estimator& m_estimator;
  PlannerOptions m_options;
  PlanBoard m_board;
  TaskGraph m_graph;
  std::deque<Codelet> m_codelets;  // lanes keep pointers to their names
  std::deque<DataRecord> m_data;
  std::vector<DataId> m_free_data;
  std::vector<NodeState> m_nodes;
  std::vector<NodeId> m_storage;  // by node: storage of temporaries from there
  std::vector<GroupState> m_groups;
  std::vector<WorkerState> m_workers;
  std::vector<LinkState> m_links;
  PagedArray<TransferId, Transfer> m_transfers;
  std::uint64_t m_next_transfer = 0;
  std::uint32_t m_active_transfers = 0;
  std::uint32_t m_issued = 0;
  std::uint32_t m_going_home = 0;  // data on their way home because of a flush or of their release
  std::vector<std::pair<DataId, AccessMode>> m_touched;  // scratch of end_task
  std::vector<TaskId> m_followers;                       // scratch of find_follower
  TaskId m_alone;  // while it is valid, no other task takes places: see give_way_to
  std::vector<Failure> m_failures;
  Agenda m_agenda;
  std::vector<NodeId> m_wait_for_reserves;  // with write-backs that may not enter a reserve until something changes
  std::vector<Command> m_commands;
  Statistics m_statistics;
  EvictionObserver* m_eviction_observer = nullptr;
  Instant m_now{};
  bool m_keeps_plans = false;
  bool m_offered_to_all = false;  // the ready tasks, since a task became ready or was committed
};

}  // namespace granary

#pragma GCC visibility pop
