// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network of the cluster simulator against fluid max-min fairness, as SimGrid has it. A Cholesky factorization runs
// on ClusterSimulator; the same tasks on the same workers, and the same transfers, each in the recorded order, run on
// SimGrid. And patterns of transfers without tasks.
#include <granary/detail/core/base/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/support/measure.hpp"
#include "patterns.hpp"
#include "recorded_run.hpp"
#include "simgrid_network.hpp"

namespace {

using namespace granary;
using namespace granary::bench;

constexpr auto header =
    "pattern,processes,workers,tiles,tile,gb_per_s,latency_us,tasks,values,gb_sent,busy,granary_s,simgrid_s,ratio,"
    "ratio_recorded_order,ratio_asked_at_once\n";

// Prints lines, and writes them to a file if there is one.
class Table {
 public:
  explicit Table(std::string const& csv) : m_file(csv, header) { fmt::print("{}", header); }
  void add(std::string const& line) {
    fmt::print("{}", line);
    std::fflush(stdout);
    m_file.add(line);
  }

 private:
  CsvFile m_file;
};

std::string network_columns(Network const& network) {
  return fmt::format("{:g},{:g}", network.bandwidth / 1e9, seconds(network.latency) * 1e6);
}

void run_cholesky(ClusterCase const& problem, SimGridNetwork& simgrid, Table& table) {
  auto const run = record(problem);
  simgrid.set(problem.network);
  double const replayed = simgrid.replay(run, Replaying::ReadyFirst);
  double const in_order = simgrid.replay(run, Replaying::Recorded);
  double const at_once = simgrid.replay(run, Replaying::AtOnce);
  if (run.asked_after_others > 0) {
    fmt::print(stderr, "simgrid_bench: {} of {} values are asked for after events that are not replayed\n",
               run.asked_after_others, run.values.size());
  }
  table.add(fmt::format("cholesky,{},{},{},{},{},{},{},{:.3f},{:.3f},{:.6f},{:.6f},{:.4f},{:.4f},{:.4f}\n",
                        problem.processes, problem.workers, problem.tiles, problem.tile,
                        network_columns(problem.network), run.tasks.size(), run.values.size(), run.bytes_sent() / 1e9,
                        run.busy, run.makespan, replayed, run.makespan / replayed, run.makespan / in_order,
                        run.makespan / at_once));
}

void run_patterns(std::uint32_t processes, Network const& network, SimGridNetwork& simgrid, Table& table) {
  simgrid.set(network);
  for (auto const& [name, run] : patterns(processes, 8'000'000, 1)) {
    double const model = model_time(run, network);
    double const replayed = simgrid.replay(run, Replaying::Pattern);
    table.add(fmt::format("{},{},,,,{},0,{},{:.3f},,{:.6f},{:.6f},{:.4f},,\n", name, processes,
                          network_columns(network), run.values.size(), run.bytes_sent() / 1e9, model, replayed,
                          model / replayed));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Makespans of ClusterSimulator against replays with SimGrid's max-min fairness");
  std::vector<std::uint32_t> processes{4, 16, 64};
  std::vector<std::uint32_t> workers{1, 4};
  std::vector<std::uint64_t> tiles{256, 960};
  std::vector<double> bandwidths{0.5, 1.25, 5};
  std::uint64_t per_process = 16;
  std::string csv;
  app.add_option("--processes", processes, "numbers of processes, squares")->delimiter(',');
  app.add_option("--workers", workers, "workers of a process, of 50 GFlop/s each")->delimiter(',');
  app.add_option("--tile", tiles, "tile sizes")->delimiter(',');
  app.add_option("--bandwidth", bandwidths, "GB/s")->delimiter(',');
  app.add_option("--tiles-per-process", per_process, "tiles in a row of the matrix, for each column of processes");
  app.add_option("--csv", csv, "file to write");
  CLI11_PARSE(app, argc, argv);
  return exit_status("simgrid_bench", [&] {
    SimGridNetwork simgrid(*std::max_element(processes.begin(), processes.end()));
    Table table(csv);
    auto const network = [](double bandwidth) {
      return Network{.bandwidth = bandwidth * 1e9, .latency = std::chrono::microseconds(2)};
    };
    for (auto const p : processes) {
      for (auto const w : workers) {
        for (auto const tile : tiles) {
          for (auto const bandwidth : bandwidths) {
            auto const columns = static_cast<std::uint64_t>(std::lround(std::sqrt(p)));
            run_cholesky({.processes = p,
                          .workers = w,
                          .tiles = per_process * columns,
                          .tile = tile,
                          .network = network(bandwidth)},
                         simgrid, table);
          }
        }
      }
    }
    for (auto const p : processes) run_patterns(p, network(5), simgrid, table);
  });
}
