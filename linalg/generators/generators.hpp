// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_source.hpp>

namespace granary {

/// A generated matrix. Each element is computed from its indices alone (and O(rows) numbers that are computed once), so
/// that the matrix does not depend on tile size and tile order. Computed in double, then rounded.
struct GRANARY_EXPORT GeneratedMatrix {
  enum class Kind {
    Dominant,     ///< spd_entry's symmetric positive definite matrix; Hermitian if complex
    General,      ///< uniform in [-1, 1], real and imaginary parts separately
    Conditioned,  ///< Hermitian positive definite with logarithmically spaced eigenvalues from 1 down to
                  ///< 1 / condition: A = H2 H1 D H1 H2 with Householder reflections of random vectors
    Hilbert,      ///< 1 / (i + j + 1), plus `nugget` on the diagonal
    Laplacian,    ///< exp(-|x_i - x_j| / length) for points x of a grid of spacing 1, row by row,
                  ///< plus `nugget` on the diagonal: a covariance, positive definite
  };

  Kind kind = Kind::General;
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  std::uint64_t seed = 1;  ///< Dominant, General, Conditioned
  double condition = 1;    ///< Conditioned: in the 2-norm, at least 1. Inexact from 1/(rows epsilon) on, by rounding
  double length = 1;       ///< Laplacian: above 0, in spacings of the grid
  std::uint64_t grid_cols = 1;  ///< Laplacian: points in a row of the grid; divides `rows`. 1: points on a line
  double nugget = 0;            ///< Hilbert, Laplacian: at least 0

  /// The name that parse_generated reads.
  [[nodiscard]] std::string name() const;
};

/// True if a text names a generated matrix and not a file: one of the words below and a colon.
[[nodiscard]] GRANARY_EXPORT bool is_generated(std::string_view text);

/// Parses the name of a generated matrix:
///
/// ```text
/// random:N[:SEED]                 Dominant of order N
/// general:ROWSxCOLS[:SEED]        General; general:N for a square one
/// spd:N:CONDITION[:SEED]          Conditioned
/// hilbert:N[:NUGGET]              Hilbert
/// laplacian:N:LENGTH[:NUGGET]     Laplacian of N points on a line, or of a grid of ROWSxCOLS points
/// ```
///
/// The defaults are seed 1 and nugget 0. Throws InvalidArgument with the expected form for anything else; orders are at
/// most 2^31 - 1.
///
/// ```cpp
/// auto const matrix = granary::parse_generated("spd:1000:1e6");
/// assert(matrix.rows == 1000 && matrix.condition == 1e6);
/// granary::Runtime runtime;
/// auto const A = granary::open_matrix<double>(runtime, "spd:1000:1e6");  // elements are computed when they are read
/// ```
[[nodiscard]] GRANARY_EXPORT GeneratedMatrix parse_generated(std::string_view text);

/// The tiles of a generated matrix with elements of this type, computed on a separate thread. Throws InvalidArgument
/// for numbers out of range and for a tile size of 0.
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<detail::MatrixSource> open_generated(
    GeneratedMatrix const& matrix, std::uint64_t tile, ScalarType type = ScalarType::Float64);
/// The same for the matrix with this name.
[[nodiscard]] GRANARY_EXPORT std::unique_ptr<detail::MatrixSource> open_generated(
    std::string_view name, std::uint64_t tile, ScalarType type = ScalarType::Float64);

}  // namespace granary
