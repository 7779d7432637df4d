// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cholesky of a matrix that processes of MPI generate, tile by tile in their own memories. Prints one line of JSON: the
// best time, the bytes that were sent, those that the algorithm implies, and a hash of all bits of the factor.
// bench/distributed/mpi.py makes a CSV of such lines.
#include "bench/distributed/mpi_process.hpp"

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/cholesky.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

namespace {

using namespace granary;
using namespace granary::detail;

struct Case {
  std::uint64_t n = 8192;
  std::uint64_t tile = 512;
  std::uint32_t workers = 1;
  std::string grid;
  std::string scheduler = "prio";
  int repeats = 3;
};

struct TileCall {
  TileShape shape;
  std::uint64_t n, row, col;
  std::atomic<std::uint64_t>* hash;
};

void run_generate(KernelCall const& call) {
  auto const& p = detail::parameters_of<TileCall>(call);
  auto const a = detail::output_tile<double>(call, 0, p.shape);
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i < a.rows; ++i)
      a(i, j) = spd_entry(p.n, 1, p.row + static_cast<std::uint64_t>(i), p.col + static_cast<std::uint64_t>(j));
  }
}
// Adds a hash of the bits of the lower triangle: the order of the tiles does not matter.
void run_hash(KernelCall const& call) {
  auto const& p = detail::parameters_of<TileCall>(call);
  auto const a = detail::input_tile<double>(call, 0, p.shape);
  std::uint64_t sum = 0;
  for (int j = 0; j < a.cols; ++j) {
    for (int i = p.row == p.col ? j : 0; i < a.rows; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &a(i, j), sizeof(bits));
      auto const place = (p.row + static_cast<std::uint64_t>(i)) * p.n + p.col + static_cast<std::uint64_t>(j);
      sum += (bits ^ place * 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
    }
  }
  p.hash->fetch_add(sum);
}

Distribution grid_of(std::string const& text, std::uint32_t processes) {
  if (text.empty()) return Distribution::for_processes(processes);
  std::uint32_t rows = 0, columns = 0;
  if (std::sscanf(text.c_str(), "%ux%u", &rows, &columns) != 2 || rows * columns != processes) {
    throw InvalidArgument("--grid " + text + " is not a grid of " + std::to_string(processes) + " processes");
  }
  return {rows, columns};
}

// Bytes times distinct readers, over the tiles of L that other processes read.
Bytes implied_bytes(TileGrid const& grid, Distribution const& dealt) {
  auto const tiles = grid.tile_rows();
  auto const owner = [&](std::uint64_t i, std::uint64_t j) {
    return dealt.owner({.row = static_cast<std::int32_t>(i), .column = static_cast<std::int32_t>(j)});
  };
  Bytes sum = 0;
  for (std::uint64_t k = 0; k < tiles; ++k) {
    for (std::uint64_t i = k; i < tiles; ++i) {
      std::set<ProcessId> readers;
      if (i == k) {
        for (std::uint64_t m = k + 1; m < tiles; ++m) readers.insert(owner(m, k));
      } else {
        for (std::uint64_t j = k + 1; j <= i; ++j) readers.insert(owner(i, j));
        for (std::uint64_t m = i; m < tiles; ++m) readers.insert(owner(m, i));
      }
      readers.erase(owner(i, k));
      sum += readers.size() * grid.elements_in(i, k) * sizeof(double);
    }
  }
  return sum;
}

void measure(Case const& options) {
  MpiTransport transport(MPI_COMM_WORLD);
  auto const dealt = grid_of(options.grid, transport.count());
  BlasLimit const blas(1);
  bench::Process process(transport, dealt, options.workers, Bytes{3} * options.n * options.n * sizeof(double) + 64_MiB,
                         options.scheduler);
  Codelet generate{.name = "generate", .kernels = {run_generate, nullptr}, .launches_kokkos_kernels = false};
  Codelet hash{.name = "hash", .kernels = {run_hash, nullptr}, .launches_kokkos_kernels = false};
  TaskEmitter tasks(process.submitter());
  TileGrid const grid(options.n, options.n, options.tile);
  auto const a = make_temporary_matrix<double>(process.submitter(), grid, MatrixPart::Lower, "A");
  std::atomic<std::uint64_t> bits = 0;
  auto const each_tile = [&](auto&& function) {
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      for (std::uint64_t j = 0; j <= i; ++j) {
        function(i, j, TileCall{a(i, j).shape(), options.n, grid.first(i), grid.first(j), &bits});
      }
    }
  };
  double best = 0;
  Bytes sent_once = 0;
  for (int r = 0; r < options.repeats; ++r) {
    each_tile([&](auto i, auto j, TileCall const& call) {
      tasks.at(i, j).emit(generate, {detail::write(a(i, j))}, 0, 0, call);
    });
    process.wait();
    auto const before = transport.sent();
    auto const start = std::chrono::steady_clock::now();
    potrf(tasks, a);
    process.wait();
    auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (r == 0 || seconds < best) best = seconds;
    sent_once = transport.sent() - before;
  }
  each_tile(
      [&](auto i, auto j, TileCall const& call) { tasks.at(i, j).emit(hash, {detail::read(a(i, j))}, 0, 0, call); });
  process.wait();
  auto const of_all = [](std::uint64_t ours) {
    std::uint64_t sum = 0;
    MPI_Allreduce(&ours, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  // The transport's thread calls MPI meanwhile: MPI_THREAD_MULTIPLE.
  auto const all_bits = of_all(bits), all_sent = of_all(sent_once);
  auto const cube = static_cast<double>(options.n) * static_cast<double>(options.n) * static_cast<double>(options.n);
  if (transport.self() != ProcessId(0)) return;
  char hex[20];
  std::snprintf(hex, sizeof(hex), "%016llx", static_cast<unsigned long long>(all_bits));
  nlohmann::ordered_json const line{{"processes", transport.count()},
                                    {"grid", std::to_string(dealt.rows()) + "x" + std::to_string(dealt.columns())},
                                    {"workers", options.workers},
                                    {"n", options.n},
                                    {"tile", options.tile},
                                    {"scheduler", options.scheduler},
                                    {"seconds", best},
                                    {"gflops", cube / 3 / best * 1e-9},
                                    {"sent_bytes", all_sent},
                                    {"implied_bytes", implied_bytes(grid, dealt)},
                                    {"factor", hex}};
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Case options;
  CLI::App app("Cholesky of a generated matrix on processes of MPI; one line of JSON.");
  app.add_option("--n", options.n)->check(CLI::Range(1, 1 << 20));
  app.add_option("--tile", options.tile)->check(CLI::Range(1, 32768));
  app.add_option("--workers", options.workers, "of each process")->check(CLI::Range(1, 1024));
  app.add_option("--grid", options.grid, "PxQ");
  app.add_option("--scheduler", options.scheduler);
  app.add_option("--repeat", options.repeats)->check(CLI::Range(1, 1000));
  return bench::run_program(argc, argv, app, [&] { measure(options); });
}
