// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_buckets.hpp>
#include <granary/detail/policies/heteroprio/laheteroprio_affinity.hpp>
#include <granary/detail/policies/heteroprio/laheteroprio_distances.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace granary::detail {

/// Further options besides HeteroprioOptions; docs/heteroprio.md lists them.
struct GRANARY_EXPORT LaheteroprioOptions {
  /// A number per memory node: given for its name, or else its kind of worker, or else for all.
  struct PerNode {
    std::array<std::size_t, worker_kinds> of_kind{};
    std::map<std::string, std::size_t, std::less<>> of_node;
    [[nodiscard]] std::size_t of(std::string const& node, WorkerKind kind) const;
  };
  static constexpr std::size_t all = 1U << 20;

  HeteroprioOptions buckets;
  std::optional<Affinity> formula;  ///< `formula`; empty: the automatic choice
  double theta = 1000;              ///< of LS_SDHB
  double alpha = 0.5;               ///< of equation 12
  PerNode run{{1, 1}, {}};          ///< `l`: the locality coefficient
  PerNode near{{all, 1}, {}};       ///< `S`: the size of the near sub-group
  bool measure_all = false;  ///< `bmd=all`: a BMD counter also for MC while it is not in use, O(nodes²) per task

  /// Throws InvalidArgument when a value is malformed.
  static LaheteroprioOptions read(PolicyOptions& options);
};

/// LAHeteroprio: the buckets of Heteroprio in lists by memory node. A formula selects the list that a ready task joins.
/// The workers of a node visit their own lists first, then the lists of near nodes.
///
/// Departures from the paper: Ties of a formula go to the node that released the task, else to the node with the fewest
/// tasks. Groups get tasks ahead of their workers, so tasks in the lists of another node with workers of the same kind
/// are taken only for an idle worker.
class GRANARY_EXPORT LaheteroprioScheduler final : public Scheduler, public SystemEvents {
 public:
  explicit LaheteroprioScheduler(LaheteroprioOptions options)
      : m_options(std::move(options)), m_buckets(m_options.buckets), m_choice(m_options.formula) {}

  /// Throws InvalidArgument when an option names a memory node that does not exist.
  void attach(SystemView const& view, PlanBoard& board) override;
  /// O(accesses nodes + log tasks).
  void ready(TaskId task) override;
  /// O(buckets nodes + log tasks).
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId group) override;
  void submitted(TaskId) override { m_releaser = none; }
  void finished(TaskId task) override;
  void external_finished(TaskId) override { m_releaser = none; }

  /// The BMD counters, as `bmd <formula>`.
  [[nodiscard]] std::vector<std::pair<std::string, double>> counters() const override;

  /// The formula in use, and the BMD counter of each; MC is counted only while it is in use, or with `bmd=all`.
  [[nodiscard]] AffinityChoice const& choice() const { return m_choice; }
  /// The number of tasks returned by `next`, to which the BMD counters refer.
  [[nodiscard]] std::uint64_t given() const { return m_given; }
  /// Equation 12 from each column's node to each, row by row.
  [[nodiscard]] std::vector<double> const& distances() const { return m_distances; }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  using Columns = std::array<std::uint8_t, affinities>;

  void find_columns();
  void check_node_names() const;
  void order_grid();
  void gather(Task const& task);
  [[nodiscard]] bool in_use(Affinity formula) const;
  [[nodiscard]] std::uint64_t best(Affinity formula, Task const& task, std::uint32_t worker_column) const;
  [[nodiscard]] std::uint64_t cheapest(Task const& task) const;
  [[nodiscard]] std::uint32_t break_tie(std::uint64_t columns) const;
  void compare(Task const& task, Columns const& pushed, std::uint32_t column);
  [[nodiscard]] HeteroprioBuckets::Claim claim(GroupId group, std::uint32_t column) const;

  LaheteroprioOptions m_options;
  SystemView const* m_view = nullptr;
  HeteroprioBuckets m_buckets;
  AffinityChoice m_choice;
  std::vector<NodeId> m_nodes;                  // by column: the nodes that have workers
  std::vector<std::uint32_t> m_column_of;       // by group
  std::vector<double> m_transfers;              // equation 10
  std::vector<double> m_distances;              // equation 12
  std::vector<std::vector<GridStop>> m_orders;  // by group
  std::uint64_t m_ordered = 0;                  // the version of the buckets for which m_orders were computed
  std::vector<std::size_t> m_tasks_in;          // by column
  std::vector<Columns> m_pushed;                // by slot: the column that each formula chose
  std::vector<std::uint32_t> m_list_of;         // by slot: the column that the task is in
  std::vector<AffinityDatum> m_data;            // of the current task
  std::uint32_t m_releaser = none;              // the column of the worker that released the tasks that become ready
  std::uint64_t m_given = 0;
};

}  // namespace granary::detail
