// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/kernels/kernel_choice.hpp>

#include "support/scalars.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace granary {
namespace {

// Entries that end where pages without access begin: to read beyond them ends the program.
template <class T>
class Guarded {
 public:
  explicit Guarded(int count) {
    auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    auto const bytes = static_cast<std::size_t>(count) * sizeof(T), body = (bytes + page - 1) / page * page;
    // Wider than the strides of the tests.
    auto const guard = 16 * page;
    m_size = body + guard;
    m_mapping = ::mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m_mapping == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(m_mapping);
    if (::mprotect(begin + body, guard, PROT_NONE) != 0) throw std::bad_alloc();
    m_entries = reinterpret_cast<T*>(begin + (body - bytes));
    for (int i = 0; i < count; ++i) m_entries[i] = T(static_cast<detail::RealOf<T>>(i % 7 + 1) / 8);
  }
  Guarded(Guarded const&) = delete;
  Guarded& operator=(Guarded const&) = delete;
  ~Guarded() { ::munmap(m_mapping, m_size); }

  [[nodiscard]] T* data() const { return m_entries; }
  [[nodiscard]] T operator[](int i) const { return m_entries[i]; }

 private:
  void* m_mapping = nullptr;
  std::size_t m_size = 0;
  T* m_entries = nullptr;
};

template <class T>
class GemvBounds : public ::testing::Test {};
TYPED_TEST_SUITE(GemvBounds, test::Scalars);

// The last result is checked. Entries are real, so that ConjTrans gives what Trans gives.
TYPED_TEST(GemvBounds, AreThoseOfTheOperands) {
  using T = TypeParam;
  for (int const m : {1, 2, 3, 4, 5, 6, 7, 8, 18, 35})
    for (int const n : {1, 2, 3, 4, 7, 16, 33})
      for (Op const op : {Op::NoTrans, Op::Trans, Op::ConjTrans})
        for (int const incx : {1, 2, 40})
          for (int const incy : {1, 3}) {
            bool const plain = op == Op::NoTrans;
            int const entries = plain ? n : m, results = plain ? m : n;
            Guarded<T> const a(m * n), x((entries - 1) * incx + 1), y((results - 1) * incy + 1);
            blas::gemv(op, m, n, T(1), a.data(), m, x.data(), incx, T(0), y.data(), incy);
            T sum(0);
            for (int k = 0; k < entries; ++k) sum += a[plain ? k * m + m - 1 : (n - 1) * m + k] * x[k * incx];
            EXPECT_NEAR(detail::modulus(y[(results - 1) * incy] - sum), 0, 1e-4) << m << " x " << n;
          }
}

// A row of a product of few rows multiplies a row of A, whose entries lie a column apart.
TYPED_TEST(GemvBounds, AreThoseOfAProductOfFewRows) {
  using T = TypeParam;
  for (int const m : {1, 2, 4})
    for (int const n : {5, 6, 18})
      for (int const k : {1, 2, 7, 33}) {
        Guarded<T> const a(m * k), b(n * k), c(m * n);
        kernels::chosen_gemm<T>(Op::NoTrans, Op::Trans, T(1), {a.data(), m, k, m}, {b.data(), n, k, n}, T(0),
                                {c.data(), m, n, m});
        T sum(0);
        for (int i = 0; i < k; ++i) sum += a[i * m + m - 1] * b[i * n + n - 1];
        EXPECT_NEAR(detail::modulus(c[m * n - 1] - sum), 0, 1e-4) << m << " x " << n << " x " << k;
      }
}

}  // namespace
}  // namespace granary
