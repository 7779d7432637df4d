// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/pivots.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

/// The row exchanges of an LU factorization beside its factors in a file: a dataset of integers, [k] the row that row k
/// was exchanged with, both counted from 0; granary-lu writes the same.
namespace granary {

/// The row exchanges as numbers. What they say about zero pivots is not in them.
[[nodiscard]] std::vector<std::int64_t> rows_of(Pivots const& pivots);
/// The row exchanges of a matrix of that grid from numbers. Throws DataError unless there is one for each pivot, at
/// least its own row and less than the rows.
[[nodiscard]] Pivots pivots_from_rows(TileGrid const& grid, std::span<std::int64_t const> rows);

/// Reads the row exchanges of factors that were written in that grid. Throws DataError when they are not there or not
/// of such a matrix.
[[nodiscard]] Pivots open_pivots(std::string const& path, TileGrid const& grid, std::string const& dataset = "pivots");

}  // namespace granary

#pragma GCC visibility pop
