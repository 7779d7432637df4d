// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that grow (GrowingCholesky) on several processes, each with its limit of memory: time, and the largest of their
// peaks, as JSON. The kernels only touch memory.
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/mpi/runtime.hpp>
#include <granary/detail/workloads/growing_cholesky.hpp>
#include <granary/granary.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/distributed/mpi_process.hpp"

namespace {

struct Options {
  granary::workloads::GrowingCholesky::Options tiles{.tiles = 60, .tile = 256};
  std::string memory;
  std::vector<std::string> bookings{"none", "ours"};
  std::string scheduler = "prio";
  std::uint64_t repeat = 3;
};

nlohmann::ordered_json run(Options const& options, std::string const& booking) {
  granary::workloads::GrowingCholesky const cholesky(options.tiles);
  granary::Runtime runtime = granary::mpi::runtime(MPI_COMM_WORLD, {.scheduler = options.scheduler,
                                                                    .workers = 1U,
                                                                    .devices = "none",
                                                                    .host_memory = granary::parse_bytes(options.memory),
                                                                    .booking = booking});
  MPI_Barrier(MPI_COMM_WORLD);
  auto const start = std::chrono::steady_clock::now();
  cholesky.submit(runtime.submitter(), {});
  runtime.wait();
  std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
  auto const& planned = runtime.statistics().planner;
  std::array<std::uint64_t, 5> own{runtime.figures().host_memory_peak, planned.booking.peak, planned.booking.sleeps,
                                   planned.most_live_tasks, runtime.figures().bytes_written};
  std::array<std::uint64_t, 5> most{};
  MPI_Allreduce(own.data(), most.data(), 5, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return {{"processes", runtime.processes()},
          {"tiles", options.tiles.tiles},
          {"tile", options.tiles.tile},
          {"scheduler", options.scheduler},
          {"booking", booking},
          {"seconds", time.count()},
          {"memory_limit_bytes", runtime.options().host_memory},
          {"memory_peak_bytes", most[0]},
          {"booked_peak_bytes", most[1]},
          {"sleeps", most[2]},
          {"most_live_tasks", most[3]},
          {"bytes_written", most[4]}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Tiles that grow, on several processes with a limit of memory each");
  app.add_option("--tiles", options.tiles.tiles, "tiles per row")->capture_default_str();
  app.add_option("--tile", options.tiles.tile, "order of a tile")->capture_default_str();
  app.add_option("--memory", options.memory, "of each process, as in 100MB")->required();
  app.add_option("--booking", options.bookings, "run in turns: none, ours, paper")->capture_default_str();
  app.add_option("--scheduler", options.scheduler, "of each process")->capture_default_str();
  app.add_option("--repeat", options.repeat, "runs of each")->capture_default_str();
  return granary::bench::run_program(argc, argv, app, [&] {
    int self = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    for (std::uint64_t i = 0; i < options.repeat; ++i) {
      for (auto const& booking : options.bookings) {
        auto const line = run(options, booking);
        if (self == 0) std::printf("%s\n", line.dump().c_str());
      }
    }
  });
}
