// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/kernels/kernel_speed.hpp>
#include <granary/detail/linalg/kernels/processor_time.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace granary {
namespace {

// The shortest of several calls, in seconds; `prepare` is not timed.
template <class Prepare, class Call>
double shortest(int calls, Prepare&& prepare, Call&& call) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < calls; ++i) {
    prepare();
    double const start = processor_seconds();
    call();
    best = std::min(best, std::max(processor_seconds() - start, 1e-9));
  }
  return best;
}

// Enough independent sums for two units with a latency of five cycles.
using Sums = std::make_index_sequence<12>;
constexpr int rounds = 40000;

// NOLINTBEGIN(portability-simd-intrinsics): the widest vectors of this processor are meant.
#if defined(__x86_64__)
template <std::size_t... I>
__attribute__((target("avx512f"))) double add_up_512(double x, std::index_sequence<I...>) {
  __m512d const factor = _mm512_set1_pd(x);
  __m512d sums[] = {_mm512_set1_pd(static_cast<double>(I))...};
  for (int r = 0; r < rounds; ++r) ((sums[I] = _mm512_fmadd_pd(sums[I], factor, factor)), ...);
  return (_mm512_cvtsd_f64(sums[I]) + ...);
}
template <std::size_t... I>
__attribute__((target("avx512f"))) float add_up_512(float x, std::index_sequence<I...>) {
  __m512 const factor = _mm512_set1_ps(x);
  __m512 sums[] = {_mm512_set1_ps(static_cast<float>(I))...};
  for (int r = 0; r < rounds; ++r) ((sums[I] = _mm512_fmadd_ps(sums[I], factor, factor)), ...);
  return (_mm512_cvtss_f32(sums[I]) + ...);
}
template <std::size_t... I>
__attribute__((target("avx2,fma"))) double add_up_256(double x, std::index_sequence<I...>) {
  __m256d const factor = _mm256_set1_pd(x);
  __m256d sums[] = {_mm256_set1_pd(static_cast<double>(I))...};
  for (int r = 0; r < rounds; ++r) ((sums[I] = _mm256_fmadd_pd(sums[I], factor, factor)), ...);
  return (_mm256_cvtsd_f64(sums[I]) + ...);
}
template <std::size_t... I>
__attribute__((target("avx2,fma"))) float add_up_256(float x, std::index_sequence<I...>) {
  __m256 const factor = _mm256_set1_ps(x);
  __m256 sums[] = {_mm256_set1_ps(static_cast<float>(I))...};
  for (int r = 0; r < rounds; ++r) ((sums[I] = _mm256_fmadd_ps(sums[I], factor, factor)), ...);
  return (_mm256_cvtss_f32(sums[I]) + ...);
}
// Of processors that cannot fuse: a multiplication and an addition.
template <class T, std::size_t... I>
__attribute__((target("avx"))) T add_up_unfused_256(T x, std::index_sequence<I...>) {
  using Vector [[gnu::vector_size(32)]] = T;
  Vector const factor = Vector{} + x;
  Vector sums[] = {Vector{} + static_cast<T>(I)...};
  for (int r = 0; r < rounds; ++r) ((sums[I] = sums[I] * factor + factor), ...);
  return (sums[I][0] + ...);
}
#endif
// NOLINTEND(portability-simd-intrinsics)

// Vectors of 128 bits, which every compiler maps to the registers of the architecture.
template <class T, std::size_t... I>
T add_up_128(T x, std::index_sequence<I...>) {
  using Vector [[gnu::vector_size(16)]] = T;
  Vector const factor = Vector{} + x;
  Vector sums[] = {Vector{} + static_cast<T>(I)...};
  for (int r = 0; r < rounds; ++r) ((sums[I] = sums[I] * factor + factor), ...);
  return (sums[I][0] + ...);
}

template <class T>
struct Loop {
  T (*run)(T, Sums);
  std::size_t bytes;  // of a vector
};

// Of all vectors that the processor has: the widest are not the fastest where fewer units have them.
template <class T>
std::vector<Loop<T>> loops_of_processor() {
  std::vector<Loop<T>> loops{{[](T x, Sums sums) { return add_up_128(x, sums); }, 16}};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) loops.push_back({[](T x, Sums sums) { return add_up_512(x, sums); }, 64});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({[](T x, Sums sums) { return add_up_256(x, sums); }, 32});
  } else if (__builtin_cpu_supports("avx")) {
    loops.push_back({[](T x, Sums sums) { return add_up_unfused_256(x, sums); }, 32});
  }
#endif
  return loops;
}

constexpr int calls = 5;

// A square tile of random numbers in [-1, 1].
template <class T>
class Tile {
 public:
  Tile(int order, std::uint64_t seed)
      : m_order(order), m_entries(static_cast<std::size_t>(order) * static_cast<std::size_t>(order)) {
    detail::Random random(seed);
    for (auto& entry : m_entries) entry = static_cast<T>(2 * random.uniform() - 1);
  }
  [[nodiscard]] detail::TileView<T> view() { return {m_entries.data(), m_order, m_order, m_order}; }
  [[nodiscard]] double cube() const { return static_cast<double>(m_order) * m_order * m_order; }

 private:
  int m_order;
  std::vector<T> m_entries;
};

// The operands of the kernels: C and B are changed, L, which is positive definite, is factored.
template <class T>
struct Operands {
  explicit Operands(int tile) : a(tile, 1), b(tile, 2), c(tile, 3), l(tile, 4) {
    for (int i = 0; i < tile; ++i) l.view()(i, i) = static_cast<T>(2 * tile);
  }
  Tile<T> a, b, c, l;
};

}  // namespace

template <class T>
double fma_peak() {
  // Longer than a core takes to power its widest vectors.
  constexpr double least_seconds = 2e-3;
  T volatile factor = T(1) / 2;  // unknown to the compiler; the sums converge
  T volatile result = 0;
  double peak = 0;
  for (auto const& loop : loops_of_processor<T>()) {
    double const begin = processor_seconds();
    std::size_t const numbers = Sums::size() * loop.bytes / sizeof(T);
    do {
      double const seconds = shortest(
          calls, [] {}, [&] { result = loop.run(factor, Sums{}); });
      peak = std::max(peak, 2.0 * rounds * static_cast<double>(numbers) / seconds);
    } while (processor_seconds() - begin < least_seconds);
  }
  return peak;
}

template <class T>
double measure_gemm(int tile) {
  Tile<T> a(tile, 1), b(tile, 2), c(tile, 3);
  double const seconds = shortest(
      calls, [] {}, [&] { kernels::gemm<T>(Op::NoTrans, Op::Trans, T(-1), a.view(), b.view(), T(1), c.view()); });
  return 2 * a.cube() / seconds;
}

template <class T>
KernelSpeeds measure_kernels(int tile) {
  Operands<T> const made(tile);
  auto of = made;
  auto const nothing = [] {};
  double const cube = made.a.cube();
  return {
      .tile = tile,
      .gemm = 2 * cube /
              shortest(calls, nothing,
                       [&] {
                         kernels::gemm<T>(Op::NoTrans, Op::Trans, T(-1), of.a.view(), of.b.view(), T(1), of.c.view());
                       }),
      .syrk =
          cube / shortest(calls, nothing,
                          [&] { kernels::syrk<T>(Uplo::Lower, Op::NoTrans, T(-1), of.a.view(), T(1), of.c.view()); }),
      .trsm = cube / shortest(
                         calls, [&] { of.b = made.b; },
                         [&] {
                           kernels::trsm<T>(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, T(1), of.l.view(),
                                            of.b.view());
                         }),
      .potrf =
          cube / 3 /
          shortest(
              calls, [&] { of.l = made.l; }, [&] { static_cast<void>(kernels::potrf<T>(Uplo::Lower, of.l.view())); })};
}

#define GRANARY_INSTANTIATE(T)          \
  template double fma_peak<T>();        \
  template double measure_gemm<T>(int); \
  template KernelSpeeds measure_kernels<T>(int);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
#undef GRANARY_INSTANTIATE

}  // namespace granary
