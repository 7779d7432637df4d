// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/lu.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "apps/common/dry_run.hpp"
#include "apps/common/report.hpp"
#include "apps/common/run_plan.hpp"

namespace granary::app {

/// The row exchanges of a run's factorization, in the program's memory; empty without pivoting. They stay alive while
/// tasks use them.
class RunPivots {
 public:
  RunPivots(Runtime& runtime, detail::TileGrid const& grid, bool pivoting);

  /// Null without pivoting.
  [[nodiscard]] detail::PivotData const* data() const { return m_pivots ? &m_data : nullptr; }
  [[nodiscard]] std::optional<std::uint64_t> zero_pivot() const;
  /// For each row, the row that it was exchanged with, both counted from 0, like piv of scipy.linalg.lu_factor.
  [[nodiscard]] std::vector<std::int64_t> rows() const;

 private:
  std::shared_ptr<Pivots> m_pivots;
  detail::PivotData m_data;
  detail::OwnedData m_owned;
};

/// The growth of a run's factorization; it stays alive while tasks use it.
class RunGrowth {
 public:
  RunGrowth(Runtime& runtime, detail::TileGrid const& grid);

  [[nodiscard]] detail::GrowthData const& data() const { return m_data; }
  /// After Session::wait, in all processes.
  [[nodiscard]] PivotGrowth value(Runtime& runtime) const;

 private:
  std::shared_ptr<detail::TileMaxima> m_maxima;
  detail::GrowthData m_data;
  detail::OwnedData m_owned;
};

/// Data of the row exchanges, which do not count against the limit.
[[nodiscard]] detail::PivotData dry_pivots(DryRun& dry, detail::TileGrid const& grid);

/// Chooses the panels and the order for a run with these options: see fit_panels. Where panels do not fit, halves
/// `options.leaf_tiles` while the largest task of a tournament needs more than a quarter of the memory. Returns the
/// bytes of the largest task, as `dry_run` does.
[[nodiscard]] MemoryNeed choose_panels(LuOptions& options, RunPlan const& plan,
                                       std::function<MemoryNeed()> const& dry_run);

/// Adds the kind of pivoting to the report.
void add_pivoting(Report& report, bool pivoting, LuOptions const& options, detail::TileGrid const& grid);

}  // namespace granary::app
