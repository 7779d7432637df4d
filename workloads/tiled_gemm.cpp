// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/workloads/registration.hpp>
#include <granary/detail/workloads/tiled_gemm.hpp>

#include <array>

namespace granary::workloads {

void TiledGemm::submit(Submitter& submitter, DataHome home) const {
  auto const tiles = m_tiling.tiles;
  auto const gemm = detail::add_codelet(submitter, "gemm", m_tiling.variant());
  std::array<std::vector<DataId>, 3> data;
  for (std::size_t matrix = 0; matrix < data.size(); ++matrix) {
    std::string const name(1, "ABC"[matrix]);
    for (std::uint64_t i = 0; i < tiles * tiles; ++i) {
      data[matrix].push_back(detail::add_home_data(submitter, home, detail::tile_name(name, i / tiles, i % tiles),
                                                   m_tiling.tile_bytes(i / tiles, i % tiles),
                                                   detail::tile_position(i / tiles, i % tiles)));
    }
  }
  auto const update = [&](std::uint64_t tile, std::uint64_t k) {
    std::array const accesses{detail::Access{data[0][tile / tiles * tiles + k], detail::AccessMode::Read},
                              detail::Access{data[1][k * tiles + tile % tiles], detail::AccessMode::Read},
                              detail::Access{data[2][tile], m_tiling.commuting ? detail::AccessMode::Commute
                                                                               : detail::AccessMode::ReadWrite}};
    detail::TaskIndex const index{static_cast<std::int32_t>(tile / tiles), static_cast<std::int32_t>(tile % tiles),
                                  static_cast<std::int32_t>(k)};
    auto const grid = m_tiling.grid();
    auto const products = grid.elements_in(tile / tiles, tile % tiles) * grid.cols_in(k);
    submitter.submit({gemm, accesses, 0, m_tiling.flops(2 * static_cast<double>(products)), index}, {});
  };
  bool const by_tile = m_order == GemmOrder::ByTile;
  auto const outer = by_tile ? tiles * tiles : tiles;
  auto const inner = by_tile ? tiles : tiles * tiles;
  for (std::uint64_t a = 0; a < outer; ++a) {
    for (std::uint64_t b = 0; b < inner; ++b) update(by_tile ? a : b, by_tile ? b : a);
  }
}

double TiledGemm::flops() const {
  auto const n = static_cast<double>(m_tiling.order());
  return m_tiling.flops(2 * n * n * n);
}

}  // namespace granary::workloads
