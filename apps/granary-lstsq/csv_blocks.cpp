// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "csv_blocks.hpp"

#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>

namespace granary::app {
namespace {

using namespace detail;

struct ReadCall {
  TileShape block;
  std::shared_ptr<CsvRows> text;
  bool last = false;
};

void run_read(KernelCall const& call) {
  auto const& p = parameters_of<ReadCall>(call);
  auto const block = output_tile<double>(call, 1, p.block);
  for (int i = 0; i < block.rows; ++i) p.text->next(&block(i, 0));
  if (p.last) p.text->require_end();
}

Codelet const read_codelet = tile_codelet<double>("read_csv", run_read);

}  // namespace

CsvBlocks::CsvBlocks(TaskEmitter& tasks, CsvInfo const& info, std::uint64_t rows, std::uint64_t ring)
    : m_tasks(tasks),
      m_grid{info.rows, info.cols(), rows},
      m_text(std::make_shared<CsvRows>(info, CsvRows::Values::Finite)),
      m_turn(tasks.submitter()),
      m_blocks(tasks.submitter()) {
  m_turn.add({.name = "turn", .bytes = 1});
  for (std::uint64_t i = 0; i < std::min(ring, count()); ++i) {
    m_blocks.add({.name = "rows of " + info.path, .bytes = m_grid.rows_in(0) * m_grid.cols * sizeof(double)});
  }
}

TileRef CsvBlocks::read(std::uint64_t i) {
  auto const rows = to_int32(m_grid.rows_in(i), "rows"), cols = to_int32(m_grid.cols, "columns");
  TileRef block{{rows, cols, cols, TileLayout::RowMajor}, m_blocks[i % m_blocks.size()]};
  Access const turn{m_turn[0], i == 0 ? AccessMode::Write : AccessMode::ReadWrite};
  // Reading is what others wait for.
  m_tasks.at(i, 0).emit(read_codelet, {turn, write(block)}, 1, 0, ReadCall{block.shape(), m_text, i + 1 == count()});
  return block;
}

}  // namespace granary::app
