// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/processes.hpp"
#include "apps/common/program.hpp"
#include "run.hpp"

int main(int argc, char** argv) {
  using namespace granary::app;
  return run_program(
      "granary-cholesky",
      [&](granary::SignalWatch& signals) {
        CholeskyRunOptions options;
        CommandLine line("granary-cholesky",
                         "Cholesky factorization A = L L^H of a Hermitian (real: symmetric) positive definite matrix "
                         "that may be larger "
                         "than memory.",
                         options);
        line.app()
            .add_option(
                "INPUT", options.input,
                "file.h5[:/dataset], file.npy or random:N[:seed]; only one triangle is read, the lower one unless "
                "--upper")
            ->required();
        line.app().add_option("OUTPUT", options.output,
                              "HDF5 file for the factor, dataset L; without it the factor is dropped at the end");
        line.app().add_flag("--upper", options.upper,
                            "factor A = U^H U: the upper triangle is read, dataset U is written");
        line.app().add_flag(
            "--commuting", options.commuting,
            "let the scheduler choose the order of the updates of a tile: with planned it moves a little "
            "less, and the factor differs in rounding from run to run");
        line.add_run_options("measure the factor's residual, under the same memory limit");
        if (line.parse(argc, argv)) run_cholesky(options, signals).publish(options);
      },
      process_hooks(argv));
}
