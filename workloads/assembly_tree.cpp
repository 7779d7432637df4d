// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/workloads/assembly_tasks.hpp>
#include <granary/detail/workloads/assembly_tree.hpp>

#include <algorithm>

namespace granary::workloads {

AssemblyTree::AssemblyTree(Options options) : m_options(options) {
  if (options.levels == 0 || options.levels > 16 || options.root_blocks == 0 || options.root_blocks > 512 ||
      options.block == 0 || options.block > 65536) {
    throw InvalidArgument(
        "an assembly tree has 1 to 16 levels and a root of 1 to 512 blocks of order 1 to 65536, not " +
        std::to_string(options.levels) + ", " + std::to_string(options.root_blocks) + " and " +
        std::to_string(options.block));
  }
  detail::Random random(options.seed);
  grow(0, options.root_blocks, random);
  detail::GraphRecorder record;
  submit(record, {NodeId(0)});
  for (auto const& data : record.data()) m_working_set += data.home.valid() ? data.bytes : 0;
  for (auto const& task : record.tasks()) m_flops += task.flops;
}

// A front's contribution is at most the size of its parent. Halving the size per level, or a little less, is typical of
// nested dissection of grids between two and three dimensions.
std::size_t AssemblyTree::grow(std::uint64_t level, std::uint64_t blocks, detail::Random& random) {
  AssemblyFront front{.blocks = blocks, .pivots = blocks, .children = {}};
  if (level > 0) {
    double const part = 0.35 + 0.3 * random.uniform();
    front.pivots = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(part * static_cast<double>(blocks)));
  }
  if (level + 1 < m_options.levels && blocks > 1) {
    auto const children = random.chance(0.7) ? 2 : random.between(1, 3);
    for (std::int64_t child = 0; child < children; ++child) {
      double const part = 0.5 + 0.25 * random.uniform();
      auto const size = static_cast<std::uint64_t>(part * static_cast<double>(blocks));
      front.children.push_back(grow(level + 1, std::max<std::uint64_t>(1, size), random));
    }
  }
  m_fronts.push_back(std::move(front));
  return m_fronts.size() - 1;
}

void AssemblyTree::submit(Submitter& submitter, DataHome home) const {
  detail::FrontBlocks const blocks{m_options.block, m_options.precision};
  switch (m_options.shape) {
    case Shape::Qr:
      return detail::emit_qr_fronts(submitter, home, blocks, m_fronts);
    case Shape::QrTiles:
      return detail::emit_qr_tile_fronts(submitter, home, blocks, m_fronts);
    case Shape::Ldlt:
      return detail::emit_ldlt_fronts(submitter, home, blocks, m_fronts);
  }
}

std::string AssemblyTree::name() const {
  if (m_options.shape == Shape::Ldlt) return "tree-ldlt";
  return m_options.shape == Shape::Qr ? "tree" : "tree-qr-tiles";
}

}  // namespace granary::workloads
