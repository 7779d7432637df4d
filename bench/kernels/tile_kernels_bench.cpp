// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GFlop/s of the Cholesky tile kernels with every worker busy on its own tiles, LAPACK's potrf with as many threads in
// the same run, and the upper bound of a tiled Cholesky with these kernels: total flops divided by the sum of the
// tasks' times per worker (no idle time, no data movement). Kernels are timed in the CPU time of their thread, which
// reduces the influence of other load. The bound's percentage is relative to LAPACK on one thread in CPU time, times
// the workers, which is at least LAPACK's rate on as many threads.

#include "bench/support/measure.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/processor_time.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;

struct Options {
  int n = 8192;
  int workers = 2;
  int repeats = 5;
  int ld = 0;
  std::vector<int> tiles{256, 384, 512, 768, 1024};
  std::string layout = "column";
  std::string csv;
};

template <class T>
constexpr char const* precision = sizeof(T) == 8 ? "double" : "float";

/// Tiles of one worker, used in turn so that operands are not in the second-level cache.
template <class T>
class TileSet {
 public:
  TileSet(int order, Options const& options)
      : m_order(order),
        m_ld(std::max(order, options.ld)),
        m_layout(options.layout == "row" ? TileLayout::RowMajor : TileLayout::ColumnMajor),
        m_entries(count * static_cast<std::size_t>(m_ld) * static_cast<std::size_t>(order)) {
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
      m_entries[i] = static_cast<T>(i * 2654435761U % 1000U) / T(1000) - T(0.5);
    }
  }

  /// The i-th tile, modulo their number.
  [[nodiscard]] TileView<T> operator[](std::size_t i) {
    auto const at = i % count * static_cast<std::size_t>(m_ld) * static_cast<std::size_t>(m_order);
    return {m_entries.data() + at, m_order, m_order, m_ld, m_layout};
  }

  /// Increases the diagonal of every tile, so that triangles are well conditioned and tiles are positive definite.
  void shift_diagonals() {
    for (std::size_t t = 0; t < count; ++t) {
      for (int i = 0; i < m_order; ++i) {
        (*this)[t](i, i) += static_cast<T>(m_order);
      }
    }
  }

 private:
  static constexpr std::size_t count = 8;
  int m_order;
  int m_ld;
  TileLayout m_layout;
  std::vector<T> m_entries;
};

template <class T>
void copy_tile(TileView<T> from, TileView<T> to) {
  for (int j = 0; j < from.cols; ++j) {
    std::memcpy(to.data + static_cast<std::ptrdiff_t>(j) * to.ld, from.data + static_cast<std::ptrdiff_t>(j) * from.ld,
                sizeof(T) * static_cast<std::size_t>(from.rows));
  }
}

/// Flops of one kernel on an m x n result with inner dimension k; trsm's and potrf's triangle has order n.
[[nodiscard]] double flops_of(std::string const& kernel, double m, double n, double k) {
  if (kernel == "gemm") {
    return 2 * m * n * k;
  }
  if (kernel == "potrf") {
    return n * n * n / 3;
  }
  return kernel == "syrk" ? n * n * k : m * n * n;
}

std::vector<std::string> const kernel_names{"gemm", "syrk", "trsm", "blas_trsm", "potrf"};

/// Seconds per call of one kernel while every worker runs it, averaged over the workers.
template <class T>
class KernelTimer {
 public:
  KernelTimer(int order, Options const& options) : m_order(order), m_workers(options.workers) {
    for (int w = 0; w < m_workers; ++w) {
      m_updated.emplace_back(order, options);
      m_left.emplace_back(order, options);
      m_diagonal.emplace_back(order, options);
      m_diagonal.back().shift_diagonals();
    }
  }

  [[nodiscard]] double seconds_per_call(std::string const& kernel) {
    double const flops = flops_of(kernel, m_order, m_order, m_order);
    auto const calls = std::max<std::size_t>(4, static_cast<std::size_t>(4e9 * 8 / sizeof(T) / flops));
    std::barrier start(m_workers);
    std::vector<double> seconds(static_cast<std::size_t>(m_workers));
    std::vector<std::thread> threads;
    for (std::size_t w = 0; w < seconds.size(); ++w) {
      threads.emplace_back([&, w] {
        call(kernel, w, 0);
        start.arrive_and_wait();
        seconds[w] = 0;
        for (std::size_t i = 1; i <= calls; ++i) {
          seconds[w] += call(kernel, w, i);
        }
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    double sum = 0;
    for (double s : seconds) {
      sum += s;
    }
    return sum / static_cast<double>(calls) / m_workers;
  }

 private:
  /// Runs the kernel as in the lower Cholesky; returns its seconds, without restoring its operand.
  double call(std::string const& kernel, std::size_t w, std::size_t i) {
    auto const a = m_left[w][i], other = m_left[w][i + 3], l = m_diagonal[w][i], c = m_updated[w][i];
    bool const solves = kernel == "trsm" || kernel == "blas_trsm";
    if (kernel == "potrf" || solves) {
      copy_tile(kernel == "potrf" ? l : a, c);
    }
    double const begin = processor_seconds();
    if (kernel == "gemm") {
      kernels::gemm(Op::NoTrans, Op::Trans, T(-1), a, other, T(1), c);
    } else if (kernel == "syrk") {
      kernels::syrk(Uplo::Lower, Op::NoTrans, T(-1), a, T(1), c);
    } else if (kernel == "trsm") {
      kernels::trsm(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, T(1), l, c);
    } else if (kernel == "blas_trsm") {
      bool const rows = c.layout == TileLayout::RowMajor;
      blas::trsm(rows ? Side::Left : Side::Right, rows ? Uplo::Upper : Uplo::Lower, Op::Trans, Diag::NonUnit, m_order,
                 m_order, T(1), l.data, l.ld, c.data, c.ld);
    } else if (kernels::potrf(Uplo::Lower, c) != 0) {
      throw std::runtime_error("the benchmark's tile is not positive definite");
    }
    return processor_seconds() - begin;
  }

  int m_order;
  int m_workers;
  std::vector<TileSet<T>> m_updated, m_left, m_diagonal;
};

/// GFlop/s of LAPACK's potrf on an n x n matrix: elapsed time for several BLAS threads, CPU time for one.
template <class T>
[[nodiscard]] double lapack_gflops(Options const& options, int threads) {
  int const n = options.n;
  std::vector<T> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), T(0.25));
  for (std::size_t i = 0; i < a.size(); i += static_cast<std::size_t>(n) + 1) {
    a[i] = static_cast<T>(n);
  }
  set_blas_threads(threads);
  auto const begin = std::chrono::steady_clock::now();
  double const cpu_begin = processor_seconds();
  if (blas::potrf(Uplo::Lower, n, a.data(), n) != 0) {
    throw std::runtime_error("the benchmark's matrix is not positive definite");
  }
  double const cpu = processor_seconds() - cpu_begin;
  std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - begin;
  set_blas_threads(1);
  return flops_of("potrf", n, n, n) / (threads == 1 ? cpu : elapsed.count()) / 1e9;
}

/// Best GFlop/s of a tiled Cholesky of order n whose kernels run at these rates.
[[nodiscard]] double model_bound(int n, int tile, int workers, std::map<std::string, double> const& gflops) {
  std::map<std::string, double> flops;
  auto const order = [&](int i) { return static_cast<double>(std::min(tile, n - i * tile)); };
  int const tiles = (n + tile - 1) / tile;
  for (int k = 0; k < tiles; ++k) {
    flops["potrf"] += flops_of("potrf", order(k), order(k), order(k));
    for (int m = k + 1; m < tiles; ++m) {
      flops["trsm"] += flops_of("trsm", order(m), order(k), order(k));
      flops["syrk"] += flops_of("syrk", order(m), order(m), order(k));
      for (int j = k + 1; j < m; ++j) {
        flops["gemm"] += flops_of("gemm", order(m), order(j), order(k));
      }
    }
  }
  double total = 0, seconds = 0;
  for (auto const& [kernel, count] : flops) {
    total += count;
    seconds += count / gflops.at(kernel);
  }
  return total / seconds * workers;
}

template <class T>
void measure(Options const& options, std::FILE* csv) {
  double lapack = 0, lapack_per_worker = 0;
  for (int r = 0; r < options.repeats; ++r) {
    lapack = std::max(lapack, lapack_gflops<T>(options, options.workers));
    lapack_per_worker = std::max(lapack_per_worker, lapack_gflops<T>(options, 1));
  }
  fmt::print("{:6} LAPACK potrf n={}: {:.1f} on {} threads, {:.1f} on one in CPU time\n", precision<T>, options.n,
             lapack, options.workers, lapack_per_worker);
  for (int tile : options.tiles) {
    KernelTimer<T> timer(tile, options);
    std::map<std::string, std::vector<double>> seconds;
    for (int r = 0; r < options.repeats; ++r) {
      for (auto const& kernel : kernel_names) {
        seconds[kernel].push_back(timer.seconds_per_call(kernel));
      }
    }
    std::map<std::string, double> gflops;
    for (auto const& kernel : kernel_names) {
      gflops[kernel] = flops_of(kernel, tile, tile, tile) / bench::median(seconds[kernel]) / 1e9;
    }
    double const bound = model_bound(options.n, tile, options.workers, gflops);
    fmt::print("{:6} {:6} tile {:4}:", precision<T>, options.layout, tile);
    for (auto const& kernel : kernel_names) {
      fmt::print("  {} {:5.1f}", kernel, gflops[kernel]);
      if (csv != nullptr) {
        fmt::print(csv, "{},{},{},{},{},{:.1f}\n", precision<T>, options.layout, tile, options.workers, kernel,
                   gflops[kernel]);
      }
    }
    fmt::print("  | bound {:.1f}: {:.1f} %\n", bound, 100 * bound / (lapack_per_worker * options.workers));
    if (csv != nullptr) {
      fmt::print(csv, "{},{},{},{},cholesky_bound,{:.1f}\n", precision<T>, options.layout, tile, options.workers,
                 bound);
    }
  }
  if (csv != nullptr) {
    fmt::print(csv, "{0},column,{1},{2},lapack_potrf,{3:.1f}\n{0},column,{1},1,lapack_potrf,{4:.1f}\n", precision<T>,
               options.n, options.workers, lapack, lapack_per_worker);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app{"GFlop/s per worker of the Cholesky tile kernels, all workers busy"};
  app.add_option("--n", options.n, "order of the matrix for LAPACK and the bound");
  app.add_option("--workers", options.workers, "threads");
  app.add_option("--repeats", options.repeats, "number of measurements; the median is reported");
  app.add_option("--tiles", options.tiles, "tile sizes");
  app.add_option("--ld", options.ld, "leading dimension of the tiles, in entries, if larger than their order");
  app.add_option("--layout", options.layout, "column or row")->check(CLI::IsMember({"column", "row"}));
  app.add_option("--csv", options.csv, "file for the figures");
  CLI11_PARSE(app, argc, argv);

  Kokkos::ScopeGuard const kokkos;
  set_blas_threads(1);
  std::FILE* csv = options.csv.empty() ? nullptr : std::fopen(options.csv.c_str(), "w");
  if (!options.csv.empty() && csv == nullptr) {
    throw std::runtime_error("cannot write " + options.csv);
  }
  fmt::print("{}\n", find_blas_library().text);
  if (csv != nullptr) {
    fmt::print(csv, "# {}\nprecision,layout,tile,workers,kernel,gflops\n", find_blas_library().text);
  }
  measure<double>(options, csv);
  measure<float>(options, csv);
  if (csv != nullptr) {
    std::fclose(csv);
  }
  return 0;
} catch (std::exception const& error) {
  fmt::print(stderr, "tile_kernels_bench: {}\n", error.what());
  return 1;
}
