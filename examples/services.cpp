// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A long run needs more than its tasks: progress, signals, and errors that name the task. Writes the Cholesky factor of
// a covariance matrix to a file. Arguments: the number of points (default 1024), the output (services.h5), and the
// limit of disk traffic in bytes per second (0: none).
//
// Try `kill -USR1 PID` while it runs, and then `kill PID`: no file is left.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>
#include <granary/progress.hpp>
#include <granary/signals.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

namespace {

constexpr std::uint64_t tile = 128;

struct Assemble {
  static constexpr bool launches_kokkos_kernels = false;
  std::uint64_t first_row, first_col;
  double length;
  template <class Exec, class Tile>
  void operator()(Exec const&, Tile k) const {
    if (length <= 0) throw granary::DataError("the length must be positive");
    for (std::size_t i = 0; i < k.extent(0); ++i) {
      for (std::size_t j = 0; j < k.extent(1); ++j) {
        double const distance = static_cast<double>(first_row + i) - static_cast<double>(first_col + j);
        k(i, j) = std::exp(-distance * distance / (2 * length * length)) + (distance == 0 ? 0.01 : 0);
      }
    }
  }
};

void factor(granary::Runtime& runtime, std::uint64_t n, std::string const& output) {
  auto L = granary::create_matrix<double>(runtime, n, n,
                                          {.part = granary::MatrixPart::Lower, .tile = tile, .output = output});
  auto const tiles = L.tiles().grid().tile_rows();
  // [progress]
  granary::Progress const bar(runtime,
                              "factoring");  // on a terminal: "factoring  120/816 tasks  95.1 tasks/s  7 s left"
  // [progress]
  for (std::uint64_t i = 0; i < tiles; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      auto const k = L.tile(i, j);
      runtime.submit("assemble", Assemble{k.first_row(), k.first_col(), 20.0}, write(k));
    }
  }
  granary::potrf(runtime, granary::Uplo::Lower, L);
  L.commit();
}

void log_progress(granary::Runtime& runtime) {
  Kokkos::View<double*, Kokkos::HostSpace> x("x", 1000);
  auto const dx = runtime.data(x);
  // [callback]
  auto const note = [](granary::ProgressFigures const& now) {
    std::printf("%.0f s: %d of %d tasks\n", now.seconds, static_cast<int>(now.tasks_done),
                static_cast<int>(now.tasks_submitted));
  };
  granary::Progress const log(runtime, "scaling", {.quiet = true, .callback = note, .callback_seconds = 60});
  // [callback]
  for (int step = 0; step < 10; ++step) runtime.submit_after("scale", Kokkos::DefaultHostExecutionSpace(), write(dx));
  runtime.wait();
}

bool names_the_task(granary::Runtime& runtime) {
  // [failure]
  auto const k = runtime.temporary<double>("covariance", tile, tile);
  runtime.submit("assemble", Assemble{0, 0, -1.0}, write(k));
  try {
    runtime.wait();
  } catch (granary::DataError const& error) {  // what the body threw
    std::printf("%s\n", error.what());
    if (auto const* const in = dynamic_cast<granary::TaskError const*>(&error)) {
      std::printf("%s, line %d\n", in->task().c_str(), static_cast<int>(in->source_line().line));
      return in->data() == std::vector<std::string>{"covariance"};
    }
  }
  // [failure]
  return false;
}

}  // namespace

// [signals]
int main(int argc, char** argv) {
  granary::SignalWatch const signals;  // first
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    granary::Runtime runtime({.host_memory = 4 << 20, .disk_bytes_per_second = argc > 3 ? std::stoull(argv[3]) : 0});
    runtime.cancel_on(signals);
    factor(runtime, argc > 1 ? std::stoull(argv[1]) : 1024, argc > 2 ? argv[2] : "services.h5");
    log_progress(runtime);
    return names_the_task(runtime) ? 0 : 1;
  } catch (granary::Interrupted const& signal) {
    return signal.status();
  } catch (std::exception const& error) {
    std::fprintf(stderr, "services: %s\n", error.what());
    return 2;
  }
}
// [signals]
