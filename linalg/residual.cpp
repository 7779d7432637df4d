// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/linalg/residual.hpp>
#include <granary/linalg/tile_call.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace granary {
namespace {

using detail::parameters_of;

template <class T>
TileView<T const> input_tile(KernelCall const& call, std::size_t access, int rows, int cols, int leading,
                             Layout layout) {
  return {reinterpret_cast<T const*>(call.data[access]), rows, cols, leading, layout};
}
template <class T>
TileView<T> output_tile(KernelCall const& call, std::size_t access, int rows, int cols, int leading, Layout layout) {
  return {reinterpret_cast<T*>(call.data[access]), rows, cols, leading, layout};
}

// R (m x n, row-major) accumulates the products of an m x k and an n x k tile of L.
struct ResidualCall {
  std::int32_t m = 0;
  std::int32_t n = 0;
  std::int32_t k = 0;
  std::int32_t leading = 0;          // of L's or A's tile
  std::int32_t leading_sum = 0;      // of R
  Layout layout = Layout::RowMajor;  // of L's or A's tile
  bool first = false;                // R holds nothing yet
  bool diagonal = false;             // R is a diagonal tile
};

// R := [R +] A Bᵀ
template <class T>
void run_product(KernelCall const& call) {
  auto const& p = parameters_of<ResidualCall>(call);
  kernels::gemm(Op::NoTrans, Op::Trans, T(1), input_tile<T>(call, 0, p.m, p.k, p.leading, p.layout),
                input_tile<T>(call, 1, p.n, p.k, p.leading, p.layout), T(p.first ? 0 : 1),
                output_tile<T>(call, 2, p.m, p.n, p.leading_sum, Layout::RowMajor));
}

// Columns [first, first + count) of the lower triangle `l` from row `first` on, row-major, with zeros above the
// diagonal.
template <class T>
TileView<T> copy_panel(TileView<T const> l, int first, int count, std::vector<T>& panel) {
  TileView<T> copy{panel.data(), l.rows - first, count, count, Layout::RowMajor};
  for (int i = 0; i < copy.rows; ++i) {
    for (int j = 0; j < count; ++j) copy(i, j) = j <= i ? l(first + i, first + j) : T{};
  }
  return copy;
}

// Rows from `row` and columns from `col` on.
template <class T>
TileView<T> corner(TileView<T> a, int row, int col) {
  return {&a(row, col), a.rows - row, a.cols - col, a.ld, a.layout};
}

// R := [R +] A Lᵀ with L the lower triangle of the second tile, where A is L itself if R is a diagonal tile.
// In panels of columns, so that no whole tile is copied.
template <class T>
void run_last_product(KernelCall const& call) {
  constexpr int width = 64;
  auto const& p = parameters_of<ResidualCall>(call);
  auto const a = input_tile<T>(call, 0, p.m, p.n, p.leading, p.layout);
  auto const l = input_tile<T>(call, 1, p.n, p.n, p.leading, p.layout);
  auto const r = output_tile<T>(call, 2, p.m, p.n, p.leading_sum, Layout::RowMajor);
  if (p.first) {
    for (int i = 0; i < r.rows; ++i) std::fill_n(&r(i, 0), r.cols, T{});
  }
  std::vector<T> panel(static_cast<std::size_t>(p.n) * width);
  for (int c = 0; c < p.n; c += width) {
    TileView<T const> const b = copy_panel(l, c, std::min(width, p.n - c), panel);
    TileView<T const> left{&a(0, c), a.rows, b.cols, a.ld, a.layout};
    kernels::gemm(Op::NoTrans, Op::Trans, T(1), p.diagonal ? b : left, b, T(1), corner(r, p.diagonal ? c : 0, c));
  }
}

// Adds the squares of A - R and of A.
template <class T>
void run_sums(KernelCall const& call) {
  auto const& p = parameters_of<ResidualCall>(call);
  auto const a = input_tile<T>(call, 0, p.m, p.n, p.leading, p.layout);
  auto const r = input_tile<T>(call, 1, p.m, p.n, p.leading_sum, Layout::RowMajor);
  ResidualSums sums;
  for (int i = 0; i < p.m; ++i) {
    ResidualSums row;
    for (int j = 0; j < (p.diagonal ? i : p.n); ++j) {
      double const value = a(i, j);
      double const rest = value - r(i, j);
      row.residual += 2 * rest * rest;
      row.matrix += 2 * value * value;
    }
    if (p.diagonal) {
      double const value = a(i, i);
      double const rest = value - r(i, i);
      row.residual += rest * rest;
      row.matrix += value * value;
    }
    sums.residual += row.residual;
    sums.matrix += row.matrix;
  }
  auto& total = *reinterpret_cast<ResidualSums*>(call.data[2]);
  total.residual += sums.residual;
  total.matrix += sums.matrix;
}

template <class T>
TiledMatrix<T> lower_form(TiledMatrix<T> const& a) {
  return a.part() == MatrixPart::Upper ? a.transposed() : a;
}

template <class T>
class ResidualEmitter {
 public:
  ResidualEmitter(Submitter& submitter, ResidualCodelets const& codelets, TiledMatrix<T> const& a,
                  TiledMatrix<T> const& l, std::span<DataId const> sums)
      
      : m_submitter(submitter), m_codelets(codelets), m_a(lower_form(a)), m_l(lower_form(l)), m_grid(a.grid()), m_sums(sums) {
    Bytes const bytes = m_grid.tile * m_grid.tile * sizeof(T);
    for (std::size_t s = 0; s < sums.size(); ++s) {
      m_temporaries.push_back(
          submitter.add_data({.name = "residual tile " + std::to_string(s), .bytes = bytes, .origin = {}, .home = {}}));
    }
  }

  void release() {
    for (auto temporary : m_temporaries) m_submitter.release_data(temporary);
  }

  // R_slot := [R_slot +] L(i,k) L(j,k)^T, and once k is j, the sums of R_slot
  void step(std::size_t slot, std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    auto const call = make_call(i, j, k);
    auto const mode = k == 0 ? AccessMode::Write : AccessMode::ReadWrite;
    std::array const accesses{read(m_l(i, k).data), read(m_l(j, k).data), Access{m_temporaries[slot], mode}};
    auto const codelet = k < j ? m_codelets.product : m_codelets.last_product;
    double const flops = (k < j ? 2.0 : 1.0) * call.m * call.n * call.k;
    m_submitter.submit({codelet, accesses, 0, flops}, Parameters(call));
    if (k == j) sum(slot, i, j);
  }

 private:
  static Access read(DataId data) { return {data, AccessMode::Read}; }

  void sum(std::size_t slot, std::uint64_t i, std::uint64_t j) {
    auto call = make_call(i, j, 0);
    call.layout = m_a(0, 0).layout;
    call.leading = m_a(0, 0).ld;
    std::array const accesses{read(m_a(i, j).data), read(m_temporaries[slot]),
                              Access{m_sums[slot], AccessMode::ReadWrite}};
    m_submitter.submit({m_codelets.sums, accesses, 0, 6.0 * call.m * call.n}, Parameters(call));
  }
  [[nodiscard]] ResidualCall make_call(std::uint64_t i, std::uint64_t j, std::uint64_t k) const {
    auto const order = [&](std::uint64_t tile) { return static_cast<std::int32_t>(m_grid.rows_in(tile)); };
    return {order(i),
            order(j),
            order(k),
            m_l(0, 0).ld,
            static_cast<std::int32_t>(m_grid.tile),
            m_l(0, 0).layout,
            k == 0,
            i == j};
  }

  Submitter& m_submitter;
  ResidualCodelets const& m_codelets;
  TiledMatrix<T> m_a;
  TiledMatrix<T> m_l;
  TileGrid m_grid;
  std::span<DataId const> m_sums;
  std::vector<DataId> m_temporaries;
};

}  // namespace

std::uint64_t residual_block(TileGrid const& grid, Bytes tile_bytes, Bytes memory) {
  std::uint64_t block = 1;
  auto const tiles = memory / tile_bytes;
  while (block < grid.tile_rows() && (block + 1) * (block + 1) + 4 * (block + 1) <= tiles) ++block;
  return block;
}

template <class T>
ResidualCodelets add_residual_codelets(Submitter& submitter) {
  auto const add = [&](char const* name, Kernel kernel) {
    return submitter.add_codelet({.name = name, .kernels = {kernel, nullptr}, .launches_kokkos_kernels = false});
  };
  return {add("residual product", run_product<T>), add("residual last product", run_last_product<T>),
          add("residual sums", run_sums<T>)};
}

template <class T>
void submit_residual(Submitter& submitter, ResidualCodelets const& codelets, TiledMatrix<T> const& a,
                     TiledMatrix<T> const& l, std::span<DataId const> sums) {
  auto const count = a.grid().tile_rows();
  if (a.grid() != l.grid() || sums.empty()) {
    throw InvalidArgument(
        "the residual needs a matrix and a factor of the same order and tile size, and at least one sum");
  }
  ResidualEmitter<T> emit(submitter, codelets, a, l, sums);
  auto const block = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(sums.size())));
  for (std::uint64_t i0 = 0; i0 < count; i0 += block) {
    for (std::uint64_t j0 = 0; j0 <= i0; j0 += block) {
      auto const i1 = std::min(i0 + block, count);
      auto const j1 = std::min(j0 + block, i1);
      for (std::uint64_t k = 0; k < j1; ++k) {
        for (std::uint64_t i = i0; i < i1; ++i) {
          for (std::uint64_t j = std::max(j0, k); j < std::min(j1, i + 1); ++j)
            emit.step((i - i0) * block + (j - j0), i, j, k);
        }
      }
    }
  }
  emit.release();
}

template <class T>
double relative_residual(std::uint64_t n, std::span<ResidualSums const> sums) {
  ResidualSums total;
  for (auto const& sum : sums) {
    total.residual += sum.residual;
    total.matrix += sum.matrix;
  }
  if (total.residual == 0) return 0;
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  return std::sqrt(total.residual / total.matrix) / (static_cast<double>(n) * epsilon);
}

template ResidualCodelets add_residual_codelets<float>(Submitter&);
template ResidualCodelets add_residual_codelets<double>(Submitter&);
template void submit_residual(Submitter&, ResidualCodelets const&, TiledMatrix<float> const&, TiledMatrix<float> const&,
                              std::span<DataId const>);
template void submit_residual(Submitter&, ResidualCodelets const&, TiledMatrix<double> const&,
                              TiledMatrix<double> const&, std::span<DataId const>);
template double relative_residual<float>(std::uint64_t, std::span<ResidualSums const>);
template double relative_residual<double>(std::uint64_t, std::span<ResidualSums const>);

}  // namespace granary
