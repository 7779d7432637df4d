// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the lower triangle of a generated matrix of ORDER x ORDER tiles, PASSES times each tile, under a memory limit
// of LIMIT bytes with SCHEDULER. With `update` as WORK, it updates the tiles as the first PASSES steps of a Cholesky
// factorization do, so that they go to the scratch file; with `held`, no update starts before all have been submitted.
// Used to test the memory use of a process with very many tiles and tasks. Prints the number of tasks that ran.
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/linalg.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t tile = 8;
constexpr std::uint64_t workers = 2;

struct AddUp {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Tile, class Sum>
  void operator()(Exec const&, Tile const& elements, Sum const& sum) const {
    for (std::size_t i = 0; i < elements.extent(0); ++i) sum(0) += elements(i, i);
  }
};

struct Update {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Left, class Right, class Tile>
  void operator()(Exec const&, Left const& left, Right const& right, Tile const& elements) const {
    elements(0, 0) -= left(0, 0) * right(0, 0);
  }
};

std::atomic<bool> all_submitted = false;

// Occupies a worker until all tasks have been submitted.
struct Hold {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class Tile>
  void operator()(Exec const&, Tile const&) const {
    all_submitted.wait(false);
  }
};

using Matrix = granary::FileMatrix<double>;

void read_tiles(granary::Runtime& runtime, Matrix const& a, std::uint64_t order, std::uint64_t passes) {
  std::vector<granary::Data<Kokkos::View<double*, Kokkos::HostSpace>>> sums;
  for (std::uint64_t i = 0; i < order; ++i)
    sums.push_back(runtime.data(Kokkos::View<double*, Kokkos::HostSpace>("sum", 1)));
  for (std::uint64_t i = 0; i < order; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      for (std::uint64_t pass = 0; pass < passes; ++pass)
        runtime.submit("add up", AddUp{}, read(a.tile(i, j)), read_write(sums[i]));
    }
  }
  runtime.wait();
}

void update_tiles(granary::Runtime& runtime, Matrix const& a, std::uint64_t order, std::uint64_t steps, bool hold) {
  for (std::uint64_t i = 0; hold && i < workers; ++i) runtime.submit("hold", Hold{}, read(a.tile(i, i)));
  for (std::uint64_t k = 0; k < steps; ++k) {
    for (std::uint64_t i = k + 1; i < order; ++i) {
      for (std::uint64_t j = k + 1; j < i; ++j)
        runtime.submit("update", Update{}, read(a.tile(i, k)), read(a.tile(j, k)), read_write(a.tile(i, j)));
    }
  }
  all_submitted = true;
  all_submitted.notify_all();
  runtime.wait();
}

std::uint64_t run(std::string const& scheduler, std::uint64_t order, std::uint64_t passes, granary::Bytes limit,
                  std::string const& work) {
  granary::Runtime runtime({.scheduler = scheduler, .workers = workers, .devices = "none", .host_memory = limit});
  Matrix const a(runtime, granary::parse_generated("random:" + std::to_string(order * tile)),
                 {.part = granary::MatrixPart::Lower, .tile = tile});
  if (work == "read")
    read_tiles(runtime, a, order, passes);
  else
    update_tiles(runtime, a, order, passes, work == "held");
  return runtime.statistics().planner.tasks_run;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  Kokkos::ScopeGuard const kokkos;
  try {
    std::printf("%llu\n", static_cast<unsigned long long>(
                              run(argv[1], std::stoull(argv[2]), std::stoull(argv[3]), std::stoull(argv[4]), argv[5])));
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
