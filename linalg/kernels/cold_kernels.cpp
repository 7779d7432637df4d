// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/kernels/cold_kernels.hpp>
#include <granary/detail/linalg/kernels/processor_time.hpp>
#include <granary/detail/linalg/kernels/tile_kernels.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace granary {
namespace {

constexpr int most_turns = 5;

double cube_of(int tile) { return static_cast<double>(tile) * tile * tile; }

// One call of a kernel on small tiles takes less than an interruption.
int calls_of(int tile) { return tile < 512 ? 4 : 1; }

// Tiles of random numbers one behind the other in a memory that no cache holds. Three in a row do not overlap.
template <class T>
class ColdMemory {
 public:
  ColdMemory(Bytes bytes, int largest_tile)
      : m_count(std::max<std::size_t>(bytes / sizeof(T), 3 * elements(largest_tile))),
        m_entries(static_cast<T*>(::operator new(m_count * sizeof(T), alignment))) {
    constexpr std::size_t drawn = 4096 + 7;  // a period that is no multiple of a tile's rows
    detail::Random random(1);
    std::generate_n(m_entries.get(), std::min(drawn, m_count),
                    [&] { return static_cast<T>(2 * random.uniform() - 1); });
    for (std::size_t i = drawn; i < m_count; i += drawn)
      std::copy_n(m_entries.get(), std::min(drawn, m_count - i), m_entries.get() + i);
  }

  [[nodiscard]] detail::TileView<T> next(int tile) {
    if (m_next + elements(tile) > m_count) m_next = 0;
    T* const first = m_entries.get() + m_next;
    m_next += elements(tile);
    return {first, tile, tile, tile};
  }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct Delete {
    void operator()(T* entries) const { ::operator delete(entries, alignment); }
  };
  static std::size_t elements(int tile) { return static_cast<std::size_t>(tile) * static_cast<std::size_t>(tile); }

  std::size_t m_count;
  std::unique_ptr<T, Delete> m_entries;
  std::size_t m_next = 0;
};

// Of one size: the seconds of the calls of each kernel, and of the first turn.
struct ColdTimes {
  std::vector<double> gemm, syrk, trsm, potrf;
  double first_turn = 0;
};

double lower_median(std::vector<double>& seconds) {
  auto const middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

KernelSpeeds cold_speeds(int tile, ColdTimes& times) {
  double const flops = cube_of(tile);
  return {.tile = tile,
          .gemm = 2 * flops / lower_median(times.gemm),
          .syrk = flops / lower_median(times.syrk),
          .trsm = flops / lower_median(times.trsm),
          .potrf = flops / 3 / lower_median(times.potrf)};
}

// The eigenvalues are 4 and 5, but for rounding.
template <class T>
void make_positive(detail::TileView<T> const& a) {
  T const beside = T(1) / static_cast<T>(a.rows);
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i < a.rows; ++i) a(i, j) = i == j ? T(4) + beside : beside;
  }
}

// Operands that kernels only read are never written, so entries stay small however often a tile is used.
template <class T>
struct ColdOperands {
  ColdMemory<T> read, written;
};

template <class Call>
void time_call(std::vector<double>& seconds, Call const& call) {
  double const begin = processor_seconds();
  call();
  seconds.push_back(std::max(processor_seconds() - begin, 1e-9));
}

template <class T>
void time_gemm(int tile, ColdOperands<T>& operands, ColdTimes& times) {
  for (int i = 0; i < calls_of(tile); ++i) {
    auto const a = operands.read.next(tile), b = operands.read.next(tile), c = operands.written.next(tile);
    time_call(times.gemm, [&] { kernels::gemm<T>(Op::NoTrans, Op::Trans, T(-1), a, b, T(1), c); });
  }
}

template <class T>
void time_others(int tile, ColdOperands<T>& operands, ColdTimes& times) {
  for (int i = 0; i < calls_of(tile); ++i) {
    auto const a = operands.read.next(tile), c = operands.written.next(tile);
    time_call(times.syrk, [&] { kernels::syrk<T>(Uplo::Lower, Op::NoTrans, T(-1), a, T(1), c); });
    auto const l = operands.written.next(tile), x = operands.written.next(tile);
    make_positive(l);
    time_call(times.potrf, [&] { static_cast<void>(kernels::potrf<T>(Uplo::Lower, l)); });
    time_call(times.trsm, [&] { kernels::trsm<T>(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, T(1), l, x); });
  }
}

template <class T>
void take_first_turn(int tile, ColdOperands<T>& operands, ColdTimes& times) {
  double const begin = processor_seconds();
  time_gemm(tile, operands, times);
  time_others(tile, operands, times);
  times.first_turn = processor_seconds() - begin;
}

}  // namespace

template <class T>
std::vector<KernelSpeeds> measure_cold_kernels(std::span<int const> tiles, ColdKernelLimits const& limits) {
  double const end = processor_seconds() + limits.processor_time.count();
  std::vector<KernelSpeeds> speeds;
  if (tiles.empty()) return speeds;
  ColdOperands<T> operands{{limits.memory / 2, tiles.back()}, {limits.memory / 2, tiles.back()}};
  auto const fits = [&](double seconds) { return processor_seconds() + seconds <= end; };
  std::vector<ColdTimes> times(1);
  take_first_turn(tiles.front(), operands, times.front());
  for (auto const tile : tiles.subspan(1)) {
    auto const before = tiles[times.size() - 1];
    double const growth = cube_of(tile) * calls_of(tile) / (cube_of(before) * calls_of(before));
    if (!fits(times.back().first_turn * growth)) break;
    take_first_turn(tile, operands, times.emplace_back());
  }
  for (int turn = 1; turn < most_turns; ++turn) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (fits(calls_of(tiles[i]) * times[i].gemm.back())) time_gemm(tiles[i], operands, times[i]);
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) speeds.push_back(cold_speeds(tiles[i], times[i]));
  return speeds;
}

template std::vector<KernelSpeeds> measure_cold_kernels<float>(std::span<int const>, ColdKernelLimits const&);
template std::vector<KernelSpeeds> measure_cold_kernels<double>(std::span<int const>, ColdKernelLimits const&);

}  // namespace granary
