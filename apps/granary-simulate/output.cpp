// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/platform.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/load_bounds.hpp>
#include <granary/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "apps/common/print.hpp"
#include "apps/simulation/make_workload.hpp"

namespace granary::app {

using namespace detail;

namespace {

std::string gibibytes(Bytes bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(1_GiB));
}
std::string gibibytes_or_none(Bytes bytes) { return bytes == 0 ? "-" : gibibytes(bytes); }
std::string gigaflops(double flops_per_second) {
  return flops_per_second > 0 && std::isfinite(flops_per_second) ? fmt::format("{:.0f}", flops_per_second * 1e-9) : "-";
}

std::string format_memory(Bytes memory) { return memory >= unbounded ? "unbounded" : format_bytes(memory); }

constexpr auto line =
    "{:>4} {:>4} {:>5} {:>5} {:>11}  {:<{}} {:<7} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} "
    "{:>9} {:>6} {:>8}\n";

double idle_share(Result const& r) {
  auto const workers = (r.device_workers + r.cpus) * (r.grid ? r.grid->processes() : 1);
  return r.figures.seconds > 0 && workers > 0 ? r.figures.idle_seconds / r.figures.seconds / workers : 0;
}

nlohmann::ordered_json json_of(Result const& r) {
  auto const& f = r.figures;
  auto const finite = [](double value) { return std::isfinite(value) ? nlohmann::ordered_json(value) : nullptr; };
  return {{"platform", r.platform},
          {"algorithm", r.algorithm},
          {"tiles", r.tiles},
          {"tile", r.tile},
          {"precision", letter_of(r.precision)},
          {"scheduler", r.scheduler},
          {"eviction", r.eviction},
          {"devices", r.devices},
          {"memory_bytes", r.memory},
          {"seconds", f.seconds},
          {"gflops", r.flops_per_second() * 1e-9},
          {"upper_bound_gflops", finite(r.upper_bound_flops * 1e-9)},
          {"bytes_host_to_device", f.host_to_device},
          {"bytes_device_to_device", f.device_to_device},
          {"bytes_device_to_host", f.device_to_host},
          {"bytes_total", f.total},
          {"evictions", f.evictions},
          {"reloads", f.reloads},
          {"io_bound_bytes", r.io_bound},
          {"compulsory_bytes", r.compulsory},
          {"tasks", r.tasks},
          {"wall_seconds", f.wall_seconds},
          {"cpus", r.cpus},
          {"depth", r.depth},
          {"working_set_bytes", r.working_set},
          {"n", r.n},
          {"bus_limit_bytes", r.bus_limit},
          {"idle_seconds", f.idle_seconds},
          {"decision_seconds", f.decision_seconds},
          {"seeds", r.seeds},
          {"seconds_min", r.seconds_min},
          {"seconds_mean", r.seconds_mean},
          {"seconds_max", r.seconds_max},
          {"processes", r.grid ? r.grid->processes() : 1},
          {"grid", r.grid ? fmt::format("{}x{}", r.grid->rows(), r.grid->columns()) : "1x1"},
          {"bytes_sent", f.sent()},
          {"values_sent", f.values_sent()},
          {"messages", f.messages},
          {"booked_bytes_peak", f.booking.peak},
          {"submission_sleeps", f.booking.sleeps},
          {"submission_slept_seconds", f.booking.seconds},
          {"upper_bound_excess", finite(r.upper_bound_excess)},
          {"graph", r.graph.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(r.graph)},
          {"loaded", fmt::format("{}", fmt::join(r.loaded, ","))}};
}

std::string csv_value(nlohmann::ordered_json const& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_field(value.get<std::string>()) : value.dump();
}

}  // namespace

std::string table_header(std::size_t widest) {
  return fmt::format(line, "gpus", "cpus", "tiles", "tile", "memory", "scheduler", widest, "evict", "seconds",
                     "GFlop/s", "bound", "in GiB", "peer GiB", "back GiB", "evicted", "reloads", "idle", "least GiB",
                     "ratio", "wall s");
}

std::string table_row(Result const& r, std::size_t widest) {
  auto const& f = r.figures;
  auto const ratio = r.ratio();
  auto row = fmt::format(
      line, r.devices, r.cpus, r.tiles, r.tile, format_memory(r.memory), r.scheduler, widest, r.eviction,
      fmt::format("{:.4f}", f.seconds), gigaflops(r.flops_per_second()), gigaflops(r.upper_bound_flops),
      gibibytes(f.host_to_device), gibibytes(f.device_to_device), gibibytes(f.device_to_host), f.evictions, f.reloads,
      fmt::format("{:.1f}%", 100 * idle_share(r)), gibibytes_or_none(std::max(r.io_bound, r.compulsory)),
      ratio > 0 ? fmt::format("{:.2f}", ratio) : "-", fmt::format("{:.3f}", f.wall_seconds));
  if (r.grid) {
    row +=
        fmt::format("     {} GiB sent in {} values, {} messages\n", gibibytes(f.sent()), f.values_sent(), f.messages);
  }
  if (f.booking.sleeps > 0) {
    row += fmt::format("     submission slept {}, {:.4f} s; at most {} GiB booked\n", times(f.booking.sleeps),
                       f.booking.seconds, gibibytes(f.booking.peak));
  }
  if (f.booking.alone > 0) {
    row +=
        fmt::format("     too much stayed booked, so tasks ran one at a time, {}: raise --memory or --booking-sleep\n",
                    times(f.booking.alone));
  }
  return f.remark.empty() ? row : row + "     " + f.remark + "\n";
}

std::string format_json(std::vector<Result> const& results) {
  auto json = nlohmann::ordered_json::array();
  for (auto const& result : results) {
    auto entry = json_of(result);
    auto links = nlohmann::ordered_json::array();
    for (auto const& link : result.figures.links) {
      links.push_back({{"from", link.from}, {"to", link.to}, {"transfers", link.transfers}, {"bytes", link.bytes}});
    }
    entry["links"] = std::move(links);
    entry["counters"] = nlohmann::ordered_json::object();
    for (auto const& [name, value] : result.figures.counters) entry["counters"][name] = value;
    if (!result.figures.remark.empty()) entry["chosen"] = result.figures.remark;
    entry["seconds_of_runs"] = result.seconds_of_runs;
    if (result.grid) {
      auto rows = nlohmann::ordered_json::array();
      for (auto const& process : result.figures.processes) {
        rows.push_back({{"tasks", process.tasks},
                        {"idle_seconds", process.idle_seconds},
                        {"values_sent", process.values_sent},
                        {"bytes_sent", process.sent},
                        {"bytes_received", process.received},
                        {"evictions", process.evictions},
                        {"host_bytes_peak", process.host_peak},
                        {"booked_bytes_peak", process.booked_peak}});
      }
      entry["of_processes"] = std::move(rows);
    }
    json.push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

std::string format_csv(std::vector<Result> const& results) {
  std::string text;
  for (auto const& result : results) {
    auto const json = json_of(result);
    std::string header;
    std::string row;
    for (auto const& [key, value] : json.items()) {
      header += (header.empty() ? "" : ",") + key;
      row += (row.empty() ? "" : ",") + csv_value(value);
    }
    if (text.empty()) text = header + "\n";
    text += row + "\n";
  }
  return text;
}

std::string format_known() {
  return fmt::format("platforms:   {}\nalgorithms:  {}\nschedulers:  {}\nevictions:   {}\n",
                     fmt::join(Platform::known_names(), " "), fmt::join(algorithm_names(), " "),
                     fmt::join(all_scheduler_names(), " "), fmt::join(eviction_names(), " "));
}

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
