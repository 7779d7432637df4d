// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/report.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "apps/common/print.hpp"

namespace granary::app {
namespace {

constexpr double residual_limit = 30;
constexpr std::uint64_t most_columns = 20;  // in the text

// The column with the largest residual.
std::uint64_t worst(std::vector<double> const& values) {
  std::uint64_t found = 0;
  for (std::uint64_t c = 1; c < values.size(); ++c) {
    if (!(values[c] <= values[found]) && !std::isnan(values[found])) found = c;
  }
  return found;
}

}  // namespace

void Report::line(std::string const& name, std::string const& value) {
  m_text += fmt::format("{:<22}{}\n", name, value);
}

std::string column_name(std::uint64_t column, std::vector<std::string> const& names) {
  return names.empty() ? fmt::format("column {}", column + 1)
                       : fmt::format("column {} ({})", column + 1, excerpt(names[column], 60));
}

void Report::residual(double result, std::string const& formula, double check_seconds, ColumnResiduals const& columns) {
  auto const& [values, names] = columns;
  auto const name = values.empty() ? std::string() : column_name(worst(values), names);
  if (!(result < residual_limit)) {
    throw Error(fmt::format("the check failed: {} is {:.3g}{}, not below {}", formula, result,
                            name.empty() ? "" : " in " + name, residual_limit));
  }
  line("residual", fmt::format("{:.3g} = {}", result, formula));
  if (values.size() > most_columns) {
    line("  the largest", "in " + name);
  } else if (values.size() > 1 || !names.empty()) {
    for (std::uint64_t c = 0; c < values.size(); ++c)
      line("  of columns", fmt::format("{:.3g} in {}", values[c], column_name(c, names)));
  }
  line("check", fmt::format("{:.3f} s, after the run and not included above", check_seconds));
  value("residual", result);
  if (!values.empty()) value("column_residuals", values);
  value("check_seconds", check_seconds);
}

void Report::add_run(RunPlan const& plan, RunFigures const& run, double flops, LeastTraffic const& least) {
  double const gflops = flops / std::max(run.seconds, 1e-9) * 1e-9;
  auto const tile = plan.grid.tile;
  line("tile", fmt::format("{}{}{}", tile, plan.inner_tile > 0 ? fmt::format(", inner tile {}", plan.inner_tile) : "",
                           plan.tile_chosen_by == "speeds" ? ", by the speeds of this machine's kernels" : ""));
  if (run.processes > 1) line("processes", fmt::format("{}, a grid of {}", run.processes, run.grid));
  line("workers", fmt::format("{}{}", run.workers,
                              run.cores_per_worker > 1 ? fmt::format(" of {} cores", run.cores_per_worker) : ""));
  line("policies", fmt::format("{} with {}, {} tasks ahead", run.scheduler, run.eviction, run.depth));
  if (!run.loaded.empty()) line("loaded", fmt::format("{}", fmt::join(run.loaded, ", ")));
  if (!run.remark.empty()) line("chosen", run.remark);
  auto const each = run.processes > 1 ? " in each process" : "";
  line("memory limit",
       format_bytes(run.memory_limit + plan.records) + each +
           (plan.records > 0 ? ", " + format_bytes(plan.records) + " of it for " + plan.records_of : ""));
  line("peak tile memory", format_bytes(run.memory_peak) + each);
  line("time", fmt::format("{:.3f} s", run.seconds));
  line("speed", fmt::format("{:.1f} GFlop/s", gflops));
  add_traffic(run, least);
  if (run.processes > 1) line("sent to others", format_bytes(run.bytes_sent));
  line("tasks", fmt::format("{}", run.tasks));
  if (run.booked_peak > 0) {
    line("booked by tasks",
         fmt::format("at most {}{}; submission slept {}", format_bytes(run.booked_peak), each, times(run.sleeps)));
  }
  line("waiting for data", fmt::format("{:.3f} s, all workers together", run.wait_seconds));
  if (run.blocked_seconds > 0)
    line("blocked by Kokkos", fmt::format("{:.3f} s, all workers together", run.blocked_seconds));
  line("deciding", fmt::format("{:.3f} s", run.decision_seconds));
  value("tile", tile);
  value("inner_tile", plan.inner_tile);
  value("tile_chosen_by", plan.tile_chosen_by);
  value("precision", name_of(plan.a.type));
  value("processes", run.processes);
  if (run.processes > 1) {
    value("grid", run.grid);
    value("bytes_sent", run.bytes_sent);
  }
  value("workers", run.workers);
  value("scheduler", run.scheduler);
  if (!run.loaded.empty()) value("loaded", fmt::format("{}", fmt::join(run.loaded, ",")));
  if (!run.remark.empty()) value("chosen", run.remark);
  value("eviction", run.eviction);
  value("depth", run.depth);
  value("memory_limit_bytes", run.memory_limit + plan.records);
  value("memory_peak_bytes", run.memory_peak);
  value("seconds", run.seconds);
  value("gflops", gflops);
  value("bytes_read", run.bytes_read);
  value("bytes_written", run.bytes_written);
  value("io_bound_bytes", least.bound);
  if (least.nonsymmetric) value("io_bound_nonsymmetric_bytes", *least.nonsymmetric);
  value("compulsory_bytes", least.compulsory);
  if (least.reads_input) value("least_bytes_read", std::max(least.bound, least.compulsory));
  value("tasks", run.tasks);
  value("booked_bytes_peak", run.booked_peak);
  value("submission_sleeps", run.sleeps);
  value("wait_seconds", run.wait_seconds);
  value("blocked_seconds", run.blocked_seconds);
  value("decision_seconds", run.decision_seconds);
  add_devices(run);
}

// A generated input is not read from the disk, so no lower bound of disk traffic applies.
void Report::add_traffic(RunFigures const& run, LeastTraffic const& least) {
  if (!least.reads_input) {
    line("read from disk", format_bytes(run.bytes_read));
    line("written to disk", format_bytes(run.bytes_written));
    return;
  }
  double const floor = static_cast<double>(std::max(least.bound, least.compulsory));
  auto const without_symmetry =
      least.nonsymmetric ? fmt::format("; {} without using symmetry", format_bytes(*least.nonsymmetric)) : "";
  auto const to_write = !least.writes_output       ? std::string()
                        : least.compulsory_written ? ", " + format_bytes(*least.compulsory_written) + " to write"
                                                   : std::string(", as much to write");
  line("read from disk", fmt::format("{}, {:.2f} times the lower bound", format_bytes(run.bytes_read),
                                     static_cast<double>(run.bytes_read) / floor));
  line("written to disk", format_bytes(run.bytes_written));
  line("I/O lower bound", format_bytes(least.bound) + without_symmetry);
  line("compulsory", format_bytes(least.compulsory) + " to read" + to_write);
}

void Report::add_devices(RunFigures const& run) {
  if (run.devices.empty()) return;
  auto list = nlohmann::ordered_json::array();
  line("devices", fmt::format("{}, {} of memory and {} lane{} each", run.devices.size(),
                              format_bytes(run.device_memory), run.device_lanes, run.device_lanes == 1 ? "" : "s"));
  for (auto const& device : run.devices) {
    line(device.name, fmt::format("{}: {} tasks, peak {} of {}", device.description, device.tasks,
                                  format_bytes(device.peak), format_bytes(device.limit)));
    list.push_back({{"name", device.name},
                    {"description", device.description},
                    {"memory_limit_bytes", device.limit},
                    {"memory_peak_bytes", device.peak},
                    {"tasks", device.tasks}});
  }
  line("host to devices", format_bytes(run.traffic.from_host));
  line("devices to host", format_bytes(run.traffic.to_host));
  line("device to device", format_bytes(run.traffic.between));
  value("devices", list);
  value("device_memory_bytes", run.device_memory);
  value("device_lanes", run.device_lanes);
  value("bytes_host_to_devices", run.traffic.from_host);
  value("bytes_devices_to_host", run.traffic.to_host);
  value("bytes_device_to_device", run.traffic.between);
}

void describe(Trace& trace, nlohmann::ordered_json const& values) {
  trace.configuration.emplace(trace.configuration.begin(), "program",
                              std::string(program_invocation_short_name) + " " GRANARY_VERSION_STRING);
  for (auto const& [name, value] : values.items()) {
    auto const known = std::ranges::find(trace.configuration, name, &std::pair<std::string, std::string>::first);
    if (known != trace.configuration.end()) continue;
    if (value.is_number()) {
      trace.totals.emplace_back(name == "least_bytes_read" ? least_bytes_read : name, value.get<double>());
    }
    if (value.is_string()) trace.configuration.emplace_back(name, value);
  }
}

void Report::publish(RunOptions const& options) const {
  bool const prints_json = options.json && is_standard_output(*options.json);
  if (!options.quiet && !prints_json) fmt::print("{}", text());
  if (options.json) write_text(*options.json, json());
}

}  // namespace granary::app
