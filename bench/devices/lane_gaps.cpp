// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Idle time of an emulated device's lane between two tasks of a chain, each of which reads the result of the previous
// one: with a scheduler that issues tasks behind their predecessors, and with one that waits for the predecessors' end.
// Runs of both alternate.
#include <granary/granary.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/support/measure.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace granary;
using Clock = std::chrono::steady_clock;

struct Span {
  Clock::time_point begin, end;
};

struct Spin {
  static constexpr bool launches_kokkos_kernels = false;
  Span* span;
  std::chrono::microseconds duration;
  template <class Exec, class X>
  void operator()(Exec const&, X) const {
    span->begin = Clock::now();
    while (Clock::now() - span->begin < duration) continue;
    span->end = Clock::now();
  }
};

// Microseconds between the end of a task and the start of the next, sorted.
std::vector<double> gaps(std::string const& scheduler, std::size_t tasks, std::chrono::microseconds duration) {
  Kokkos::View<double*, Kokkos::HostSpace> x("x", 1);
  std::vector<Span> spans(tasks);
  Runtime runtime({.scheduler = scheduler, .workers = 0, .devices = "host:1", .device_lanes = 1, .models = "off"});
  auto const data = runtime.data(x);
  for (auto& span : spans) runtime.submit("spin", Spin{&span, duration}, read_write(data));
  runtime.wait();
  std::vector<double> between;
  for (std::size_t i = 1; i < tasks; ++i) {
    between.push_back(std::chrono::duration<double, std::micro>(spans[i].begin - spans[i - 1].end).count());
  }
  std::ranges::sort(between);
  return between;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Gaps between the tasks of a chain on a lane of an emulated device");
  std::size_t tasks = 2000;
  int repeat = 5;
  std::vector<int> durations{50, 200, 1000};
  std::string csv;
  app.add_option("--tasks", tasks, "tasks in a chain")->check(CLI::Range(2, 1000000))->capture_default_str();
  app.add_option("--microseconds", durations, "duration of a task")
      ->check(CLI::Range(1, 1000000))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--repeat", repeat, "runs of each kind")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--csv", csv, "file for the results");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::string rows = "task_us,issued,median_gap_us,p90_gap_us\n";
  for (int const duration : durations) {
    std::vector<std::vector<double>> medians(2), p90s(2);
    for (int run = 0; run < repeat; ++run) {
      for (std::size_t kind = 0; kind < 2; ++kind) {
        auto const found = gaps(kind == 0 ? "eager" : "prio", tasks, std::chrono::microseconds(duration));
        medians[kind].push_back(found[found.size() / 2]);
        p90s[kind].push_back(found[found.size() * 9 / 10]);
      }
    }
    for (std::size_t kind = 0; kind < 2; ++kind) {
      rows += fmt::format("{},{},{:.1f},{:.1f}\n", duration, kind == 0 ? "behind" : "after",
                          bench::median(medians[kind]), bench::median(p90s[kind]));
    }
  }
  fmt::print("{}", rows);
  return bench::exit_status("lane_gaps", [&] { bench::CsvFile(csv, rows); });
}
