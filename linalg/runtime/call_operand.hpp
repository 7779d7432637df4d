// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/linalg/data/blas_enums.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/linalg/runtime/view_form.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace granary::detail {

/// The tile size of the Views of a call. Empty: as in the FileMatrix or TiledMatrix operands; if all are Views, see
/// default_tile.
using TileSize = std::optional<std::uint64_t>;

/// The tile size of a call whose operands are all Views, with n their largest extent: n / 8 for n <= 1024, otherwise
/// 128 + (n - 1024) / 12, rounded up to a multiple of 32 and clamped to [64, 512]. Of the measured rules it is the
/// fastest for potrf and getrf on two cores, with the AVX2 and the AVX-512 kernels of OpenBLAS
/// (bench/linalg/in_core.py).
[[nodiscard]] GRANARY_EXPORT std::uint64_t default_tile(std::uint64_t largest_extent);

/// An operand of a call, for its checks.
struct GRANARY_EXPORT CallOperand {
  std::string role;  ///< its letter in the call's formula
  std::string name;  ///< the View's label or the dataset; may be empty
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::uint64_t tile = 0;  ///< 0 for a View, which accepts any tile size
  MatrixPart part = MatrixPart::All;
  bool written = false;
  Op op = Op::NoTrans;
  std::optional<ByteSet> memory = {};  ///< of a View
  std::vector<DataId> data = {};       ///< of tiles, sorted

  /// Of op(A).
  [[nodiscard]] std::uint64_t op_rows() const { return op == Op::NoTrans ? rows : cols; }
  [[nodiscard]] std::uint64_t op_cols() const { return op == Op::NoTrans ? cols : rows; }
};

/// `B 'right-hand sides' (100 x 3)`, with `, transposed` according to op.
[[nodiscard]] GRANARY_EXPORT std::string describe(CallOperand const& operand);

/// Throws InvalidArgument, with the call and all operands with their sizes, unless `match`.
GRANARY_EXPORT void require_match(std::string const& call, bool match, std::span<CallOperand const> operands);
/// Throws InvalidArgument unless the operand is square.
GRANARY_EXPORT void require_square(std::string const& call, CallOperand const& operand);
/// Throws InvalidArgument if the operand has fewer rows than columns.
GRANARY_EXPORT void require_tall(std::string const& call, CallOperand const& operand);
/// Throws InvalidArgument unless the operand stores `part`.
GRANARY_EXPORT void require_part(std::string const& call, CallOperand const& operand, MatrixPart part);
/// Throws InvalidArgument unless the operand has the number of rows of the factored matrix, whose pivots it is used
/// with.
GRANARY_EXPORT void require_pivots(std::string const& call, CallOperand const& operand, TileGrid const& factored);
/// Throws InvalidArgument unless the output of the matrix is for `part`, too.
GRANARY_EXPORT void require_whole_output(std::string const& call, std::string const& name, MatrixPart opened,
                                         MatrixPart part);
/// Throws InvalidArgument if an operand that is written shares elements with another.
GRANARY_EXPORT void require_distinct(std::string const& call, std::span<CallOperand const> operands);
/// The tile size of a call. Throws InvalidArgument if 0 was requested, or two different sizes.
[[nodiscard]] GRANARY_EXPORT std::uint64_t choose_tile(std::string const& call, TileSize asked,
                                                       std::span<CallOperand const> operands);

}  // namespace granary::detail
