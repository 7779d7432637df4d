// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/finite_tasks.hpp>
#include <granary/detail/linalg/data/all_finite.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

namespace granary {
namespace {

struct FiniteCall {
  detail::TileShape a;
  MatrixPart part = MatrixPart::All;  // of the tile
  bool hermitian = false;
  std::uint64_t row = 0;  // row of the tile's first element in the matrix
  std::uint64_t col = 0;
  std::shared_ptr<std::string const> name;
};

// The element (row, col) of the tile is `value`, NaN or infinity.
[[noreturn]] void refuse(FiniteCall const& p, std::int64_t row, std::int64_t col, double value) {
  throw InvalidArgument(*p.name + " holds " + (std::isnan(value) ? "NaN" : "infinity") + " at (" +
                        std::to_string(p.row + static_cast<std::uint64_t>(row)) + ", " +
                        std::to_string(p.col + static_cast<std::uint64_t>(col)) + ")");
}

template <class T>
void require_finite(T const& value, FiniteCall const& p, int row, int col) {
  bool const real_only = p.hermitian && p.part != MatrixPart::All && row == col;
  if (real_only ? std::isfinite(detail::real_part(value)) : detail::is_finite(value)) return;
  refuse(p, row, col, std::isfinite(detail::real_part(value)) ? detail::modulus(value) : detail::real_part(value));
}

template <class T>
void run_finite(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<FiniteCall>(call);
  auto const a = detail::input_tile<T>(call, 0, p.a);
  bool const by_rows = a.layout == detail::TileLayout::RowMajor;
  int const lines = by_rows ? a.rows : a.cols, length = by_rows ? a.cols : a.rows;
  // In a triangle, lines end or begin at the diagonal.
  bool const ends = p.part != MatrixPart::All && (p.part == MatrixPart::Lower) == by_rows;
  bool const begins = p.part != MatrixPart::All && !ends;
  for (int line = 0; line < lines; ++line) {
    int const first = begins ? std::min(line, length) : 0, last = ends ? std::min(line + 1, length) : length;
    T const* const values = a.data + static_cast<std::ptrdiff_t>(line) * a.ld;
    if (detail::all_finite(reinterpret_cast<detail::RealOf<T> const*>(values + first),
                           static_cast<std::uint64_t>(last - first) * sizeof(T) / sizeof(detail::RealOf<T>)))
      continue;
    for (int k = first; k < last; ++k) require_finite(values[k], p, by_rows ? line : k, by_rows ? k : line);
  }
}

template <class T>
void launch_finite(detail::KernelCall const& call, detail::DeviceLane const& lane) {
  auto const& p = detail::parameters_of<FiniteCall>(call);
  kernels::find_not_finite<T>(lane, p.part, p.hermitian, detail::input_tile<T>(call, 0, p.a));
}

void check_finite(void const* parameters, detail::KernelReport const& report) {
  if (report.info == 0) return;
  auto const& p = *static_cast<FiniteCall const*>(parameters);
  auto const number = report.info - 1;
  bool const by_rows = p.a.layout == detail::TileLayout::RowMajor;
  std::int64_t const length = by_rows ? p.a.cols : p.a.rows, line = number / length, place = number % length;
  refuse(p, by_rows ? line : place, by_rows ? place : line, report.value);
}

template <class T>
detail::Codelet const finite_codelet = detail::tile_codelet<T>("finite", run_finite<T>,
                                                               detail::on_lane<launch_finite<T>>, check_finite);

void run_nothing(detail::KernelCall const&) {}
detail::Codelet const gate_codelet{
    .name = "gate", .kernels = {run_nothing, run_nothing}, .launches_kokkos_kernels = false};

}  // namespace

template <class T>
void submit_finite_checks(TaskEmitter& tasks, detail::TiledMatrix<T> const& a, bool hermitian, std::string const& name,
                          std::span<DataId const> flags) {
  auto const& grid = a.grid();
  auto const shared_name = std::make_shared<std::string const>(name);
  for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
    for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
      if (!holds(a.part(), i, j)) continue;
      auto const tile = a(i, j);
      tasks.at(i, j).emit(finite_codelet<T>, {detail::read(tile), {flags[i], detail::AccessMode::ReadWrite}}, 0, 0,
                          FiniteCall{tile.shape(), i == j ? a.part() : MatrixPart::All, hermitian, grid.first(i),
                                     grid.first(j), shared_name});
    }
  }
}

void submit_gate(TaskEmitter& tasks, std::span<DataId const> flags, detail::TileRef const& tile) {
  std::vector<detail::Access> accesses{detail::read_write(tile)};
  for (DataId const flag : flags) accesses.push_back({flag, detail::AccessMode::Read});
  tasks.emit(gate_codelet, accesses, 0, 0, 0);
}

template void submit_finite_checks(TaskEmitter&, detail::TiledMatrix<float> const&, bool, std::string const&,
                                   std::span<DataId const>);
template void submit_finite_checks(TaskEmitter&, detail::TiledMatrix<double> const&, bool, std::string const&,
                                   std::span<DataId const>);
template void submit_finite_checks(TaskEmitter&, detail::TiledMatrix<Kokkos::complex<float>> const&, bool,
                                   std::string const&, std::span<DataId const>);
template void submit_finite_checks(TaskEmitter&, detail::TiledMatrix<Kokkos::complex<double>> const&, bool,
                                   std::string const&, std::span<DataId const>);

}  // namespace granary
