// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GFlop/s of the kernels of tile QR on one thread, of GEMM on tiles of the same size, and of LAPACK's geqrt, tpqrt and
// their products with the same inner block. Flops are those of square tiles without the inner block's: 4/3, 2, 2, 4,
// 2/3 and 2 n^3. Each figure is the best of some repeats, in the CPU time of the thread.

#include "bench/support/measure.hpp"

#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/linalg/kernels/processor_time.hpp>
#include <granary/detail/linalg/kernels/qr_kernels.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;
using Complex64 = Kokkos::complex<float>;
using Complex128 = Kokkos::complex<double>;

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and prefixes of names.
#define GRANARY_DECLARE_QR(T, p)                                                                                     \
  void p##geqrt_(int const*, int const*, int const*, T*, int const*, T*, int const*, T*, int*);                      \
  void p##gemqrt_(char const*, char const*, int const*, int const*, int const*, int const*, T const*, int const*,    \
                  T const*, int const*, T*, int const*, T*, int*, std::size_t, std::size_t);                         \
  void p##tpqrt_(int const*, int const*, int const*, int const*, T*, int const*, T*, int const*, T*, int const*, T*, \
                 int*);                                                                                              \
  void p##tpmqrt_(char const*, char const*, int const*, int const*, int const*, int const*, int const*, T const*,    \
                  int const*, T const*, int const*, T*, int const*, T*, int const*, T*, int*, std::size_t,           \
                  std::size_t);
extern "C" {
GRANARY_DECLARE_QR(float, s)
GRANARY_DECLARE_QR(double, d)
GRANARY_DECLARE_QR(Complex64, c)
GRANARY_DECLARE_QR(Complex128, z)
}

namespace {

// LAPACK's names for square tiles of order n with triangles of order ib, Q^H from the left.
#define GRANARY_DEFINE_QR(T, p, adjoint)                                                             \
  void lapack_geqrt(int n, int ib, T* a, T* t, T* work) {                                            \
    int info = 0;                                                                                    \
    p##geqrt_(&n, &n, &ib, a, &n, t, &ib, work, &info);                                              \
  }                                                                                                  \
  void lapack_gemqrt(int n, int ib, T const* v, T const* t, T* c, T* work) {                         \
    int info = 0;                                                                                    \
    p##gemqrt_("L", adjoint, &n, &n, &n, &ib, v, &n, t, &ib, c, &n, work, &info, 1, 1);              \
  }                                                                                                  \
  void lapack_tpqrt(int n, int l, int ib, T* r, T* a, T* t, T* work) {                               \
    int info = 0;                                                                                    \
    p##tpqrt_(&n, &n, &l, &ib, r, &n, a, &n, t, &ib, work, &info);                                   \
  }                                                                                                  \
  void lapack_tpmqrt(int n, int l, int ib, T const* v, T const* t, T* c1, T* c2, T* work) {          \
    int info = 0;                                                                                    \
    p##tpmqrt_("L", adjoint, &n, &n, &n, &l, &ib, v, &n, t, &ib, c1, &n, c2, &n, work, &info, 1, 1); \
  }
GRANARY_DEFINE_QR(float, s, "T")
GRANARY_DEFINE_QR(double, d, "T")
GRANARY_DEFINE_QR(Complex64, c, "C")
GRANARY_DEFINE_QR(Complex128, z, "C")
// NOLINTEND(bugprone-macro-parentheses)

struct Options {
  int repeats = 7;
  std::vector<int> tiles{256, 512};
  std::vector<int> inner_blocks{32, 64, 128};
  std::string precisions = "sdcz";
  std::string csv;
};

// Seconds of a call: the shortest mean of some calls in a row, after one that is not measured.
template <class Call>
[[nodiscard]] double shortest(int repeats, Call const& call) {
  call();
  double best = 1e9;
  for (int r = 0; r < repeats; ++r) {
    int calls = 0;
    double const begin = processor_seconds();
    double passed = 0;
    for (; passed < 0.03; passed = processor_seconds() - begin, ++calls) call();
    best = std::min(best, passed / calls);
  }
  return best;
}

constexpr std::array<std::pair<char const*, double>, 6> kernels_and_flops{
    {{"geqrt", 4.0 / 3}, {"unmqr", 2}, {"tsqrt", 2}, {"tsmqr", 4}, {"ttqrt", 2.0 / 3}, {"ttmqr", 2}}};

// Tiles of one size, and what is in them before a factorization.
template <class T>
struct Tiles {
  int n, ib;
  TileLayout layout;
  std::vector<T> full, upper, r, a, t, c1, c2, workspace;

  Tiles(int order, int block, TileLayout tiles_layout) : n(order), ib(block), layout(tiles_layout) {
    auto const count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::mt19937 generator(1);
    for (auto* tile : {&full, &upper, &c1, &c2}) {
      tile->resize(count);
      for (auto& entry : *tile)
        entry = T(static_cast<RealOf<T>>(static_cast<double>(generator()) / 4294967296.0 - 0.5));
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) view(upper)(i, j) = T(0);
      view(upper)(i, i) += T(3);
    }
    a = full;
    r = upper;
    t.resize(static_cast<std::size_t>(ib) * static_cast<std::size_t>(n));
    workspace.resize(std::max(kernels::qr_factor_workspace<T>(n, n, ib), kernels::qr_apply_workspace<T>(n, ib)));
  }
  [[nodiscard]] TileView<T> view(std::vector<T>& tile) const { return {tile.data(), n, n, n, layout}; }
  [[nodiscard]] TileView<T> triangles() { return {t.data(), ib, n, ib}; }
  void reset(std::vector<T> const& values) {
    a = values;
    r = upper;
  }

  // A kernel of granary's; a factorization begins with a copy.
  void call(std::string const& kernel) {
    T* const work = workspace.data();
    if (kernel == "gemm")
      return kernels::gemm<T>(Op::NoTrans, Op::NoTrans, T(RealOf<T>(0.001)), view(full), view(a), T(0.5), view(c1));
    if (kernel == "geqrt") return reset(full), kernels::geqrt(view(a), triangles(), work);
    if (kernel == "tsqrt") return reset(full), kernels::tsqrt(view(r), view(a), triangles(), work);
    if (kernel == "ttqrt") return reset(upper), kernels::ttqrt(view(r), view(a), triangles(), work);
    auto const op = Op::ConjTrans;
    if (kernel == "unmqr") return kernels::unmqr(Side::Left, op, view(a), triangles(), view(c1), work);
    if (kernel == "tsmqr") return kernels::tsmqr(Side::Left, op, view(a), triangles(), view(c1), view(c2), work);
    kernels::ttmqr(Side::Left, op, view(a), triangles(), view(c1), view(c2), work);
  }
  void call_lapack(std::string const& kernel) {
    T* const work = workspace.data();
    int const l = kernel.starts_with("tt") ? n : 0;
    if (kernel == "geqrt") return reset(full), lapack_geqrt(n, ib, a.data(), t.data(), work);
    if (kernel == "unmqr") return lapack_gemqrt(n, ib, a.data(), t.data(), c1.data(), work);
    if (kernel.ends_with("mqr")) return lapack_tpmqrt(n, l, ib, a.data(), t.data(), c1.data(), c2.data(), work);
    reset(l > 0 ? upper : full);
    lapack_tpqrt(n, l, ib, r.data(), a.data(), t.data(), work);
  }
};

template <class T>
void measure(Options const& options, int n, int ib, TileLayout layout, bench::CsvFile& csv) {
  Tiles<T> tiles(n, ib, layout);
  double const cube = flops_per_fma<T> / 2 * n * n * n * 1e-9;
  double const copies = shortest(options.repeats, [&] { tiles.reset(tiles.full); });
  std::string const shape = layout == TileLayout::RowMajor ? "row" : "column";
  auto const print = [&](std::string const& library, std::string const& kernel, double gflops) {
    fmt::print("  {} {:5.1f}", kernel, gflops);
    csv.add(fmt::format("{},{},{},{},{},{},{:.1f}\n", precision_letter<T>, n, ib, shape, library, kernel, gflops));
  };
  auto const print_all = [&](std::string const& library, auto const& call) {
    for (auto const& [kernel, flops] : kernels_and_flops) {
      double const seconds = shortest(options.repeats, [&, name = kernel] { call(name); });
      bool const copied = std::string(kernel).ends_with("qrt");
      print(library, kernel, flops * cube / (seconds - (copied ? copies : 0)));
    }
    fmt::print("\n");
  };
  fmt::print("{} {:4} ib {:3} {:6} granary:", precision_letter<T>, n, ib, shape);
  print("granary", "gemm", 2 * cube / shortest(options.repeats, [&] { tiles.call("gemm"); }));
  print_all("granary", [&](char const* kernel) { tiles.call(kernel); });
  if (layout == TileLayout::RowMajor) return;
  fmt::print("{} {:4} ib {:3} {:6} LAPACK:             ", precision_letter<T>, n, ib, shape);
  print_all("lapack", [&](char const* kernel) { tiles.call_lapack(kernel); });
}

void measure_all(Options const& options, bench::CsvFile& csv) {
  for (char const precision : options.precisions) {
    for (int const n : options.tiles) {
      for (int const ib : options.inner_blocks) {
        for (auto const layout : {TileLayout::ColumnMajor, TileLayout::RowMajor}) {
          if (precision == 's') measure<float>(options, n, ib, layout, csv);
          if (precision == 'd') measure<double>(options, n, ib, layout, csv);
          if (precision == 'c') measure<Complex64>(options, n, ib, layout, csv);
          if (precision == 'z') measure<Complex128>(options, n, ib, layout, csv);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"GFlop/s of the kernels of tile QR on one thread"};
  app.add_option("--repeats", options.repeats, "number of measurements; the best is reported");
  app.add_option("--tiles", options.tiles, "tile sizes");
  app.add_option("--inner-blocks", options.inner_blocks, "orders of the triangles T");
  app.add_option("--precisions", options.precisions, "letters of s, d, c, z");
  app.add_option("--csv", options.csv, "file for the figures");
  CLI11_PARSE(app, argc, argv);

  Kokkos::ScopeGuard const kokkos;
  return bench::exit_status("qr_kernels_bench", [&] {
    set_blas_threads(1);
    auto const blas = find_blas_library().text;
    fmt::print("{}\n", blas);
    bench::CsvFile csv(options.csv, "# " + blas + "\nprecision,tile,ib,layout,library,kernel,gflops\n");
    measure_all(options, csv);
  });
}
