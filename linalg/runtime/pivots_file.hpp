// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/data/pivots.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The row exchanges of an LU factorization, stored with its factors in a file: a dataset of integers, where [k] is the
/// row that row k was exchanged with, counted from 0. granary-lu writes the same.
///
/// ```cpp
/// granary::Runtime runtime;
/// auto A = granary::open_matrix<double>(runtime, "general:256", "", {.tile = 64, .output = "LU.h5"});
/// A.add_pivots(granary::getrf(runtime, A));
/// A.commit();
///
/// auto const LU = granary::open_matrix<double>(runtime, "LU.h5", "/A", {.tile = 64});
/// granary::Pivots const pivots = granary::open_pivots("LU.h5", LU.tiles().grid());
/// Kokkos::View<double*, Kokkos::HostSpace> b("b", 256);
/// granary::getrs(runtime, granary::Op::NoTrans, LU, pivots, b);  // solves with the factors of another run
/// ```
namespace granary {

/// The row exchanges as numbers, without the information about zero pivots.
[[nodiscard]] GRANARY_EXPORT std::vector<std::int64_t> rows_of(Pivots const& pivots);
/// The row exchanges, from numbers, of a matrix with that grid. Throws DataError unless there is one number per pivot,
/// each at least its own row and below the number of rows.
[[nodiscard]] GRANARY_EXPORT Pivots pivots_from_rows(detail::TileGrid const& grid, std::span<std::int64_t const> rows);

/// Reads the row exchanges of factors that were written with that grid. Throws DataError if they are missing or do not
/// fit such a matrix.
[[nodiscard]] GRANARY_EXPORT Pivots open_pivots(std::string const& path, detail::TileGrid const& grid,
                                                std::string const& dataset = "pivots");

}  // namespace granary
