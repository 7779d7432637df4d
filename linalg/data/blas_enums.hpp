// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

namespace granary {

/// The triangle of a matrix that is stored and referenced.
enum class GRANARY_EXPORT Uplo : char { Lower = 'L', Upper = 'U' };

/// On which side of the unknown, or of the other factor, the matrix is.
enum class GRANARY_EXPORT Side : char { Left = 'L', Right = 'R' };

/// op(A): A itself, its transpose, or its conjugate transpose (the transpose if A is real).
enum class GRANARY_EXPORT Op : char { NoTrans = 'N', Trans = 'T', ConjTrans = 'C' };

/// The diagonal of a triangle: stored, or implicitly one.
enum class GRANARY_EXPORT Diag : char { NonUnit = 'N', Unit = 'U' };

/// Norms of a matrix: max |a_ij|, the one norm, the infinity norm, the Frobenius norm.
enum class GRANARY_EXPORT Norm : char { Max = 'M', One = 'O', Infinity = 'I', Frobenius = 'F' };

namespace detail {

/// The contiguous lines of a matrix: its columns or its rows.
enum class GRANARY_EXPORT TileLayout : char { ColumnMajor, RowMajor };

}  // namespace detail

[[nodiscard]] constexpr Uplo flip(Uplo uplo) { return uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower; }
[[nodiscard]] constexpr Side flip(Side side) { return side == Side::Left ? Side::Right : Side::Left; }

}  // namespace granary
