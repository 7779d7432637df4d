// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>
#include <string>

namespace granary::workloads {

/// The tasks of a Cholesky factorization of the lower triangle in complex double precision, on tiles as in the
/// compressed matrix of Memory (section V): dense ones on the diagonal, and others that stand for low-rank ones, which
/// grow at random while they are updated. Tasks assemble the tiles first; they have no home. With flush hints as in
/// Memory, Figure 3.
///
/// The kernels compute nothing: they read what they are given, write values of the right sizes, and so move what a
/// factorization moves. The flops are as in LAPACK's routines for the updates of tiles of the mean first rank (Memory,
/// V-A; a recompression by QR and SVD), for simulations.
///
/// ```cpp
/// granary::workloads::GrowingCholesky const cholesky({.tiles = 20, .tile = 512});
/// granary::detail::MatrixPosition const tile{.row = 7, .column = 5};
/// granary::Bytes const first = cholesky.value_bytes(tile, 1), last = cholesky.value_bytes(tile, 7);
/// assert(first < last && last <= 2 * first + 32 * 512);  // whole ranks: 32 * 512 bytes each
/// ```
class GRANARY_EXPORT GrowingCholesky final : public Workload {
 public:
  struct Options {
    std::uint64_t tiles = 100;
    std::uint64_t tile = 512;
    double fraction =
        0.1;            ///< first size of the mean tile beside the diagonal, of a dense one's; others: 0.5 to 1.5 of it
    double growth = 2;  ///< a tile grows at most by this factor, at least 1; the mean one by half of the increase
    std::uint64_t seed = 0;
  };
  /// Throws InvalidArgument for a matrix that Tiling::check refuses, and for a fraction or a growth out of range.
  explicit GrowingCholesky(Options options);

  /// The home is not used.
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return "cholesky-growing"; }
  /// Of the first values.
  [[nodiscard]] Bytes working_set() const override;
  [[nodiscard]] double flops() const override;
  /// The bytes of the value that the tile's `version`-th task makes, from 1 for the one that assembles it.
  [[nodiscard]] Bytes value_bytes(detail::MatrixPosition tile, std::uint32_t version) const override;

 private:
  [[nodiscard]] Bytes dense_bytes() const { return 16 * m_options.tile * m_options.tile; }

  Options m_options;
};

}  // namespace granary::workloads
