// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ScaLAPACK's pdpotrf on the matrix of mpi_potrf, dealt in the same blocks to the same grid; one line of JSON.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>

#include <CLI/CLI.hpp>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): names of the BLACS and ScaLAPACK
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(int const* n, int const* block, int const* process, int const* source, int const* processes);
void descinit_(int* descriptor, int const* m, int const* n, int const* mb, int const* nb, int const* rsrc,
               int const* csrc, int const* context, int const* lld, int* info);
void pdpotrf_(char const* uplo, int const* n, double* a, int const* ia, int const* ja, int const* desc, int* info);
}
// NOLINTEND(readability-identifier-naming)

namespace {

using namespace granary;

void measure(int n, int block, int repeats) {
  int processes = 0, context = 0, row = 0, column = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  auto const grid = Distribution::for_processes(static_cast<std::uint32_t>(processes));
  int rows = static_cast<int>(grid.rows()), columns = static_cast<int>(grid.columns());
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", rows, columns);
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  int const zero = 0, one = 1;
  int const local_rows = numroc_(&n, &block, &row, &zero, &rows),
            local_columns = numroc_(&n, &block, &column, &zero, &columns);
  int const leading = std::max(1, local_rows);
  std::vector<double> a(static_cast<std::size_t>(leading) * static_cast<std::size_t>(std::max(1, local_columns)));
  int descriptor[9];
  int info = 0;
  descinit_(descriptor, &n, &n, &block, &block, &zero, &zero, &context, &leading, &info);
  auto const global = [block](int local, int process, int of) {
    return (local / block * of + process) * block + local % block;
  };
  double best = 0;
  for (int r = 0; r < repeats; ++r) {
    for (int j = 0; j < local_columns; ++j) {
      for (int i = 0; i < local_rows; ++i) {
        a[static_cast<std::size_t>(j) * static_cast<std::size_t>(leading) + static_cast<std::size_t>(i)] =
            spd_entry(static_cast<std::uint64_t>(n), 1, static_cast<std::uint64_t>(global(i, row, rows)),
                      static_cast<std::uint64_t>(global(j, column, columns)));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    auto const start = std::chrono::steady_clock::now();
    pdpotrf_("L", &n, a.data(), &one, &one, descriptor, &info);
    MPI_Barrier(MPI_COMM_WORLD);
    auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (info != 0) throw Error("pdpotrf: info " + std::to_string(info));
    if (r == 0 || seconds < best) best = seconds;
  }
  Cblacs_gridexit(context);
  if (row != 0 || column != 0) return;
  double const cube = static_cast<double>(n) * n * n;
  nlohmann::ordered_json const line{{"library", "ScaLAPACK"},
                                    {"processes", processes},
                                    {"grid", std::to_string(rows) + "x" + std::to_string(columns)},
                                    {"n", n},
                                    {"tile", block},
                                    {"seconds", best},
                                    {"gflops", cube / 3 / best * 1e-9}};
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int n = 8192, block = 512, repeats = 3;
  CLI::App app("ScaLAPACK's Cholesky of a generated matrix; one line of JSON.");
  app.add_option("--n", n)->check(CLI::Range(1, 46340));
  app.add_option("--block", block)->check(CLI::Range(1, 8192));
  app.add_option("--repeat", repeats)->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
    measure(n, block, repeats);
  } catch (CLI::ParseError const& error) {
    int const status = app.exit(error);
    MPI_Finalize();
    return status;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "scalapack_potrf: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
