// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace granary {

using namespace detail;

namespace {

TEST(Blas, ThreadCountIsChecked) {
  EXPECT_THROW(set_blas_threads(0), InvalidArgument);
  EXPECT_NO_THROW(set_blas_threads(1));
}

TEST(Blas, TheLowestOfSeveralLimitsHolds) {
  set_blas_threads(3);
  if (blas_threads() != 3) GTEST_SKIP() << "this BLAS has no threads to give";
  {
    BlasLimit const two(2);
    EXPECT_EQ(blas_threads(), 2);
    {
      BlasLimit const one(1), four(4);
      EXPECT_EQ(blas_threads(), 1);
    }
    EXPECT_EQ(blas_threads(), 2);
  }
  EXPECT_EQ(blas_threads(), 3);
  set_blas_threads(1);
}

TEST(Blas, DescribesItself) {
  EXPECT_FALSE(find_blas_library().text.empty());
  EXPECT_FALSE(host_kernels_description().empty());
}

TEST(Blas, NormsOfASymmetricMatrix) {
  std::vector<double> const a{3, -4, 0, 1};
  std::vector<double> work(2);
  EXPECT_DOUBLE_EQ(blas::lansy(Norm::One, Uplo::Lower, 2, a.data(), 2, work.data()), 7);
  EXPECT_DOUBLE_EQ(blas::lansy(Norm::Frobenius, Uplo::Lower, 2, a.data(), 2), std::sqrt(42.0));
  EXPECT_DOUBLE_EQ(blas::lange(Norm::Max, 2, 2, a.data(), 2), 4);
}

// The norms of a Hermitian matrix ignore the imaginary part of the diagonal, those of a symmetric one do not.
TEST(Blas, NormsOfAComplexMatrix) {
  using Z = Kokkos::complex<double>;
  std::vector<Z> const a{Z(3, 9), Z(0, -4), Z(0, 0), Z(1, 0)};
  std::vector<double> work(2);
  EXPECT_DOUBLE_EQ(blas::lanhe(Norm::One, Uplo::Lower, 2, a.data(), 2, work.data()), 7);
  EXPECT_DOUBLE_EQ(blas::lanhe(Norm::Max, Uplo::Lower, 2, a.data(), 2), 4);
  EXPECT_DOUBLE_EQ(blas::lansy(Norm::Max, Uplo::Lower, 2, a.data(), 2), std::sqrt(90.0));
}

TEST(KokkosCompat, HostInstancesRunKernels) {
  HostKernelLock const lock;
  auto const exec = make_host_instance();
  std::vector<int> values(10);
  int* const data = values.data();
  Kokkos::parallel_for("granary::test", Kokkos::RangePolicy<HostExecutionSpace>(exec, 0, 10),
                       [data](int i) { data[i] = i; });
  exec.fence();
  EXPECT_EQ(values[9], 9);
}

}  // namespace
}  // namespace granary
