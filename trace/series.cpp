// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/series.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace granary {
namespace {

// Calls visit(interval, time of the task in it, time of the task), in ns, for `count` equal intervals of the run.
template <class Visit>
void spread(Trace const& trace, std::size_t count, detail::TraceTask const& task, Visit visit) {
  double const width = static_cast<double>(trace.end.time_since_epoch().count()) / static_cast<double>(count);
  auto const begin = static_cast<double>(task.begin.time_since_epoch().count());
  auto const end = std::max(static_cast<double>(task.end.time_since_epoch().count()), begin + 1);
  auto const first = static_cast<std::size_t>(std::max(begin / width, 0.0));
  for (std::size_t part = std::min(first, count - 1); part < count; ++part) {
    double const left = static_cast<double>(part) * width;
    if (left >= end) break;
    double const right = part + 1 == count ? end : left + width;
    visit(part, std::min(end, right) - std::max(begin, left), end - begin);
  }
}

}  // namespace

std::vector<double> flops_per_second(Trace const& trace, std::size_t count) {
  std::vector<double> rates(count, 0.0);
  double const width = static_cast<double>(trace.end.time_since_epoch().count()) / static_cast<double>(count);
  if (width <= 0) return rates;
  for (auto const& task : trace.tasks) {
    if (task.failed || task.flops <= 0) continue;
    spread(trace, count, task,
           [&](std::size_t part, double inside, double time) { rates[part] += task.flops * inside / time; });
  }
  for (auto& rate : rates) rate /= width * 1e-9;
  return rates;
}

std::vector<std::vector<double>> busy_workers(Trace const& trace, std::size_t count) {
  std::vector<std::vector<double>> busy(trace.processes(), std::vector<double>(count, 0.0));
  double const width = static_cast<double>(trace.end.time_since_epoch().count()) / static_cast<double>(count);
  if (width <= 0) return busy;
  for (auto const& task : trace.tasks) {
    auto& of_process = busy[trace.process_of(task.worker)];
    spread(trace, count, task,
           [&](std::size_t part, double inside, double /*time*/) { of_process[part] += inside / width; });
  }
  return busy;
}

std::size_t intervals_of_loads(Trace const& trace) {
  return std::min(std::clamp<std::size_t>(40000 / trace.processes(), 1, 2000), trace.tasks.size());
}

std::vector<std::uint32_t> transfer_rows(Trace const& trace) {
  auto const& transfers = trace.transfers;
  std::vector<std::size_t> order(transfers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t t) { return transfers[t].begin; });
  std::vector<std::uint32_t> rows(transfers.size());
  std::vector<std::vector<detail::Instant>> free_from(trace.machine.links.size());  // by link and row
  for (auto const t : order) {
    auto& link = free_from[transfers[t].link.index()];
    auto row = std::ranges::find_if(link, [&](detail::Instant instant) { return instant <= transfers[t].begin; });
    if (row == link.end()) row = link.insert(row, detail::Instant{});
    *row = transfers[t].end;
    rows[t] = static_cast<std::uint32_t>(row - link.begin());
  }
  return rows;
}

std::vector<std::uint32_t> rows_of_links(Trace const& trace, std::vector<std::uint32_t> const& rows) {
  std::vector<std::uint32_t> counts(trace.machine.links.size(), 0);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    auto& count = counts[trace.transfers[t].link.index()];
    count = std::max(count, rows[t] + 1);
  }
  return counts;
}

std::string link_name(Trace const& trace, detail::LinkId id) {
  auto const& link = trace.machine[id];
  std::string_view to = trace.machine[link.to].name;
  if (!trace.process_of_node.empty()) {
    auto const process = std::to_string(trace.process_of(link.to)) + ": ";
    if (to.starts_with(process)) to.remove_prefix(process.size());
  }
  return trace.machine[link.from].name + " -> " + std::string(to);
}

}  // namespace granary
