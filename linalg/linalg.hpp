// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/cholesky.hpp>
#include <granary/linalg/file_matrix.hpp>
#include <granary/linalg/io_bounds.hpp>
#include <granary/linalg/matrices.hpp>
#include <granary/linalg/residual.hpp>

namespace granary {

/// ‖A - L Lᵀ‖_F / (n ε ‖A‖_F), computed as tasks under the runtime's memory limit: see submit_residual. Waits for them,
/// and throws what Runtime::wait does.
template <class T>
[[nodiscard]] double residual(Runtime& runtime, TiledMatrix<T> const& a, TiledMatrix<T> const& l) {
  auto const& grid = a.grid();
  auto const block = residual_block(grid, grid.tile * grid.tile * sizeof(T), runtime.options().host_memory);
  std::vector<ResidualSums> sums(block * block);
  std::vector<DataId> ids;
  for (auto& sum : sums)
    ids.push_back(
        runtime.add_data("residual sums", sizeof(ResidualSums), {.host = reinterpret_cast<std::byte*>(&sum)}));
  submit_residual<T>(runtime.submitter(), add_residual_codelets<T>(runtime.submitter()), a, l, ids);
  for (auto id : ids) runtime.submitter().release_data(id);
  runtime.wait();
  return relative_residual<T>(grid.rows, sums);
}

/// Overwrites one triangle of a square View on the host by its Cholesky factor, in place: A = L Lᵀ (Lower) or A = Uᵀ U
/// (Upper). The other triangle is neither read nor written. Waits for the result.
///
/// Throws NotPositiveDefinite, with A partly overwritten, and what add_view_matrix and Runtime::wait throw.
template <class ViewType>
requires Kokkos::is_view<ViewType>::value void potrf(Runtime& runtime, Uplo uplo, ViewType const& a,
                                                     std::uint64_t tile = 512, CholeskyOptions const& options = {}) {
  auto tiles = add_view_matrix(runtime, a, tile, part_of(uplo));
  TaskEmitter tasks(runtime.submitter());
  potrf(tasks, tiles, options);
  tiles.release(runtime.submitter());
  runtime.wait();
}

/// Factors a matrix from a file: A = L Lᵀ (Lower) or A = Uᵀ U (Upper), according to the triangle that it was opened
/// with. Waits for the factor. Throws InvalidArgument when `uplo` is the other triangle, NotPositiveDefinite, and what
/// Runtime::wait throws.
template <class T>
void potrf(Runtime& runtime, Uplo uplo, FileMatrix<T>& a, CholeskyOptions const& options = {}) {
  if (part_of(uplo) != a.tiles().part()) throw InvalidArgument("the matrix was opened with its other triangle");
  TaskEmitter tasks(runtime.submitter());
  potrf(tasks, a.tiles(), options);
  runtime.wait();
}

}  // namespace granary
