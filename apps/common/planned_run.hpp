// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <type_traits>

#include "apps/common/processes.hpp"
#include "apps/common/run_plan.hpp"
#include "apps/common/scalars.hpp"
#include "apps/common/session.hpp"

namespace granary::app {

/// The run of a program that factors: makes the plan, alike in all processes, then calls `work(plan, session,
/// std::type_identity<T>{})` with the T of the matrix; it returns the report. `scratch`: the bytes of temporary data
/// that live at the same time. `operations_of(plan)` are for bounds, if they are known. Throws granary's errors and
/// Interrupted; then no output file is left behind, and an older one is unchanged.
template <class Options, class Plan, class Work>
Report run_as_planned(Options const& options, SignalWatch& signals, Plan (*make_plan)(Options const&),
                      std::optional<Operations> (*operations_of)(Plan const&), Bytes (*scratch)(Plan const&),
                      Work const& work) {
  std::optional<Plan> made;
  in_all_processes([&] {
    made.emplace(make_plan(options));
    require_common_tasks(*made);
  });
  auto const& plan = *made;
  Report report;
  run_session(options, plan.runtime, signals, [&](Session& session) {
    warn_of_few_tiles(plan);
    if (auto const bytes = scratch(plan); bytes > 0) session.require_scratch(bytes);
    report = with_scalar(plan.a.type, [&](auto type) { return work(plan, session, type); });
    session.note(report, operations_of(plan));
  });
  return report;
}

}  // namespace granary::app
