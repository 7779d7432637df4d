// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/processes.hpp"
#include "apps/common/program.hpp"
#include "run.hpp"

int main(int argc, char** argv) {
  using namespace granary::app;
  return run_program(
      "granary-solve",
      [&](granary::SignalWatch& signals) {
        SolveOptions options;
        CommandLine line("granary-solve", "Solves A X = B with a matrix A that may be larger than memory.", options);
        line.app()
            .add_option(
                "A", options.a,
                "square matrix: file.h5[:/dataset], file.npy, or a generated one, such as random:N or general:N")
            ->required();
        line.app()
            .add_option("B", options.b, "right-hand sides, as many rows: file.h5[:/dataset], file.npy or general:NxK")
            ->required();
        line.app().add_option("X", options.output,
                              "HDF5 file for the solution, dataset X; without it the solution is dropped at the end");
        line.app().add_flag(
            "--spd", options.spd,
            "A is Hermitian (real: symmetric) positive definite: Cholesky; only its lower triangle is read");
        line.app().add_flag("--mixed", options.mixed, "factor in single precision and refine X to double precision");
        line.add_run_options("measure the solution's residual, under the same memory limit");
        if (line.parse(argc, argv)) run_solve(options, signals).publish(options);
      },
      process_hooks(argv));
}
