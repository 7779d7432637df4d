// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <granary/linalg/files/matrix_source.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// A matrix whose elements are computed, each from its indices alone (and O(rows) numbers that are computed once), so
/// that it is the same for every tile size and every order of tiles. Computed in double, then rounded.
struct GeneratedMatrix {
  enum class Kind {
    Dominant,     ///< spd_entry's symmetric positive definite matrix; Hermitian where it is complex
    General,      ///< uniform in [-1, 1], real and imaginary parts alike
    Conditioned,  ///< Hermitian positive definite with eigenvalues spaced evenly in their logarithm, from 1 down to
                  ///< 1 / condition: A = H2 H1 D H1 H2 with Householder reflections of random vectors
    Hilbert,      ///< 1 / (i + j + 1), and `nugget` added to the diagonal
    Laplacian,    ///< exp(-|x_i - x_j| / length) of the points x of a grid of spacing 1, its rows one after the other,
                  ///< and `nugget` added to the diagonal: a covariance, positive definite
  };

  Kind kind = Kind::General;
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  std::uint64_t seed = 1;       ///< Dominant, General, Conditioned
  double condition = 1;         ///< Conditioned: in the 2-norm, at least 1. Rounding blurs it from 1/(rows epsilon) on
  double length = 1;            ///< Laplacian: above 0, in spacings of the grid
  std::uint64_t grid_cols = 1;  ///< Laplacian: points in a row of the grid; divides `rows`. 1: points on a line
  double nugget = 0;            ///< Hilbert, Laplacian: not negative

  /// As parse_generated reads it.
  [[nodiscard]] std::string name() const;
};

/// Whether a text is the name of a generated matrix and not of a file: one of the words below and a colon.
[[nodiscard]] bool is_generated(std::string_view text);

/// Reads the name of a generated matrix:
///
///     random:N[:SEED]                 Dominant of order N
///     general:ROWSxCOLS[:SEED]        General; general:N for a square one
///     spd:N:CONDITION[:SEED]          Conditioned
///     hilbert:N[:NUGGET]              Hilbert
///     laplacian:N:LENGTH[:NUGGET]     Laplacian of N points on a line, or of a grid of ROWSxCOLS points
///
/// The seed is 1 and the nugget 0 unless given. Throws InvalidArgument, with the form that is expected, for anything
/// else; orders go up to 2^31 - 1.
[[nodiscard]] GeneratedMatrix parse_generated(std::string_view text);

/// The tiles of a generated matrix, with elements of this type, computed on a thread of their own. Throws
/// InvalidArgument for numbers out of their ranges and for a tile size of 0.
[[nodiscard]] std::unique_ptr<MatrixSource> open_generated(GeneratedMatrix const& matrix, std::uint64_t tile,
                                                           ScalarType type = ScalarType::Float64);
/// The same of the matrix with this name.
[[nodiscard]] std::unique_ptr<MatrixSource> open_generated(std::string_view name, std::uint64_t tile,
                                                           ScalarType type = ScalarType::Float64);

}  // namespace granary

#pragma GCC visibility pop
