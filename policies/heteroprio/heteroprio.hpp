// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_buckets.hpp>

namespace granary::detail {

/// Heteroprio (LAHeteroprio, section "Heteroprio"; Static, section VI): one bucket of ready tasks per operation, an
/// order of buckets per kind of worker, and speed-up factors that keep slow workers away from the last tasks of a
/// bucket.
///
/// As in Static, buckets of similar acceleration are merged (HP+CGV), and slow workers take the least urgent task of
/// buckets that fast ones visit first. A slow worker starts only tasks that the fast ones would not end sooner, see
/// HeteroprioBuckets; SpoliatingHeteroprio takes them back instead.
class GRANARY_EXPORT HeteroprioScheduler final : public Scheduler {
 public:
  explicit HeteroprioScheduler(HeteroprioOptions options) : m_buckets(std::move(options)) {}

  void attach(SystemView const& view, PlanBoard& board) override;
  void ready(TaskId task) override { m_buckets.put(task, 0); }
  [[nodiscard]] TaskId next(GroupId group) override;
  void withdrawn(TaskId task, Withdrawal why, GroupId) override {
    if (why == Withdrawal::Cancelled) m_buckets.remove(task);
  }

 private:
  SystemView const* m_view = nullptr;
  HeteroprioBuckets m_buckets;
};

}  // namespace granary::detail
