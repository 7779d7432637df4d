// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of panels on a lane, against those of the host: on the vendor's device, or on the host if Kokkos has
// none.
#include <granary/detail/linalg/data/pivots.hpp>
#include <granary/detail/linalg/kernels/lu_kernels.hpp>
#include <granary/detail/linalg/kernels/panel_kernels.hpp>

#include "device_kernels/lane.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/lu.hpp"

#include <array>
#include <numeric>

namespace granary {
namespace {

using testing::Lane;
using testing::OnDevice;
using testing::random_rectangle;
using testing::Rectangle;

template <class T>
class DevicePanels : public ::testing::Test {
 protected:
  // Rows of a matrix in `memory`, which has the layout of `a`.
  [[nodiscard]] static detail::TileView<T> rows_of(T* memory, Rectangle<T> const& a, std::uint64_t first,
                                                   std::uint64_t count) {
    return {memory + first, static_cast<int>(count), static_cast<int>(a.cols), static_cast<int>(a.ld)};
  }
  [[nodiscard]] static detail::TileView<T> all_of(Rectangle<T>& a) { return rows_of(a.elements.data(), a, 0, a.rows); }

  // The rows that partial pivoting moves to the top.
  [[nodiscard]] static std::vector<std::int64_t> best_rows(Rectangle<T> a) {
    std::vector<std::int64_t> order(a.rows);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    auto const pivots = kernels::getrf_panel<T>(std::array{all_of(a)}, nullptr, static_cast<int>(a.cols)).pivots;
    for (std::size_t s = 0; s < pivots.size(); ++s) std::swap(order[s], order[static_cast<std::size_t>(pivots[s])]);
    order.resize(pivots.size());
    return order;
  }
  static void expect_near(std::vector<T> const& found, std::vector<T> const& expected, std::uint64_t n) {
    auto const bound = 100 * static_cast<detail::RealOf<T>>(n) * std::numeric_limits<detail::RealOf<T>>::epsilon();
    for (std::size_t e = 0; e < found.size(); ++e) {
      ASSERT_LE(detail::modulus(T(found[e] - expected[e])), bound * (1 + detail::modulus(expected[e])))
          << n << " " << e;
    }
  }

  Lane m_lane;
};
TYPED_TEST_SUITE(DevicePanels, test::Scalars);

struct Panel {
  std::uint64_t rows, cols, height;
};
constexpr Panel every_panel[] = {{1, 1, 1}, {40, 20, 20}, {96, 32, 32}, {300, 32, 32}, {210, 90, 90}, {70, 100, 100}};

TYPED_TEST(DevicePanels, SelectTheRowsOfPartialPivotingAndOrderThem) {
  using T = TypeParam;
  constexpr std::int64_t first = 1000;
  for (auto const& [rows, cols, height] : every_panel) {
    auto const a = random_rectangle<T>(rows, cols, rows);
    OnDevice<T> const a_there(a.elements);
    std::vector<kernels::CompetingRows<T>> parts;
    for (std::uint64_t at = 0; at < rows; at += height) {
      parts.push_back({this->rows_of(a_there.data(), a, at, std::min(height, rows - at)), nullptr,
                       first + static_cast<std::int64_t>(at)});
    }
    auto const expected = this->best_rows(a);
    auto const count = static_cast<std::uint64_t>(expected.size());
    OnDevice<T> const workspace(std::vector<T>(rows * cols));
    OnDevice<std::int64_t> const numbers_there(std::vector<std::int64_t>(count, 0));
    Rectangle<T> winners(count, cols);
    OnDevice<T> const winners_there(winners.elements);
    this->m_lane.run([&](auto const& lane) {
      kernels::select_rows<T>(lane, parts, workspace.data(), numbers_there.data(),
                              this->rows_of(winners_there.data(), winners, 0, count));
    });
    auto const numbers = numbers_there.values();
    winners.elements = winners_there.values();
    for (std::uint64_t s = 0; s < count; ++s) {
      ASSERT_EQ(numbers[s], first + expected[s]) << rows << " " << s;
      for (std::uint64_t j = 0; j < cols; ++j) {
        ASSERT_EQ(winners(s, j), a(static_cast<std::uint64_t>(expected[s]), j)) << rows << " " << s;
      }
    }

    auto const slots = std::min(height, rows);
    OnDevice<std::int64_t> const words(std::vector<std::int64_t>(1 + 3 * slots, 0));
    this->m_lane.run([&](auto const& lane) {
      kernels::final_rows<T>(lane, parts, workspace.data(), reinterpret_cast<std::byte*>(words.data()), first,
                             static_cast<int>(slots));
    });
    std::vector<std::int64_t> there(1 + 3 * slots);
    auto const exchanges = detail::PanelExchanges::at(reinterpret_cast<std::byte*>(there.data()), slots);
    exchanges.set_order(first, numbers);
    exchanges.derive(first, static_cast<std::int64_t>(slots), static_cast<std::int64_t>(count));
    EXPECT_EQ(words.values(), there) << rows;
  }
}

TYPED_TEST(DevicePanels, ExchangeRows) {
  using T = TypeParam;
  for (auto const& [rows, cols, height] : every_panel) {
    auto const slots = std::min(height, rows);
    auto const count = std::min(slots, cols);
    auto const order = this->best_rows(random_rectangle<T>(rows, count, rows));
    std::vector<std::int64_t> words(1 + 3 * slots);
    auto const exchanges = detail::PanelExchanges::at(reinterpret_cast<std::byte*>(words.data()), slots);
    exchanges.set_order(0, order);
    exchanges.derive(0, static_cast<std::int64_t>(slots), static_cast<std::int64_t>(count));

    auto a = random_rectangle<T>(rows, 37, 3);
    auto expected = a;
    for (std::uint64_t s = 0; s < count; ++s) {
      for (std::uint64_t j = 0; j < a.cols; ++j) {
        std::swap(expected(s, j), expected(static_cast<std::uint64_t>(exchanges.pivots[s]), j));
      }
    }
    OnDevice<T> const there(a.elements);
    OnDevice<std::int64_t> const words_there(words);
    std::vector<detail::TileView<T>> lower;
    for (auto at = slots; at < rows; at += height) {
      lower.push_back(this->rows_of(there.data(), a, at, std::min(height, rows - at)));
    }
    this->m_lane.run([&](auto const& lane) {
      kernels::swap_rows<T>(lane, reinterpret_cast<std::byte*>(words_there.data()),
                            this->rows_of(there.data(), a, 0, slots), lower, static_cast<std::int64_t>(slots), false,
                            true);
    });
    EXPECT_EQ(there.values(), expected.elements) << rows;
  }
}

TYPED_TEST(DevicePanels, FactorTilesInAGivenOrder) {
  using T = TypeParam;
  constexpr std::uint64_t below = 50;
  for (std::uint64_t const n : {1, 20, 32, 33, 96, 130}) {
    for (bool const full : {true, false}) {
      auto a = random_rectangle<T>(n, n, n);
      for (std::uint64_t i = 0; i < n; ++i) a(i, i) = T(static_cast<detail::RealOf<T>>(2 * n));
      // The last row is the first one: the last pivot is a rounding error.
      for (std::uint64_t j = 0; j < n && !full && n > 1; ++j) a(n - 1, j) = a(0, j);
      auto b = random_rectangle<T>(below, n, n + 1);
      OnDevice<T> const a_there(a.elements), b_there(b.elements), workspace(std::vector<T>(n * n));
      OnDevice<std::int64_t> const zero(std::vector<std::int64_t>{-1});
      this->m_lane.run([&](auto const& lane) {
        auto const tile = this->rows_of(a_there.data(), a, 0, n);
        kernels::getrf_bounded<T>(lane, tile, workspace.data(), 7, zero.data());
        kernels::trsm_ru_skip<T>(lane, tile, this->rows_of(b_there.data(), b, 0, below));
      });
      std::vector<T> host_workspace(n * n);
      int const host_zero = kernels::getrf_bounded<T>(this->all_of(a), host_workspace.data());
      auto const factors = a_there.values();
      auto const last = factors.back();
      if (full) {
        EXPECT_EQ(zero.values().front(), 0);
        EXPECT_EQ(host_zero, 0);
      } else if (n > 1 && !(last == T(0))) {
        double size = 0;
        for (std::uint64_t k = 0; k + 1 < n; ++k) {
          size += static_cast<double>(detail::modulus(T(factors[n - 1 + k * n] * factors[k + (n - 1) * n])));
        }
        double const u = std::numeric_limits<detail::RealOf<T>>::epsilon() / 2;
        EXPECT_GE(static_cast<double>(detail::modulus(last)), 0.49 * std::sqrt(static_cast<double>(n)) * u * size) << n;
      }
      kernels::trsm_ru_skip<T>(this->all_of(a), this->all_of(b));
      this->expect_near(a_there.values(), a.elements, n);
      if (full)
        this->expect_near(b_there.values(), b.elements, n);  // otherwise B has rounding errors divided by others
    }
  }
}

}  // namespace
}  // namespace granary
