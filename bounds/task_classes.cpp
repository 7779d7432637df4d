// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/task_classes.hpp>
#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace granary {

namespace {

// The times of one task type on every worker.
std::vector<double> times_on_workers(detail::Codelet const& codelet, double flops, detail::Machine const& machine,
                                     detail::KernelTime const& kernel_time) {
  if (!(flops >= 0) || std::isinf(flops)) {
    throw InvalidArgument("a task of codelet '" + codelet.name + "' has " + std::to_string(flops) + " operations");
  }
  std::vector<double> times;
  bool somebody = false;
  for (auto const& worker : machine.workers) {
    auto const time = kernel_time(codelet, flops, worker);
    if (time && *time < Duration(0)) {
      throw InvalidArgument("codelet '" + codelet.name + "' has a negative time, " + std::to_string(time->count()) +
                            " ns, on worker '" + worker.name + "'");
    }
    somebody = somebody || time.has_value();
    times.push_back(time ? static_cast<double>(time->count()) : TaskClass::cannot_run);
  }
  if (!somebody) throw InvalidArgument("no worker of the machine can run codelet '" + codelet.name + "'");
  return times;
}

double rounded_down(double value, int bits) {
  int exponent = 0;
  double const mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, bits)), exponent - bits);
}

}  // namespace

double TaskClass::fastest() const {
  double least = std::numeric_limits<double>::infinity();
  for (double const time : times) {
    if (time != cannot_run) least = std::min(least, time);
  }
  return least;
}

TaskClasses::TaskClasses(detail::GraphRecorder const& graph, detail::Machine const& machine,
                         detail::KernelTime const& kernel_time) {
  std::map<std::pair<std::uint32_t, double>, std::uint32_t> types;
  std::vector<std::vector<double>> times;  // by type, by worker
  for (auto const& task : graph.tasks()) {
    // NaN as a key would never be found.
    auto const flops = std::isnan(task.flops) ? -1.0 : task.flops;
    auto const [type, is_new] =
        types.try_emplace({task.codelet.value(), flops}, static_cast<std::uint32_t>(classes.size()));
    if (is_new) {
      classes.emplace_back();
      times.push_back(times_on_workers(graph.codelets()[task.codelet.index()], task.flops, machine, kernel_time));
    }
    class_of.push_back(type->second);
    classes[type->second].tasks += 1;
  }
  std::map<std::vector<double>, std::size_t> columns;  // equal workers
  for (std::size_t w = 0; w < machine.workers.size(); ++w) {
    std::vector<double> column;
    for (auto const& row : times) column.push_back(row[w]);
    auto const [found, is_new] = columns.try_emplace(std::move(column), workers.size());
    if (is_new) {
      workers.push_back(0);
      for (std::size_t type = 0; type < classes.size(); ++type) classes[type].times.push_back(times[type][w]);
    }
    workers[found->second] += 1;
  }
}

void TaskClasses::coarsen(std::size_t most) {
  for (int bits = 12; classes.size() > most && bits > 0; --bits) merge_alike(bits);
}

void TaskClasses::merge_alike(int bits) {
  std::map<std::vector<double>, std::uint32_t> merged;  // by times
  std::vector<TaskClass> coarse;
  std::vector<std::uint32_t> coarse_of;  // by class
  for (auto const& task_class : classes) {
    std::vector<double> times;
    for (double const time : task_class.times) {
      times.push_back(time == TaskClass::cannot_run ? time : rounded_down(time, bits));
    }
    auto const [found, is_new] = merged.try_emplace(times, static_cast<std::uint32_t>(coarse.size()));
    if (is_new) coarse.push_back({.times = std::move(times), .tasks = 0, .paths = {}});
    coarse[found->second].tasks += task_class.tasks;
    coarse_of.push_back(found->second);
  }
  classes = std::move(coarse);
  for (auto& task : class_of) task = coarse_of[task];
}

std::uint32_t TaskClasses::add_path(std::vector<std::size_t> const& tasks) {
  auto const path = paths++;
  std::map<std::uint32_t, std::uint32_t> part_of;  // by former class
  for (auto const task : tasks) {
    auto const former = class_of[task];
    auto const [part, is_new] = part_of.try_emplace(former, static_cast<std::uint32_t>(classes.size()));
    if (is_new) {
      TaskClass on_path = classes[former];
      on_path.tasks = 0;
      on_path.paths.push_back(path);
      classes.push_back(std::move(on_path));
    }
    class_of[task] = part->second;
    classes[former].tasks -= 1;
    classes[part->second].tasks += 1;
  }
  return path;
}

}  // namespace granary
