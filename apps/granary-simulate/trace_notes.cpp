// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace_notes.hpp"

#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/load_bounds.hpp>
#include <granary/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace granary::app {

void describe(Trace& trace, Result const& result) {
  trace.configuration = {
      {"program", "granary-simulate " GRANARY_VERSION_STRING},
      {"platform", result.platform},
      {"algorithm", result.algorithm},
      {"tiles", std::to_string(result.tiles)},
      {"tile", std::to_string(result.tile)},
      {"precision", name_of(result.precision)},
      {"scheduler", result.scheduler},
      {"eviction", result.eviction},
      {"depth", std::to_string(result.depth)},
      {"memory of each device", result.memory >= unbounded ? std::string("unbounded") : format_bytes(result.memory)}};
  if (result.grid) {
    trace.configuration.insert(
        trace.configuration.begin() + 2,
        {"grid of processes", fmt::format("{} x {}", result.grid->rows(), result.grid->columns())});
  }
  if (!result.graph.empty()) trace.configuration.emplace_back("graph", result.graph);
  for (auto const& library : result.loaded) trace.configuration.emplace_back("loaded", library);
  auto const& figures = result.figures;
  double const time = seconds(trace.end.time_since_epoch());
  trace.totals = {{"seconds", time},
                  {"flops", result.flops},
                  {"working set bytes", static_cast<double>(result.working_set)},
                  {"bytes from host", static_cast<double>(figures.host_to_device)},
                  {"bytes between devices", static_cast<double>(figures.device_to_device)},
                  {"bytes to host", static_cast<double>(figures.device_to_host)},
                  {"idle seconds", figures.idle_seconds}};
  if (result.grid) {
    trace.totals.emplace_back("processes", result.grid->processes());
    trace.totals.emplace_back("bytes sent between processes", static_cast<double>(figures.sent()));
    trace.totals.emplace_back("values sent between processes", static_cast<double>(figures.values_sent()));
    trace.totals.emplace_back("messages between processes", static_cast<double>(figures.messages));
  }
  auto const add = [&](char const* name, double value) {
    if (value > 0 && std::isfinite(value)) trace.totals.emplace_back(name, value);
  };
  add(least_seconds, result.upper_bound_flops > 0 ? result.flops / result.upper_bound_flops : 0);
  add_shares_of_loads(trace, trace.tasks.size(), static_cast<double>(result.io_bound));
  add(least_bytes_loaded, static_cast<double>(std::max(result.io_bound, result.compulsory)));
}

}  // namespace granary::app
