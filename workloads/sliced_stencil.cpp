// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/workloads/registration.hpp>
#include <granary/detail/workloads/sliced_stencil.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace granary::workloads {
namespace {

constexpr std::uint64_t most = 65536;  // cells in a direction
constexpr double flops_of_cell = 10;

// By generation.
using Pair = std::array<DataId, 2>;

struct Slice {
  Pair layers;
  Pair below;  // copies of the neighbours' borders
  Pair above;
};

}  // namespace

SlicedStencil::SlicedStencil(Options options) : m_options(std::move(options)) {
  auto const& [x, y, z] = m_options.size;
  auto const possible = [](std::uint64_t count) { return count > 0 && count <= most; };
  auto const slices = m_options.slices;
  if (!possible(x) || !possible(y) || !possible(z) || !possible(slices) || !possible(m_options.iterations) ||
      layers_of(slices - 1) == 0) {
    throw InvalidArgument("a grid of " + std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z) +
                          " cells cannot be cut into " + std::to_string(slices) + " slices and updated " +
                          std::to_string(m_options.iterations) + " times: 1 to " + std::to_string(most) +
                          " of each, and a layer for every slice if all have the same depth, rounded up");
  }
  static_cast<void>(array_bytes({x + 2, y + 2, z + 4 * slices}, 2));
}

// As in StarPU's example: all slices have the same depth until no layer is left.
std::uint64_t SlicedStencil::layers_of(std::uint64_t slice) const {
  auto const depth = (m_options.size[2] + m_options.slices - 1) / m_options.slices;
  auto const begin = std::min(m_options.size[2], depth * slice);
  return std::min(depth, m_options.size[2] - begin);
}

void SlicedStencil::submit(Submitter& submitter, DataHome home) const {
  auto const update = detail::add_codelet(submitter, "stencil_update", m_options.variant);
  auto const save_top = detail::add_codelet(submitter, "stencil_save_top", m_options.variant);
  auto const save_bottom = detail::add_codelet(submitter, "stencil_save_bottom", m_options.variant);
  auto const count = static_cast<std::size_t>(m_options.slices);
  std::vector<Slice> slices(count);
  for (std::size_t s = 0; s < count; ++s) {
    auto const name = "(0, " + std::to_string(s) + ")";
    for (std::size_t g = 0; g < 2; ++g) {
      auto const of = name + (g == 0 ? "" : "'");
      slices[s].layers[g] = detail::add_home_data(submitter, home, "slice" + of, layer_bytes() * (layers_of(s) + 2));
      slices[s].below[g] = detail::add_temporary_data(submitter, "below" + of, layer_bytes());
      slices[s].above[g] = detail::add_temporary_data(submitter, "above" + of, layer_bytes());
    }
  }
  auto const bytes = 2 * static_cast<double>(layer_bytes());
  auto const save = [&](detail::CodeletId codelet, Slice const& from, Pair const& to) {
    std::array const accesses{detail::Access{from.layers[0], detail::AccessMode::Read},
                              detail::Access{from.layers[1], detail::AccessMode::Read},
                              detail::Access{to[0], detail::AccessMode::Write},
                              detail::Access{to[1], detail::AccessMode::Write}};
    submitter.submit({codelet, accesses, 0, bytes}, {});
  };
  for (std::uint64_t i = 0; i < m_options.iterations; ++i) {
    for (std::size_t s = 0; s < count; ++s) {
      save(save_top, slices[s], slices[(s + 1) % count].below);
      save(save_bottom, slices[s], slices[(s + count - 1) % count].above);
    }
    for (std::size_t s = 0; s < count; ++s) {
      auto const& [layers, below, above] = slices[s];
      std::array const accesses{detail::Access{layers[0], detail::AccessMode::ReadWrite},
                                detail::Access{layers[1], detail::AccessMode::ReadWrite},
                                detail::Access{above[0], detail::AccessMode::Read},
                                detail::Access{above[1], detail::AccessMode::Read},
                                detail::Access{below[0], detail::AccessMode::Read},
                                detail::Access{below[1], detail::AccessMode::Read}};
      auto const cells = static_cast<double>(m_options.size[0] * m_options.size[1] * layers_of(s));
      submitter.submit({update, accesses, 0, cells * flops_of_cell}, {});
    }
  }
}

Bytes SlicedStencil::working_set() const { return 2 * layer_bytes() * (m_options.size[2] + 2 * m_options.slices); }

double SlicedStencil::flops() const {
  auto const cells = static_cast<double>(m_options.size[0] * m_options.size[1] * m_options.size[2]);
  auto const copied = 4 * static_cast<double>(layer_bytes() * m_options.slices);
  return static_cast<double>(m_options.iterations) * (cells * flops_of_cell + copied);
}

}  // namespace granary::workloads
