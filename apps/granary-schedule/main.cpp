// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "apps/common/print.hpp"
#include "apps/common/program.hpp"
#include "constraint_schedule.hpp"
#include "options.hpp"
#include "problem_runs.hpp"
#include "search.hpp"

namespace {

using namespace granary;
using namespace granary::detail;

void print_row(app::ProblemRuns const& problem, std::string const& what, Duration makespan) {
  fmt::print("{:<44} {:>10.4f} s {:>10.0f} GFlop/s\n", what, seconds(makespan), problem.speed(makespan) * 1e-9);
  app::flush_output();
}

struct First {
  Schedule schedule;
  std::string origin;
};

First followed(app::ProblemRuns const& problem, Schedule schedule, std::string const& origin) {
  auto const makespan = problem.follow(schedule, origin).makespan;
  return {app::with_makespan(std::move(schedule), makespan), origin};
}

Schedule resumed_schedule(std::string const& file) {
  try {
    return read_schedule(file);
  } catch (IoError const& error) {
    throw InvalidArgument(error.what());
  }
}

// The best that the scheduler static makes of the schedulers' schedules, and of the one to be resumed. Gecode starts
// from the latter or from nothing.
std::optional<First> first_schedule(app::ProblemRuns const& problem, app::Options const& options, bool print,
                                    SignalWatch const& signals) {
  std::optional<First> best;
  // Before the others, so that a file that does not fit costs no time.
  if (options.resume) best = followed(problem, resumed_schedule(*options.resume), *options.resume);
  if (options.gecode) return best;
  std::pair<Duration, std::string> fastest{Duration::max(), ""};
  for (auto const& scheduler : options.schedulers) {
    signals.check();
    auto schedule = problem.run(scheduler);
    fastest = std::min(fastest, {schedule.makespan, scheduler});
    auto first = followed(problem, std::move(schedule), scheduler);
    if (!best || first.schedule.makespan < best->schedule.makespan) best = std::move(first);
  }
  if (print) print_row(problem, "best scheduler: " + fastest.second, fastest.first);
  return best;
}

void print_bounds(app::ProblemRuns const& problem, std::uint32_t most_paths) {
  auto const bounds = problem.bounds(most_paths);
  print_row(problem, "bound by the area", bounds.area);
  print_row(problem, "bound by the critical path", bounds.critical_path);
  bool const complete = bounds.excess <= BoundOptions{}.tolerance;
  print_row(problem, complete ? "bound by both" : fmt::format("bound by both: {} paths, not all", bounds.paths),
            bounds.mixed);
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

  void show(double share, std::optional<Duration> best) {
    auto const now = std::chrono::steady_clock::now();
    if (!m_shown || now - m_last < std::chrono::milliseconds(200)) return;
    m_last = now;
    auto const speed = best ? fmt::format("{:.0f} GFlop/s", m_problem.speed(*best) * 1e-9) : "no schedule yet";
    app::say(fmt::format("\r\x1b[Ksearching  {:.0f} %  {}", 100 * share, speed));
  }

 private:
  app::ProblemRuns const& m_problem;
  bool m_shown;
  std::chrono::steady_clock::time_point m_last{};
};

struct Found {
  Schedule schedule;
  std::string how;
};

// Returns false once the search shall end.
using Progress = std::function<bool(double share, std::optional<Duration> best)>;

granary::search::SearchLimit limit_of(app::Options const& options) {
  granary::search::SearchLimit limit{.time = {}, .evaluations = options.evaluations};
  if (options.time) limit.time = std::chrono::duration<double>(*options.time);
  return limit;
}

Found anneal(app::ProblemRuns const& problem, app::Options const& options, First const& first,
             Progress const& progress) {
  auto result =
      app::search(problem, first.schedule, {.limit = limit_of(options), .seed = options.seed, .progress = progress});
  return {std::move(result.schedule), fmt::format("best of {} schedules", result.evaluations)};
}

// Empty if there is neither a first schedule nor a new one.
std::optional<Found> solve(app::ProblemRuns const& problem, app::Options const& options,
                           std::optional<First> const& first, Progress const& progress) {
  ConstraintOptions how{.limit = limit_of(options), .below = {}, .progress = progress};
  if (first) how.below = first->schedule.makespan;
  auto result = app::constraint_schedule(problem, how);
  auto const searched = fmt::format("{} nodes{}", result.nodes, result.complete ? ", the whole tree" : "");
  if (first && (!result.schedule || result.schedule->makespan >= first->schedule.makespan))
    return Found{first->schedule, "nothing shorter in " + searched};
  if (result.schedule) return Found{std::move(*result.schedule), "best of " + searched};
  return std::nullopt;
}

std::optional<Found> find(app::ProblemRuns const& problem, app::Options const& options,
                          std::optional<First> const& first, std::atomic<bool> const& stopped) {
  ProgressLine line(problem, options.quiet);
  auto const progress = [&](double share, std::optional<Duration> best) {
    line.show(share, best);
    return !stopped;
  };
  if (options.gecode) return solve(problem, options, first, progress);
  return anneal(problem, options, *first, progress);
}

void run(app::Options const& options, SignalWatch& signals) {
  app::ProblemRuns const problem(options);
  bool const printed = app::is_standard_output(options.output);
  if (!printed) {
    fmt::print("{} on {}, {} precision, {} tasks\n", problem.workload().name(), problem.platform().name,
               name_of(options.element()), problem.graph().tasks().size());
  }
  auto const first = first_schedule(problem, options, !printed, signals);
  if (!printed && first) print_row(problem, "first: " + first->origin, first->schedule.makespan);

  std::atomic<bool> stopped = false;
  auto listening = signals.listen({.on_signal = [&](Interrupted const&) { stopped = true; }});
  auto const found = find(problem, options, first, stopped);
  listening.reset();
  if (!found) {
    if (stopped) signals.check();
    auto const limit =
        options.time ? fmt::format("{} s", *options.time) : fmt::format("{} nodes", *options.evaluations);
    throw Error("Gecode found no schedule in " + limit + ": give it more, or use --method anneal for a large graph");
  }
  if (printed) {
    app::write_text(options.output, format_schedule(found->schedule));
  } else {
    print_row(problem, found->how, found->schedule.makespan);
    // A task that several workers share may end earlier than the times of one worker allow.
    if (options.inner_tile == 0) print_bounds(problem, options.bound_paths);
    write_schedule(options.output, found->schedule);
  }
  if (!stopped) return;
  if (!printed) app::say("the best schedule so far is in " + options.output + "\n");
  signals.check();
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_program("granary-schedule", [&](SignalWatch& signals) {
    if (auto const options = app::parse_options(argc, argv)) run(*options, signals);
  });
}
