// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/priorities/cholesky.hpp>
#include <granary/detail/workloads/growing_cholesky.hpp>
#include <granary/detail/workloads/tiling.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace granary::workloads {
namespace {

constexpr Bytes element_bytes = 16;
constexpr double complex_flops = 4;

// A task's accesses to its data, at most three.
struct Touch {
  std::array<detail::AccessMode, 3> modes{};
  Bytes dense = 0;  // bytes of a dense tile
  Bytes made = 0;   // of the value that it makes of a varying datum
};

// Reads a byte of each page of what the task reads, and writes one of each page of what it writes.
void touch(detail::KernelCall const& call) {
  constexpr Bytes page = 4096;
  auto const& task = *static_cast<Touch const*>(call.parameters);
  auto sum = std::byte{1};
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    Bytes const bytes = call.bytes.empty() ? task.dense : call.bytes[i];
    for (Bytes at = 0; at < bytes && reads(task.modes[i]); at += page) sum ^= call.data[i][at];
  }
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    if (!writes(task.modes[i])) continue;
    bool const varies = !call.results.empty() && call.results[i].data != nullptr;
    auto* const to = varies ? call.results[i].data : call.data[i];
    Bytes const bytes = varies ? std::min(task.made, call.results[i].room) : task.dense;
    for (Bytes at = 0; at < bytes; at += page) to[at] = sum;
    if (varies) call.result_bytes[i] = bytes;
  }
}

// The rank of a recompressed sum is at most the sum of the tile's and the product's (Memory, V-A).
Bytes sum_of_ranks(void const*, std::span<Bytes const> bytes, std::size_t result) {
  return bytes[result] + std::min(bytes[0], bytes[1]);
}
Bytes as_large(void const*, std::span<Bytes const> bytes, std::size_t result) { return bytes[result]; }
Bytes as_made(void const* parameters, std::span<Bytes const>, std::size_t) {
  return static_cast<Touch const*>(parameters)->made;
}

// Floating-point operations on tiles of order b and rank r.
struct RankFlops {
  double b, r;

  [[nodiscard]] double potrf() const { return complex_flops * b * b * b / 3; }
  [[nodiscard]] double assemble() const { return complex_flops * 2 * b * b * r; }
  [[nodiscard]] double trsm() const { return complex_flops * b * b * r; }  // of one factor
  [[nodiscard]] double herk() const { return complex_flops * (4 * b * r * r + b * b * r); }
  // The product of the inner factors, two QR of b x 2r, an SVD of 2r x 2r, and the new factors.
  [[nodiscard]] double gemm() const {
    double const s = 2 * r;
    return complex_flops * (4 * b * r * r + 2 * 2 * b * s * s + 22 * s * s * s + 2 * 4 * b * s * r);
  }
};

}  // namespace

GrowingCholesky::GrowingCholesky(Options options) : m_options(options) {
  Tiling{options.tiles, options.tile, detail::Precision::ComplexDouble}.check();
  if (!(options.fraction > 0 && options.fraction <= 0.5 && options.growth >= 1 && options.growth <= 4)) {
    throw InvalidArgument("tiles cannot have " + std::to_string(options.fraction) +
                          " of the bytes of dense ones at first, and grow by a factor of " +
                          std::to_string(options.growth) +
                          ": the first is more than 0 and at most 0.5, the second 1 to 4");
  }
}

Bytes GrowingCholesky::value_bytes(detail::MatrixPosition tile, std::uint32_t version) const {
  if (tile.row == tile.column) return dense_bytes();
  detail::Random random(m_options.seed * 0x9e3779b97f4a7c15U + (static_cast<std::uint64_t>(tile.row) << 32) +
                        static_cast<std::uint64_t>(tile.column));
  double const first = static_cast<double>(dense_bytes()) * m_options.fraction * (0.5 + random.uniform());
  double const growth = (m_options.growth - 1) * random.uniform();
  // Its updates, one for each column before it, and the solve with the diagonal tile.
  auto const updates = static_cast<double>(tile.column);
  double const done = updates == 0 ? 0 : std::min(static_cast<double>(version - 1), updates) / updates;
  Bytes const rank = 2 * element_bytes * m_options.tile;  // bytes of a rank
  auto const ranks =
      std::max<Bytes>(1, static_cast<Bytes>(std::lround(first * (1 + growth * done) / static_cast<double>(rank))));
  return std::min(dense_bytes(), ranks * rank);
}

void GrowingCholesky::submit(Submitter& submitter, DataHome) const {
  auto const n = m_options.tiles;
  auto const b = static_cast<double>(m_options.tile);
  RankFlops const flops{b, m_options.fraction * b / 2};
  detail::CholeskyPriorities const levels(n, {});
  auto const codelet = [&](char const* name, detail::ResultBytes result_bytes = nullptr) {
    return submitter.add_codelet({.name = name,
                                  .kernels = {touch, nullptr},
                                  .launches_kokkos_kernels = false,
                                  .variant = "z",
                                  .result_bytes = result_bytes});
  };
  auto const assemble_dense = codelet("assemble"), assemble = codelet("lr_assemble", as_made);
  auto const potrf = codelet("potrf"), trsm = codelet("lr_trsm", as_large);
  auto const herk = codelet("lr_herk"), gemm = codelet("lr_gemm", sum_of_ranks);

  std::vector<DataId> data(n * (n + 1) / 2);
  std::vector<std::uint32_t> versions(data.size());
  auto const at = [](std::uint64_t i, std::uint64_t j) { return i * (i + 1) / 2 + j; };
  // A task on tiles of the lower triangle, the last of which it writes.
  auto const submit = [&](detail::CodeletId id, double operations, std::int64_t priority, detail::TaskIndex index,
                          std::initializer_list<detail::Access> accesses, std::uint64_t i, std::uint64_t j) {
    Touch task{.dense = dense_bytes(), .made = value_bytes(detail::tile_position(i, j), ++versions[at(i, j)])};
    std::transform(accesses.begin(), accesses.end(), task.modes.begin(),
                   [](detail::Access const& access) { return access.mode; });
    submitter.submit({.codelet = id,
                      .accesses = {accesses.begin(), accesses.size()},
                      .priority = priority,
                      .flops = operations,
                      .index = index},
                     detail::Parameters(task));
  };
  auto const index = [](std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    return detail::TaskIndex{static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), static_cast<std::int32_t>(k)};
  };
  auto const tile = [&](std::uint64_t i, std::uint64_t j, detail::AccessMode mode) {
    return detail::Access{data[at(i, j)], mode};
  };

  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) {
      auto const position = detail::tile_position(i, j);
      bool const dense = i == j;
      data[at(i, j)] = submitter.add_data({.name = detail::tile_name("A", i, j),
                                           .bytes = value_bytes(position, 1),
                                           .position = position,
                                           .bound = dense ? 0 : dense_bytes()});
      submit(dense ? assemble_dense : assemble, dense ? 2 * b * b : flops.assemble(), levels.potrf(0) + 1,
             index(i, j, 0), {tile(i, j, detail::AccessMode::Write)}, i, j);
    }
  }
  for (std::uint64_t k = 0; k < n; ++k) {
    submit(potrf, flops.potrf(), levels.potrf(k), index(k, k, k), {tile(k, k, detail::AccessMode::ReadWrite)}, k, k);
    for (std::uint64_t i = k + 1; i < n; ++i) {
      submit(trsm, flops.trsm(), levels.trsm(i, k), index(i, k, k),
             {tile(k, k, detail::AccessMode::Read), tile(i, k, detail::AccessMode::ReadWrite)}, i, k);
    }
    submitter.last_use(data[at(k, k)]);
    for (std::uint64_t j = k + 1; j < n; ++j) {
      submit(herk, flops.herk(), levels.syrk(j, k), index(j, j, k),
             {tile(j, k, detail::AccessMode::Read), tile(j, j, detail::AccessMode::ReadWrite)}, j, j);
      for (std::uint64_t i = j + 1; i < n; ++i) {
        submit(gemm, flops.gemm(), levels.gemm(i, j, k), index(i, j, k),
               {tile(i, k, detail::AccessMode::Read), tile(j, k, detail::AccessMode::Read),
                tile(i, j, detail::AccessMode::ReadWrite)},
               i, j);
      }
      submitter.last_use(data[at(j, k)]);
    }
  }
}

Bytes GrowingCholesky::working_set() const {
  Bytes sum = 0;
  for (std::uint64_t i = 0; i < m_options.tiles; ++i) {
    for (std::uint64_t j = 0; j <= i; ++j) sum += value_bytes(detail::tile_position(i, j), 1);
  }
  return sum;
}

double GrowingCholesky::flops() const {
  auto const n = static_cast<double>(m_options.tiles);
  auto const b = static_cast<double>(m_options.tile);
  RankFlops const one{b, m_options.fraction * b / 2};
  double const pairs = n * (n - 1) / 2;
  return n * (one.potrf() + 2 * b * b) + pairs * (one.assemble() + one.trsm() + one.herk()) +
         pairs * (n - 2) / 3 * one.gemm();
}

}  // namespace granary::workloads
