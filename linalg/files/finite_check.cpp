// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/finite_check.hpp>

#include <cmath>
#include <cstdint>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/data/all_finite.hpp>

namespace granary::detail {
namespace {

struct Columns {
  std::uint64_t first;
  std::uint64_t end;
};

// The columns of row r (within tile (i, j)) that belong to the part.
Columns columns_of(MatrixPart part, std::uint64_t i, std::uint64_t j, std::uint64_t r, std::uint64_t cols) {
  if (part == MatrixPart::All) return {0, cols};
  if (i == j) return part == MatrixPart::Lower ? Columns{0, std::min(r + 1, cols)} : Columns{std::min(r, cols), cols};
  return (part == MatrixPart::Lower) == (i > j) ? Columns{0, cols} : Columns{0, 0};
}

// `width`: numbers per element, 2 if it is complex.
template <class T>
std::exception_ptr check(TileGrid const& tiling, std::uint64_t slot, T const* values, std::uint64_t width,
                         MatrixPart part, std::string const& name, std::vector<std::string> const& columns) {
  auto const i = tiling.row_of(slot);
  auto const j = tiling.col_of(slot);
  for (std::uint64_t r = 0; r < tiling.rows_in(i); ++r) {
    auto const cols = tiling.cols_in(j);
    auto const [first, end] = columns_of(part, i, j, r, cols);
    T const* row = values + r * cols * width;
    if (all_finite(row + first * width, (end - first) * width)) continue;
    auto k = first * width;
    while (std::isfinite(row[k])) ++k;
    auto const column = j * tiling.tile + k / width;
    return std::make_exception_ptr(DataError(name + " holds " + (std::isnan(row[k]) ? "NaN" : "infinity") + " at (" +
                                             std::to_string(i * tiling.tile + r) + ", " + std::to_string(column) + ")" +
                                             (columns.empty() ? "" : ", in column " + excerpt(columns[column], 60))));
  }
  return nullptr;
}

}  // namespace

std::exception_ptr check_finite(TileGrid const& tiling, std::uint64_t slot, std::byte const* values, ScalarType type,
                                MatrixPart part, std::string const& name, std::vector<std::string> const& columns) {
  std::uint64_t const width = is_complex_type(type) ? 2 : 1;
  if (size_of(type) / width == sizeof(float))
    return check(tiling, slot, reinterpret_cast<float const*>(values), width, part, name, columns);
  return check(tiling, slot, reinterpret_cast<double const*>(values), width, part, name, columns);
}

}  // namespace granary::detail
