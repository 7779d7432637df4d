// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/lu_tasks.hpp"

#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/linalg.hpp>

#include <fmt/format.h>

namespace granary::app {

RunPivots::RunPivots(Runtime& runtime, detail::TileGrid const& grid, bool pivoting) : m_owned(runtime.submitter()) {
  if (!pivoting) return;
  m_pivots = std::make_shared<Pivots>(grid);
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    m_data.panels.push_back(m_owned.own(runtime.session().add_data(fmt::format("pivots({})", k), pivot_bytes(grid, k),
                                                                   {.memory = m_pivots->panel(k), .keep = m_pivots})));
  }
}

std::optional<std::uint64_t> RunPivots::zero_pivot() const { return m_pivots ? m_pivots->zero_pivot() : std::nullopt; }

std::vector<std::int64_t> RunPivots::rows() const {
  std::vector<std::int64_t> rows(m_pivots ? m_pivots->size() : 0);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>((*m_pivots)[i]);
  return rows;
}

RunGrowth::RunGrowth(Runtime& runtime, detail::TileGrid const& grid)
    : m_maxima(std::make_shared<detail::TileMaxima>(grid)), m_owned(runtime.submitter()) {
  m_data = m_maxima->bind([&](char const* name, double& number) {
    return runtime.session().add_data(name, sizeof(double),
                                      {.memory = reinterpret_cast<std::byte*>(&number), .keep = m_maxima});
  });
  for (auto const* data : {&m_data.matrix, &m_data.factor}) m_owned.own(detail::OwnedData(runtime.submitter(), *data));
}

PivotGrowth RunGrowth::value(Runtime& runtime) const { return growth_of_all(runtime.session(), m_maxima->growth()); }

detail::PivotData dry_pivots(DryRun& dry, detail::TileGrid const& grid) {
  detail::PivotData pivots;
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) pivots.panels.push_back(dry.in_place(pivot_bytes(grid, k)));
  return pivots;
}

MemoryNeed choose_panels(LuOptions& options, RunPlan const& plan, std::function<MemoryNeed()> const& dry_run) {
  auto const memory = task_memory(plan.runtime);
  auto const& grid = plan.grid;
  bool const devices = device_capacity(plan.runtime) > 0;
  if (!devices) options = fit_panels(options, grid, size_of(plan.a.type), memory);
  for (;;) {
    auto const largest = dry_run();
    bool const whole = options.leaf_tiles >= grid.tile_rows();  // panels
    if (largest.host <= (whole ? memory : memory / 4) || options.leaf_tiles == 1) return largest;
    options.leaf_tiles /= 2;
  }
}

void add_pivoting(Report& report, bool pivoting, LuOptions const& options, detail::TileGrid const& grid) {
  bool const whole = options.leaf_tiles >= grid.tile_rows();
  report.line("pivoting", !pivoting ? "none"
                          : whole   ? "partial, a panel in one task"
                                    : fmt::format("tournament, {} tiles per leaf", options.leaf_tiles));
  report.value("pivoting", !pivoting ? "none" : whole ? "partial" : "tournament");
  if (pivoting) report.value("leaf_tiles", options.leaf_tiles);
}

}  // namespace granary::app
