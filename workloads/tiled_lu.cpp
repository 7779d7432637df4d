// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/tiled_matrix.hpp>
#include <granary/workloads/registration.hpp>
#include <granary/workloads/tiled_lu.hpp>

#include <algorithm>
#include <array>

namespace granary {
namespace {

class LuEmitter {
 public:
  LuEmitter(Submitter& submitter, DataHome home, Tiling const& tiling)
      : m_submitter(submitter),
        m_tiles(tiling.tiles),
        m_cube(tiling.cube()),
        m_getrf(detail::add_codelet(submitter, "getrf", tiling.variant())),
        m_trsm_ll(detail::add_codelet(submitter, "trsm_ll", tiling.variant())),
        m_trsm_ru(detail::add_codelet(submitter, "trsm_ru", tiling.variant())),
        m_gemm(detail::add_codelet(submitter, "gemm", tiling.variant())) {
    m_data.reserve(m_tiles * m_tiles);
    for (std::uint64_t i = 0; i < m_tiles; ++i) {
      for (std::uint64_t j = 0; j < m_tiles; ++j) {
        m_data.push_back(detail::add_home_data(submitter, home, tile_name("A", i, j), tiling.tile_bytes()));
      }
    }
  }

  void right_looking() {
    for (std::uint64_t k = 0; k < m_tiles; ++k) {
      getrf(k);
      for (std::uint64_t j = k + 1; j < m_tiles; ++j) trsm_ll(k, j);
      for (std::uint64_t i = k + 1; i < m_tiles; ++i) trsm_ru(i, k);
      for (std::uint64_t i = k + 1; i < m_tiles; ++i) {
        for (std::uint64_t j = k + 1; j < m_tiles; ++j) gemm(i, j, k);
      }
    }
  }
  void left_looking() {
    for (std::uint64_t j = 0; j < m_tiles; ++j) {
      for (std::uint64_t i = 0; i < m_tiles; ++i) {
        for (std::uint64_t k = 0; k < std::min(i, j); ++k) gemm(i, j, k);
        if (i < j) trsm_ll(i, j);
        if (i == j) getrf(j);
        if (i > j) trsm_ru(i, j);
      }
    }
  }

 private:
  void getrf(std::uint64_t k) { emit(m_getrf, std::array{rw(k, k)}, 2 * m_cube / 3); }
  void trsm_ll(std::uint64_t k, std::uint64_t j) { emit(m_trsm_ll, std::array{r(k, k), rw(k, j)}, m_cube); }
  void trsm_ru(std::uint64_t i, std::uint64_t k) { emit(m_trsm_ru, std::array{r(k, k), rw(i, k)}, m_cube); }
  void gemm(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    emit(m_gemm, std::array{r(i, k), r(k, j), rw(i, j)}, 2 * m_cube);
  }
  [[nodiscard]] Access r(std::uint64_t i, std::uint64_t j) const { return {m_data[i * m_tiles + j], AccessMode::Read}; }
  [[nodiscard]] Access rw(std::uint64_t i, std::uint64_t j) const {
    return {m_data[i * m_tiles + j], AccessMode::ReadWrite};
  }
  void emit(CodeletId codelet, std::span<Access const> accesses, double flops) {
    m_submitter.submit({codelet, accesses, 0, flops}, {});
  }

  Submitter& m_submitter;
  std::uint64_t m_tiles;
  double m_cube;
  CodeletId m_getrf;
  CodeletId m_trsm_ll;
  CodeletId m_trsm_ru;
  CodeletId m_gemm;
  std::vector<DataId> m_data;
};

}  // namespace

void TiledLu::submit(Submitter& submitter, DataHome home) const {
  LuEmitter emitter(submitter, home, m_tiling);
  if (m_left_looking) {
    emitter.left_looking();
  } else {
    emitter.right_looking();
  }
}

// N getrf, N(N-1)/2 of each trsm, N(N-1)(2N-1)/6 gemm: 2/3 n^3 in all.
double TiledLu::flops() const {
  auto const n = static_cast<double>(m_tiling.tiles);
  return m_tiling.cube() * (2 * n / 3 + n * (n - 1) + n * (n - 1) * (2 * n - 1) / 3);
}

}  // namespace granary
