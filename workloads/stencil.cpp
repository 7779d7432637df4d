// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/workloads/registration.hpp>
#include <granary/detail/workloads/stencil.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace granary::workloads {
namespace {

using Position = std::array<std::uint64_t, 3>;
constexpr std::size_t directions = 6;  // down and up in each of three dimensions

std::size_t opposite(std::size_t direction) { return direction ^ 1U; }

class StencilEmitter {
 public:
  StencilEmitter(Submitter& submitter, DataHome home, Stencil::Options const& options)
      : m_submitter(submitter), m_options(options) {
    m_codelet = detail::add_codelet(submitter, "stencil", options.variant);
    bool const halos = options.halo_bytes > 0;
    for_each_block([&](Position const& at) {
      auto const name = name_of(at);
      m_blocks[0].push_back(detail::add_home_data(submitter, home, "block" + name, options.block_bytes));
      if (!halos) m_blocks[1].push_back(detail::add_temporary_data(submitter, "other" + name, options.block_bytes));
      for (std::size_t d = 0; halos && d < directions; ++d) {
        bool const exists = neighbour(at, d).has_value();
        auto const face = "face" + name + "/" + std::to_string(d);
        m_faces[0].push_back(exists ? detail::add_home_data(submitter, home, face, options.halo_bytes) : DataId{});
        m_faces[1].push_back(exists ? detail::add_temporary_data(submitter, face + "'", options.halo_bytes) : DataId{});
      }
    });
  }

  void iterate(std::size_t iteration) {
    std::size_t const from = iteration % 2;
    for_each_block([&](Position const& at) {
      m_accesses.clear();
      if (m_options.halo_bytes > 0) {
        with_faces(at, from);
      } else {
        whole_blocks(at, from);
      }
      m_submitter.submit({m_codelet, m_accesses, 0, m_options.flops}, {});
    });
  }

 private:
  void with_faces(Position const& at, std::size_t from) {
    m_accesses.push_back({m_blocks[0][index(at)], detail::AccessMode::ReadWrite});
    for (std::size_t d = 0; d < directions; ++d) {
      auto const other = neighbour(at, d);
      if (!other) continue;
      m_accesses.push_back({m_faces[from][index(*other) * directions + opposite(d)], detail::AccessMode::Read});
      m_accesses.push_back({m_faces[1 - from][index(at) * directions + d], detail::AccessMode::Write});
    }
  }
  void whole_blocks(Position const& at, std::size_t from) {
    m_accesses.push_back({m_blocks[1 - from][index(at)], detail::AccessMode::Write});
    m_accesses.push_back({m_blocks[from][index(at)], detail::AccessMode::Read});
    for (std::size_t d = 0; d < directions; ++d) {
      if (auto const other = neighbour(at, d))
        m_accesses.push_back({m_blocks[from][index(*other)], detail::AccessMode::Read});
    }
  }

  template <class Function>
  void for_each_block(Function&& function) const {
    auto const& [nx, ny, nz] = m_options.blocks;
    for (std::uint64_t x = 0; x < nx; ++x) {
      for (std::uint64_t y = 0; y < ny; ++y) {
        for (std::uint64_t z = 0; z < nz; ++z) function(Position{x, y, z});
      }
    }
  }
  [[nodiscard]] std::size_t index(Position const& at) const {
    return static_cast<std::size_t>((at[0] * m_options.blocks[1] + at[1]) * m_options.blocks[2] + at[2]);
  }
  [[nodiscard]] std::optional<Position> neighbour(Position at, std::size_t direction) const {
    auto& coordinate = at[direction / 2];
    if (direction % 2 == 0) {
      if (coordinate == 0) return std::nullopt;
      --coordinate;
    } else if (++coordinate == m_options.blocks[direction / 2]) {
      return std::nullopt;
    }
    return at;
  }
  [[nodiscard]] std::string name_of(Position const& at) const {
    auto name = "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]);
    if (m_options.blocks[2] > 1) name += ", " + std::to_string(at[2]);
    return name + ")";
  }

  Submitter& m_submitter;
  Stencil::Options const& m_options;
  detail::CodeletId m_codelet;
  std::array<std::vector<DataId>, 2> m_blocks;  // by generation
  std::array<std::vector<DataId>, 2> m_faces;   // by generation; directions per block: the face for that neighbour
  std::vector<detail::Access> m_accesses;
};

}  // namespace

Stencil::Stencil(Options options) : m_options(std::move(options)) {
  auto const& [nx, ny, nz] = m_options.blocks;
  if (nx == 0 || ny == 0 || nz == 0 || nx > 4096 || ny > 4096 || nz > 4096 || m_options.iterations == 0 ||
      m_options.block_bytes == 0 || !(m_options.flops >= 0)) {
    throw InvalidArgument(
        "a stencil needs 1 to 4096 blocks in each direction, at least one iteration, blocks of at "
        "least one byte and flops of at least 0");
  }
  // An upper bound: each face counts at least as much as a block.
  static_cast<void>(array_bytes({nx, ny, nz, 1 + directions}, std::max(m_options.block_bytes, m_options.halo_bytes)));
}

void Stencil::submit(Submitter& submitter, DataHome home) const {
  StencilEmitter emitter(submitter, home, m_options);
  for (std::uint64_t i = 0; i < m_options.iterations; ++i) emitter.iterate(static_cast<std::size_t>(i));
}

std::uint64_t Stencil::count() const { return m_options.blocks[0] * m_options.blocks[1] * m_options.blocks[2]; }

std::uint64_t Stencil::faces() const {
  std::uint64_t faces = 0;
  for (auto const blocks : m_options.blocks) faces += 2 * (count() - count() / blocks);
  return faces;
}

Bytes Stencil::working_set() const { return count() * m_options.block_bytes + faces() * m_options.halo_bytes; }

double Stencil::flops() const { return static_cast<double>(count() * m_options.iterations) * m_options.flops; }

}  // namespace granary::workloads
