// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A GoogleTest main for processes of MPI; all fail if one does. GRANARY_TEST_FUNNELED: MPI is initialised for one
// thread.
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>

int main(int argc, char** argv) {
  int provided = 0;
  bool const one_thread = std::getenv("GRANARY_TEST_FUNNELED") != nullptr;
  MPI_Init_thread(&argc, &argv, one_thread ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, &provided);
  testing::InitGoogleTest(&argc, argv);
  Kokkos::initialize(argc, argv);
  int ours = RUN_ALL_TESTS(), of_all = 0;
  Kokkos::finalize();
  MPI_Allreduce(&ours, &of_all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return of_all;
}
