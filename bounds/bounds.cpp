// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/bounds/linear_program.hpp>
#include <granary/detail/bounds/longest_path.hpp>
#include <granary/detail/bounds/task_classes.hpp>
#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace granary {

namespace {

// The linear program of the mixed bound (of the area bound, while there are no paths): minimise T with, for each class
// k of n_k tasks and each class c of m_c workers, x_kc >= 0 the share of k's tasks that runs on c,
//   sum_c x_kc = 1                                          for each k,
//   sum_k n_k t_kc x_kc / m_c <= T                          for each c  (a worker runs one task at a time),
//   sum_{k on P} n_k sum_c t_kc x_kc <= T                   for each P  (a path's tasks run one after the other).
// The shares of every schedule of makespan T satisfy it, so its optimum is a lower bound. Times are divided by a scale
// near the optimum because Clp's tolerances are absolute.
class MixedProgram {
 public:
  MixedProgram(TaskClasses const& tasks, double scale) : m_tasks(tasks), m_scale(scale) {
    auto const total = m_program.add_column({.cost = 1});
    auto const machine_rows = tasks.workers.size();
    m_program.rows.resize(machine_rows + tasks.paths);
    for (auto& row : m_program.rows) row = {.upper = 0, .entries = {{total, -1}}};
    for (auto const& task_class : tasks.classes) add(task_class);
    m_solution = solve(m_program);
  }

  // Computed from the duals, not from Clp's objective, so that rounding in Clp cannot make it too large: adding up the
  // rows with any multipliers l_c, l_P >= 0 of sum 1 gives T >= sum_k n_k min_c t_kc (l_c / m_c + sum_{P with k} l_P).
  [[nodiscard]] double bound() const {
    auto const rows = m_tasks.workers.size() + m_tasks.paths;
    std::vector<double> multipliers(rows);
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r) sum += multipliers[r] = std::max(0.0, -m_solution.duals[r]);
    if (sum == 0) return 0;
    double bound = 0;
    for (auto const& task_class : m_tasks.classes) {
      double on_paths = 0;
      for (auto const path : task_class.paths) on_paths += multipliers[m_tasks.workers.size() + path];
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < m_tasks.workers.size(); ++c) {
        if (task_class.times[c] == TaskClass::cannot_run) continue;
        least = std::min(least, task_class.times[c] * (multipliers[c] / m_tasks.workers[c] + on_paths));
      }
      bound += task_class.tasks * least;
    }
    return bound / sum;
  }

  // The time of a class' task, averaged over its workers in the optimum; by class.
  [[nodiscard]] std::vector<double> average_times() const {
    std::vector<double> averages;
    for (std::size_t k = 0; k < m_tasks.classes.size(); ++k) {
      double average = 0;
      auto column = m_first_column[k];
      for (double const time : m_tasks.classes[k].times) {
        if (m_tasks.classes[k].tasks == 0 || time == TaskClass::cannot_run) continue;
        average += std::clamp(m_solution.columns[column++], 0.0, 1.0) * time;
      }
      averages.push_back(average);
    }
    return averages;
  }

 private:
  void add(TaskClass const& task_class) {
    m_first_column.push_back(m_program.columns.size());
    if (task_class.tasks == 0) return;
    LinearProgram::Row all{.lower = 1, .upper = 1, .entries = {}};
    for (std::size_t c = 0; c < m_tasks.workers.size(); ++c) {
      if (task_class.times[c] == TaskClass::cannot_run) continue;
      auto const column = m_program.add_column({});
      all.entries.push_back({column, 1});
      double const load = task_class.tasks * task_class.times[c] / m_scale;
      m_program.rows[c].entries.push_back({column, load / m_tasks.workers[c]});
      for (auto const path : task_class.paths) {
        m_program.rows[m_tasks.workers.size() + path].entries.push_back({column, load});
      }
    }
    m_program.rows.push_back(std::move(all));
  }

  TaskClasses const& m_tasks;
  double m_scale;
  LinearProgram m_program;
  std::vector<std::size_t> m_first_column;  // by class
  LinearSolution m_solution;
};

detail::LongestPath fastest_path(detail::GraphRecorder const& graph, TaskClasses const& tasks) {
  std::vector<double> times;
  for (auto const& task_class : tasks.classes) times.push_back(task_class.fastest());
  return longest_path(graph, tasks.class_of, times);
}

// A scale near the optimum: a lower bound from the critical path and the work at the fastest times.
double scale_of(TaskClasses const& tasks, double path) {
  double work = 0;
  double workers = 0;
  for (auto const& task_class : tasks.classes) work += task_class.tasks * task_class.fastest();
  for (double const count : tasks.workers) workers += count;
  return std::max(path, work / workers);
}

// Each addition of doubles may round up by about 1e-16 of the value.
Duration rounded_down(double nanoseconds) {
  return Duration(static_cast<Duration::rep>(std::min(nanoseconds, 0x1p62) * (1 - 1e-12)));
}

double flops_of(detail::GraphRecorder const& graph) {
  double flops = 0;
  for (auto const& task : graph.tasks()) flops += task.flops;
  return flops;
}

}  // namespace

double TimeBounds::upper_bound_flops() const {
  if (flops == 0) return 0;
  return mixed == Duration(0) ? std::numeric_limits<double>::infinity() : flops / seconds(mixed);
}

TimeBounds time_bounds(detail::GraphRecorder const& graph, detail::Machine const& machine,
                       detail::KernelTime const& kernel_time, BoundOptions options) {
  if (options.most_paths == 0) throw InvalidArgument("the mixed bound needs at least 1 path");
  if (!(options.tolerance >= 0)) {
    throw InvalidArgument("the mixed bound's tolerance is " + std::to_string(options.tolerance) +
                          ", but must be at least 0");
  }
  TaskClasses tasks(graph, machine, kernel_time);
  TimeBounds bounds;
  bounds.flops = flops_of(graph);
  auto path = fastest_path(graph, tasks);
  tasks.coarsen(options.most_types);
  bounds.critical_path = Duration(static_cast<Duration::rep>(path.length));  // a sum of integers: exact
  double const scale = scale_of(tasks, path.length);
  if (scale == 0) return bounds;
  double best = MixedProgram(tasks, scale).bound();
  bounds.area = rounded_down(best);
  // Adds paths while one violates the program's optimum ("iterative bound"). The critical path is first, so the bound
  // is at least its length. Once no path is violated, giving each task its class' average satisfies the program of all
  // tasks and all paths.
  double enough = std::numeric_limits<double>::infinity();  // for some distribution of the work, if the area is less
  while (bounds.paths < options.most_paths && !path.tasks.empty()) {
    tasks.add_path(path.tasks);
    ++bounds.paths;
    MixedProgram const program(tasks, scale);
    best = std::max(best, program.bound());
    path = longest_path(graph, tasks.class_of, program.average_times());
    enough = std::min(enough, path.length);
    if (path.length <= best * (1 + std::max(options.tolerance, 1e-9))) break;
  }
  bounds.mixed = std::max({rounded_down(best), bounds.area, bounds.critical_path});
  bounds.excess = std::max(enough / best - 1, 0.0);
  return bounds;
}

Duration area_bound(detail::GraphRecorder const& graph, detail::Machine const& machine,
                    detail::KernelTime const& kernel_time, BoundOptions options) {
  TaskClasses tasks(graph, machine, kernel_time);
  tasks.coarsen(options.most_types);
  double const scale = tasks.classes.empty() ? 0 : scale_of(tasks, 0);
  return scale == 0 ? Duration(0) : rounded_down(MixedProgram(tasks, scale).bound());
}

Duration critical_path(detail::GraphRecorder const& graph, detail::Machine const& machine,
                       detail::KernelTime const& kernel_time) {
  TaskClasses const tasks(graph, machine, kernel_time);
  return Duration(static_cast<Duration::rep>(fastest_path(graph, tasks).length));
}

}  // namespace granary
