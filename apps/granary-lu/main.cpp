// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/tiles/singular.hpp>

#include "apps/common/processes.hpp"
#include "apps/common/program.hpp"
#include "run.hpp"

namespace {

using namespace granary::app;

void add_arguments(CommandLine& line, LuRunOptions& options) {
  line.app()
      .add_option(
          "INPUT", options.input,
          "file.h5[:/dataset], file.npy, or a generated matrix: general:N[:seed], general:MxN[:seed], random:N[:seed] "
          "(positive definite)")
      ->required();
  line.app().add_option("OUTPUT", options.output,
                        "HDF5 file for the factors, datasets LU and pivots in LAPACK's form; without it they "
                        "are dropped at the end");
  line.app().add_flag_callback(
      "--no-pivoting", [&options] { options.pivoting = false; },
      "factor A = L U: for matrices that need no row exchanges, such as diagonally dominant ones");
  line.app().add_flag(
      "--commuting", options.commuting,
      "with --no-pivoting: let the scheduler choose the order of the updates of a tile: with planned it "
      "moves a little less, and the factors differ in rounding from run to run");
  line.add_run_options("measure the residual of the factors and the pivot growth, under the same memory limit");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      "granary-lu",
      [&](granary::SignalWatch& signals) {
        LuRunOptions options;
        CommandLine line(
            "granary-lu",
            "LU factorization P A = L U of a matrix that may be rectangular and larger than memory, with partial "
            "pivoting if a panel fits in memory, else with tournaments.",
            options);
        add_arguments(line, options);
        if (!line.parse(argc, argv)) return;
        auto const result = run_lu(options, signals);
        result.report.publish(options);
        if (!result.zero_pivot) return;
        granary::Singular const singular(*result.zero_pivot);
        throw granary::Error(singular.what() + std::string(options.output
                                                               ? "; the factors are complete, in " + *options.output
                                                               : "; the factors are complete"));
      },
      process_hooks(argv));
}
