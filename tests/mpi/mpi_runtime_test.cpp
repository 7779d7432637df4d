// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Runtime of several processes: mpirun -np 4 test_mpi.
#include "contract/processes/runtime_cases.hpp"

#include <granary/detail/mpi/runtime.hpp>
#include <granary/linalg.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace granary::test {
namespace {

struct Make {
  Runtime operator()(RuntimeOptions const& options) const { return mpi::runtime(MPI_COMM_WORLD, options); }
  [[nodiscard]] static bool is_last() {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return rank == size - 1;
  }
};

TEST(MpiRuntime, ValuesGoToWhereTasksReadThem) { values_go_to_where_tasks_read_them(Make{}); }
TEST(MpiRuntime, VaryingValuesGoInTheirSizes) { varying_values_go_in_their_sizes(Make{}); }
TEST(MpiRuntime, TheOwnersViewHasTheFinalValue) { the_owners_view_has_the_final_value(Make{}); }
TEST(MpiRuntime, PartsOfAMatrixAreDealtOverTheGrid) { parts_of_a_matrix_are_dealt_over_the_grid(Make{}); }
TEST(MpiRuntime, AllThrowTheFirstFailure) { all_throw_the_first_failure(Make{}); }
TEST(MpiRuntime, IfOneCannotBeginNoneDoes) { if_one_cannot_begin_none_does(Make{}); }
TEST(MpiRuntime, AnExceptionBesideTasksReachesAll) { an_exception_beside_tasks_reaches_all(Make{}); }
// Run alone, by a test of ctest: the job ends soon and fails.
TEST(MpiRuntime, DISABLED_OneProcessThrows) { one_process_throws(Make{}); }
TEST(MpiRuntime, AGridHasAllProcesses) { a_grid_has_all_processes(Make{}); }
TEST(MpiRuntime, RefusesWhatNeedsOneProcess) { refuses_what_needs_one_process(Make{}); }

// Each process has Views of its own, whose tiles belong to the processes of the grid.
TEST(MpiRuntime, LinearAlgebraIsThatOfOneProcess) {
  using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  constexpr std::uint64_t n = 130, tile = 32;
  Runtime runtime = Make{}(options());
  Matrix const spd("A", n, n), factor("L", n, n), lu("LU", n, n), b("B", n, 2);
  for (std::uint64_t j = 0; j < n; ++j) {
    for (std::uint64_t i = 0; i < n; ++i) {
      spd(i, j) = factor(i, j) = lu(i, j) =
          (i == j ? static_cast<double>(n) : 0) + 1 / (1 + static_cast<double>(i + j));
    }
    b(j, 0) = b(j, 1) = 1;
  }
  EXPECT_EQ(lange(runtime, Norm::Max, spd, tile), static_cast<double>(n) + 1);
  potrf(runtime, Uplo::Lower, factor, tile);
  EXPECT_LT(potrf_residual(runtime, Uplo::Lower, spd, factor, tile), 1);
  EXPECT_NEAR(logdet(runtime, Uplo::Lower, factor, tile), static_cast<double>(n) * std::log(n), 2);
  Matrix const inverse("inverse", n, n), rest("rest", n, n);
  copy(runtime, factor, inverse, MatrixPart::Lower, tile);
  potri(runtime, Uplo::Lower, inverse, tile);
  set(runtime, 0.0, 1.0, rest, MatrixPart::All, tile);
  hemm(runtime, Side::Left, Uplo::Lower, 1.0, inverse, spd, -1.0, rest, tile);
  EXPECT_LT(lange(runtime, Norm::Max, rest, tile), 1e-13);
  Matrix const diagonal("d", n, 1), alone("alone", n, 1);
  diag(runtime, inverse, diagonal, tile);
  inverse_diag(runtime, Uplo::Lower, factor, alone, tile);
  add(runtime, 1.0, diagonal, -1.0, alone, tile);
  EXPECT_LT(lange(runtime, Norm::Max, alone, tile), 1e-15);
  EXPECT_NEAR(getrf_nopiv(runtime, lu, tile).ratio(), 1, 0.01);
  EXPECT_LT(getrf_residual(runtime, spd, lu, nullptr, tile), 1);
  Matrix const x("X", n, 2);
  Kokkos::deep_copy(x, b);
  posv(runtime, Uplo::Lower, factor, x, tile);  // the factor itself is positive definite, too
  b(77, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of([&] { posv(runtime, Uplo::Lower, spd, b, tile); }).find("holds NaN at (77, 1)"),
            std::string::npos);
  auto const spoiled = create_matrix<double>(runtime, n, n, {.tile = tile});
  set(runtime, 0.0, -1.0, spoiled);
  try {
    potrf(runtime, Uplo::Lower, spoiled);
    ADD_FAILURE() << "nothing was thrown";
  } catch (NotPositiveDefinite const& error) {
    EXPECT_EQ(error.order(), 1U);
    EXPECT_NE(std::string(error.what()).find("submitted at " __FILE__ ":"), std::string::npos) << error.what();
  }
  if (runtime.processes() == 1) return;
  auto const refusal = [](auto const& call) {
    auto const message = message_of(call);
    EXPECT_EQ(message.find("(submitted at"), message.rfind("(submitted at")) << message;
    return without_line(message);
  };
  EXPECT_EQ(refusal([&] { static_cast<void>(getrf(runtime, lu, tile)); }),
            "rows cannot be exchanged with several processes");
  EXPECT_EQ(refusal([&] { static_cast<void>(posv_mixed(runtime, Uplo::Lower, spd, x, b, tile)); }),
            "posv_mixed does not work with several processes");
  EXPECT_EQ(refusal([&] { static_cast<void>(pocon(runtime, Uplo::Lower, factor, 1, tile)); }),
            "pocon does not work with several processes");
}

// Run alone, with another initialisation.
TEST(MpiRuntime, DISABLED_AnMpiForOneThreadIsRefused) {
  EXPECT_EQ(message_of([] { Runtime const runtime = Make{}(options()); }),
            "MPI was initialised with MPI_THREAD_FUNNELED; granary needs MPI_THREAD_SERIALIZED, or MPI_THREAD_MULTIPLE "
            "if the application calls MPI meanwhile");
}

}  // namespace
}  // namespace granary::test
