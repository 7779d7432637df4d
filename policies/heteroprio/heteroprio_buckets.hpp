// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_grid.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_orders.hpp>
#include <granary/detail/policies/policy_options.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace granary::detail {

/// The options for buckets; docs/heteroprio.md lists them.
struct GRANARY_EXPORT HeteroprioOptions {
  /// The task of a bucket that a slow worker takes. Auto: the least urgent one of buckets that fast workers visit
  /// first, since they reach it late; the most urgent one of other buckets, which they would reach even later.
  enum class Slow : std::uint8_t { Auto, LeastUrgent, MostUrgent };

  std::array<NamedLevels, worker_kinds> orders;          ///< `cpu`, `device`
  std::map<std::string, double, std::less<>> speed_ups;  ///< `speedup`: a device's speed over a CPU core's, by codelet
  std::array<double, worker_kinds> merge{1.1, 2};        ///< `merge_cpu`, `merge_device`
  double limit = 1;                                      ///< multiplies N_fast S; 0: slow workers are not limited
  bool count_buckets = false;  ///< `count=bucket`: the paper's limit even without a given speed-up factor
  Slow slow = Slow::Auto;
  std::uint32_t workers_per_device = 0;  ///< 0: the device's lanes

  /// Options that are not given are as in `defaults`. Throws InvalidArgument when a value is malformed.
  static HeteroprioOptions read(PolicyOptions& options, HeteroprioOptions defaults);
  static HeteroprioOptions read(PolicyOptions& options) { return read(options, {}); }
};

/// The buckets of `heteroprio` and `laheteroprio`, one per codelet: their tasks, the order in which each kind of worker
/// visits them, and the tasks that slow workers must leave. Values that the user does not give follow from the
/// performance models' mean times of the tasks seen so far.
///
/// From a bucket with a given speed-up factor, a slow worker takes a task when at least N_fast S are there. Without
/// one, it takes a task when the fast workers have other work for as long as it runs: W >= N_fast t_slow, where W is
/// the time, on fast workers, of the tasks that they hold and of the buckets that they visit up to this one. For one
/// bucket and idle fast workers both rules are the same. Over all buckets, the second does not keep slow workers idle
/// when there are many small buckets, which LAHeteroprio names as its rule's weakness.
class GRANARY_EXPORT HeteroprioBuckets {
 public:
  /// The other groups that wait for the tasks of a column. They limit how far ahead a fast group takes tasks: its own
  /// tasks without limit; tasks of `owners` only for an idle worker; others no further than the other groups.
  struct Claim {
    bool own = false;
    GroupSet owners = {};
  };

  explicit HeteroprioBuckets(HeteroprioOptions options) : m_options(std::move(options)) {}

  void attach(SystemView const& view, std::size_t columns);

  /// Adds a ready task to its codelet's bucket and returns its slot, which is unique until the task is removed. O(log
  /// tasks), and from time to time O(buckets log buckets).
  std::uint32_t put(TaskId task, std::uint32_t column);
  /// Removes the task; returns its slot, or TaskSlots::none if it is not here.
  std::uint32_t remove(TaskId task) { return m_grid.erase(task); }
  /// The task that a worker of the group takes from the buckets of a level in a column; invalid when there is none for
  /// it. O(buckets of the level).
  [[nodiscard]] TaskId first(std::vector<std::uint32_t> const& level, std::uint32_t column, GroupId group,
                             Claim claim) const;
  /// Call before `first`: whether the group should get a task at all now. O(buckets).
  [[nodiscard]] bool look_for(GroupId group);

  [[nodiscard]] BucketLevels const& levels(WorkerKind kind) const { return m_levels[static_cast<std::size_t>(kind)]; }
  /// Changes when levels do.
  [[nodiscard]] std::uint64_t version() const { return m_version; }
  /// Counts how often the order was found anew from the models.
  [[nodiscard]] std::uint64_t orderings() const { return m_orderings; }
  /// The bucket of the codelet's tasks, if there were some.
  [[nodiscard]] std::optional<std::uint32_t> find(CodeletId codelet) const;
  /// The mean times of the bucket's tasks.
  [[nodiscard]] KindTimes const& times(std::uint32_t bucket) const { return m_buckets[bucket].times; }
  /// Call look_for before: whether an idle worker of the group would take a ready task of the bucket. O(distinct sets
  /// of groups).
  [[nodiscard]] bool would_take(std::uint32_t bucket, std::uint32_t column, GroupId group) const;
  /// How many tasks the group runs at once.
  [[nodiscard]] std::size_t workers_of(GroupId group) const;
  /// The codelets' names, by bucket.
  [[nodiscard]] std::vector<std::string> const& names() const { return m_names; }

 private:
  enum class Taking : std::uint8_t { Nothing, MostUrgent, LeastUrgent };
  struct Bucket {
    KindTimes times{};
    std::array<std::uint32_t, worker_kinds> samples{};
    SpeedUp speed_up;
    bool stated = false;       // the user gave the speed-up factor
    bool first_level = false;  // its best kind visits it first
    double fast_work = 0;      // W at the last look_for
  };

  std::uint32_t bucket_of(Task const& task);
  void learn(Bucket& bucket, Task const& task) const;
  void order();
  [[nodiscard]] bool enough_for_slow(std::uint32_t bucket, BucketGrid::List const& list) const;
  [[nodiscard]] Taking taking(std::uint32_t bucket, BucketGrid::List const& list, GroupId group, Claim claim) const;
  [[nodiscard]] std::size_t fast_workers(BucketGrid::List const& list, WorkerKind kind) const;
  void sum_work(WorkerKind fast);
  [[nodiscard]] bool may_take_ahead(BucketGrid::List const& list, GroupId group, Claim claim) const;

  HeteroprioOptions m_options;
  SystemView const* m_view = nullptr;
  BucketGrid m_grid;
  std::vector<std::uint32_t> m_bucket_of;  // by codelet
  std::vector<Bucket> m_buckets;
  std::vector<std::string> m_names;  // by bucket
  std::array<BucketLevels, worker_kinds> m_levels;
  std::array<GroupSet, worker_kinds> m_groups;        // by kind
  std::array<bool, worker_kinds> m_best_somewhere{};  // some bucket's tasks run fastest on the kind
  std::uint64_t m_version = 0;
  std::uint64_t m_orderings = 0;
  std::uint64_t m_put = 0;
};

}  // namespace granary::detail
