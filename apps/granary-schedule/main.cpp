// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/workloads/bounds/bounds.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "apps/common/print.hpp"
#include "apps/common/program.hpp"
#include "options.hpp"
#include "problem_runs.hpp"
#include "search.hpp"

namespace {

using namespace granary;

void print_row(app::ProblemRuns const& problem, std::string const& what, Duration makespan) {
  fmt::print("{:<44} {:>10.4f} s {:>10.0f} GFlop/s\n", what, seconds(makespan), problem.speed(makespan) * 1e-9);
  app::flush_output();
}

struct First {
  Schedule schedule;
  std::string origin;
};

// The best of the schedulers' schedules, and of the one to be resumed.
First first_schedule(app::ProblemRuns const& problem, app::Options const& options, app::SignalWatch const& signals) {
  First best;
  for (auto const& scheduler : options.schedulers) {
    signals.check();
    auto schedule = problem.run(scheduler);
    if (best.origin.empty() || schedule.makespan < best.schedule.makespan) best = {std::move(schedule), scheduler};
  }
  if (!options.resume) return best;
  auto resumed = read_schedule(*options.resume);
  resumed.makespan = problem.follow(resumed, *options.resume).makespan;
  if (resumed.makespan < best.schedule.makespan) best = {std::move(resumed), *options.resume};
  return best;
}

void print_bounds(app::ProblemRuns const& problem) {
  auto const bounds = time_bounds(problem.graph(), problem.platform().machine,
                                  [&](Codelet const& codelet, double flops, Worker const& worker) {
                                    return problem.kernel_time(codelet, flops, worker);
                                  });
  print_row(problem, "bound by the area", bounds.area);
  print_row(problem, "bound by the critical path", bounds.critical_path);
  print_row(problem, "bound by both", bounds.mixed);
}

class ProgressLine {
 public:
  ProgressLine(app::ProblemRuns const& problem, bool quiet)
      : m_problem(problem), m_shown(!quiet && ::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() {
    if (m_shown) app::say("\r\x1b[K");
  }
  ProgressLine(ProgressLine const&) = delete;
  ProgressLine& operator=(ProgressLine const&) = delete;

  void show(double share, Duration best) {
    auto const now = std::chrono::steady_clock::now();
    if (!m_shown || now - m_last < std::chrono::milliseconds(200)) return;
    m_last = now;
    app::say(fmt::format("\r\x1b[Ksearching  {:.0f} %  {:.0f} GFlop/s", 100 * share, m_problem.speed(best) * 1e-9));
  }

 private:
  app::ProblemRuns const& m_problem;
  bool m_shown;
  std::chrono::steady_clock::time_point m_last{};
};

void run(app::Options const& options, app::SignalWatch& signals) {
  app::ProblemRuns const problem(options);
  bool const printed = app::is_standard_output(options.output);
  if (!printed) {
    fmt::print("{} on {}, {} precision, {} tasks\n", problem.workload().name(), problem.platform().name,
               options.element() == Precision::Single ? "single" : "double", problem.graph().tasks().size());
  }
  auto first = first_schedule(problem, options, signals);
  if (!printed) print_row(problem, "first: " + first.origin, first.schedule.makespan);

  std::atomic<bool> stopped = false;
  signals.on_signal([&](app::Interrupted const&) { stopped = true; });
  app::SearchOptions how{.limit = {.time = {}, .evaluations = options.evaluations}, .seed = options.seed};
  if (options.time) how.limit.time = std::chrono::duration<double>(*options.time);
  app::SearchResult result;
  {
    ProgressLine line(problem, options.quiet);
    how.progress = [&](double share, Duration best) {
      line.show(share, best);
      return !stopped;
    };
    result = app::search(problem, first.schedule, how);
  }
  signals.on_signal(nullptr);
  if (printed) {
    app::write_text(options.output, format_schedule(result.schedule));
  } else {
    print_row(problem, fmt::format("best of {} schedules", result.evaluations), result.schedule.makespan);
    print_bounds(problem);
    write_schedule(options.output, result.schedule);
  }
  if (stopped) signals.check();
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_program("granary-schedule", [&](app::SignalWatch& signals) {
    if (auto const options = app::parse_options(argc, argv)) run(*options, signals);
  });
}
