// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Runtime of several processes: mpirun -np 4 test_mpi.
#include "contract/processes/runtime_cases.hpp"

#include <granary/mpi/runtime.hpp>

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
TEST(MpiRuntime, TheOwnersViewHasTheFinalValue) { the_owners_view_has_the_final_value(Make{}); }
TEST(MpiRuntime, PartsOfAMatrixAreDealtOverTheGrid) { parts_of_a_matrix_are_dealt_over_the_grid(Make{}); }
TEST(MpiRuntime, AllThrowTheFirstFailure) { all_throw_the_first_failure(Make{}); }
TEST(MpiRuntime, IfOneCannotBeginNoneDoes) { if_one_cannot_begin_none_does(Make{}); }
TEST(MpiRuntime, AnExceptionBesideTasksReachesAll) { an_exception_beside_tasks_reaches_all(Make{}); }
// Run alone, by a test of ctest: the job ends soon and fails.
TEST(MpiRuntime, DISABLED_OneProcessThrows) { one_process_throws(Make{}); }
TEST(MpiRuntime, LinearAlgebraIsThatOfOneProcess) { linear_algebra_is_that_of_one_process(Make{}); }
TEST(MpiRuntime, RefusesWhatNeedsOneProcess) { refuses_what_needs_one_process(Make{}); }

}  // namespace
}  // namespace granary::test
