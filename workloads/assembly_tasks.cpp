// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/workloads/assembly_tasks.hpp>
#include <granary/detail/workloads/registration.hpp>

#include <array>

namespace granary::detail {
namespace {

using Fronts = std::vector<workloads::AssemblyFront>;

// The position in the parent of block `i` of a child's contribution: spread evenly, in order.
std::uint64_t place_in_parent(workloads::AssemblyFront const& child, std::uint64_t i,
                              workloads::AssemblyFront const& parent) {
  return (i - child.pivots) * parent.blocks / (child.blocks - child.pivots);
}

std::string front_name(std::size_t front) { return "F" + std::to_string(front); }

class Emitter {
 public:
  Emitter(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks, Fronts const& fronts)
      : m_submitter(submitter),
        m_home(home),
        m_fronts(fronts),
        m_block(static_cast<double>(blocks.order)),
        m_element(scalar_bytes(blocks.precision)),
        m_block_bytes(blocks.order * blocks.order * m_element),
        m_precision(blocks.precision),
        m_data(fronts.size()) {}

 protected:
  // The front's part of the sparse matrix.
  DataId add_entries(std::size_t front) {
    return add_home_data(m_submitter, m_home, front_name(front) + ".entries",
                         m_fronts[front].blocks * static_cast<Bytes>(m_block) * m_element);
  }
  DataId add_block(bool factored, std::string name, Bytes bytes) {
    return factored ? add_result_data(m_submitter, m_home, std::move(name), bytes)
                    : add_temporary_data(m_submitter, std::move(name), bytes);
  }
  CodeletId codelet(char const* name, RunsOn runs_on) {
    return add_codelet(m_submitter, name, letter_of(m_precision), runs_on);
  }
  // `flops`: those on real scalars.
  void emit(CodeletId codelet, std::span<Access const> accesses, double flops) {
    m_submitter.submit({codelet, accesses, 0, flops_factor(m_precision) * flops}, {});
  }
  // Copies or sums of `entries`; a complex one is two numbers.
  void emit_assembly(CodeletId codelet, std::span<Access const> accesses, double entries) {
    m_submitter.submit({codelet, accesses, 0, has_complex_scalars(m_precision) ? 2 * entries : entries}, {});
  }
  static Access r(DataId data) { return {data, AccessMode::Read}; }
  static Access w(DataId data) { return {data, AccessMode::Write}; }
  static Access rw(DataId data) { return {data, AccessMode::ReadWrite}; }

  Submitter& m_submitter;
  workloads::DataHome m_home;
  Fronts const& m_fronts;
  double m_block;
  Bytes m_element;
  Bytes m_block_bytes;
  Precision m_precision;
  std::vector<std::vector<DataId>> m_data;  // by front
};

class QrEmitter : Emitter {
 public:
  using Emitter::Emitter;

  void run() {
    for (std::size_t f = 0; f < m_fronts.size(); ++f) {
      initialise(f);
      for (auto const child : m_fronts[f].children) assemble(child, f);
      factor(f);
    }
  }

 private:
  [[nodiscard]] double rows(std::size_t f) const { return static_cast<double>(m_fronts[f].blocks) * m_block; }

  void initialise(std::size_t f) {
    auto const& front = m_fronts[f];
    auto const entries = add_entries(f);
    for (std::uint64_t c = 0; c < front.blocks; ++c) {
      m_data[f].push_back(add_block(c < front.pivots, tile_of(f, c), front.blocks * m_block_bytes));
      emit_assembly(m_init, std::array{r(entries), w(m_data[f].back())}, rows(f) * m_block);
    }
  }
  static std::string tile_of(std::size_t f, std::uint64_t c) {
    return front_name(f) + "(0, " + std::to_string(c) + ")";
  }

  void assemble(std::size_t child, std::size_t f) {
    auto const& from = m_fronts[child];
    for (auto c = from.pivots; c < from.blocks; ++c) {
      auto const source = m_data[child][c];
      emit_assembly(m_assemble, std::array{r(source), rw(m_data[f][place_in_parent(from, c, m_fronts[f])])},
                    rows(child) * m_block);
      m_submitter.release_data(source);
    }
  }
  // Householder: a panel of m rows takes 2 m b^2 operations, an update 4 m b^2.
  void factor(std::size_t f) {
    auto const& front = m_fronts[f];
    for (std::uint64_t k = 0; k < front.pivots; ++k) {
      double const below = rows(f) - static_cast<double>(k) * m_block;
      emit(m_panel, std::array{rw(m_data[f][k])}, 2 * below * m_block * m_block);
      for (auto j = k + 1; j < front.blocks; ++j) {
        emit(m_update, std::array{r(m_data[f][k]), rw(m_data[f][j])}, 4 * below * m_block * m_block);
      }
    }
  }

  CodeletId const m_init = codelet("qr_init", RunsOn::CpuOnly);
  CodeletId const m_assemble = codelet("qr_assemble", RunsOn::Any);
  CodeletId const m_panel = codelet("qr_panel", RunsOn::Any);
  CodeletId const m_update = codelet("qr_update", RunsOn::Any);
};

// Fronts of square tiles, of which some are contributions to the parent; the others are parts of the factors.
class TilesEmitter : protected Emitter {
 public:
  void run() {
    for (std::size_t f = 0; f < m_fronts.size(); ++f) {
      assemble(f);
      factor(f);
    }
  }

 protected:
  TilesEmitter(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks, Fronts const& fronts,
               char const* assembly)
      : Emitter(submitter, home, blocks, fronts), m_assemble(codelet(assembly, RunsOn::CpuOnly)) {}
  ~TilesEmitter() = default;

  [[nodiscard]] DataId tile(std::size_t f, std::uint64_t i, std::uint64_t j) const {
    return m_data[f][i * m_fronts[f].blocks + j];
  }
  [[nodiscard]] double cube() const { return m_block * m_block * m_block; }

 private:
  [[nodiscard]] virtual bool is_stored(std::uint64_t i, std::uint64_t j) const = 0;
  [[nodiscard]] virtual bool is_contribution(workloads::AssemblyFront const& front, std::uint64_t i,
                                             std::uint64_t j) const = 0;
  virtual void factor(std::size_t f) = 0;

  // One task per tile: the matrix' entries and the contributions of the children.
  void assemble(std::size_t f) {
    auto const& front = m_fronts[f];
    auto const entries = add_entries(f);
    m_data[f].resize(front.blocks * front.blocks);
    std::vector<std::vector<DataId>> sources(m_data[f].size());
    for (auto const c : front.children) gather(c, front, sources);
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < front.blocks; ++i) {
      for (std::uint64_t j = 0; j < front.blocks; ++j) {
        if (!is_stored(i, j)) continue;
        auto const name = front_name(f) + "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
        auto const made = add_block(!is_contribution(front, i, j), name, m_block_bytes);
        m_data[f][i * front.blocks + j] = made;
        auto const& from = sources[i * front.blocks + j];
        accesses.assign({w(made), r(entries)});
        for (auto const source : from) accesses.push_back(r(source));
        emit_assembly(m_assemble, accesses, static_cast<double>(1 + from.size()) * m_block * m_block);
        for (auto const source : from) m_submitter.release_data(source);
      }
    }
  }
  void gather(std::size_t child, workloads::AssemblyFront const& front,
              std::vector<std::vector<DataId>>& sources) const {
    auto const& from = m_fronts[child];
    for (auto i = from.pivots; i < from.blocks; ++i) {
      auto const row = place_in_parent(from, i, front);
      for (auto j = from.pivots; j < from.blocks; ++j) {
        if (is_contribution(from, i, j))
          sources[row * front.blocks + place_in_parent(from, j, front)].push_back(tile(child, i, j));
      }
    }
  }

  CodeletId const m_assemble;
};

// Householder by tiles, a flat tree over the rows: geqrt, gemqrt, tpqrt and tpmqrt of LAPACK, as in QrMumps with
// two-dimensional blocks. Fronts are factored completely, so that contributions are upper triangular.
class QrTilesEmitter final : public TilesEmitter {
 public:
  QrTilesEmitter(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks, Fronts const& fronts)
      : TilesEmitter(submitter, home, blocks, fronts, "qr_tile_assemble") {}

 private:
  [[nodiscard]] bool is_stored(std::uint64_t, std::uint64_t) const override { return true; }
  [[nodiscard]] bool is_contribution(workloads::AssemblyFront const& front, std::uint64_t i,
                                     std::uint64_t j) const override {
    return i >= front.pivots && i <= j;
  }
  // gemqrt reads a copy of the vectors, so that tpqrt need not wait for it to change the triangle in the same tile.
  void factor(std::size_t f) override {
    auto const n = m_fronts[f].blocks;
    for (std::uint64_t k = 0; k < n; ++k) {
      auto const vectors = add_block(false, front_name(f) + ".V" + std::to_string(k), m_block_bytes);
      emit(m_geqrt, std::array{rw(tile(f, k, k)), w(vectors)}, cube() * 4 / 3);
      for (auto j = k + 1; j < n; ++j) emit(m_gemqrt, std::array{r(vectors), rw(tile(f, k, j))}, 2 * cube());
      m_submitter.release_data(vectors);
      for (auto i = k + 1; i < n; ++i) {
        emit(m_tpqrt, std::array{rw(tile(f, k, k)), rw(tile(f, i, k))}, 2 * cube());
        for (auto j = k + 1; j < n; ++j) {
          emit(m_tpmqrt, std::array{r(tile(f, i, k)), rw(tile(f, k, j)), rw(tile(f, i, j))}, 4 * cube());
        }
      }
    }
  }

  CodeletId const m_geqrt = codelet("qr_geqrt", RunsOn::CpuOnly);
  CodeletId const m_gemqrt = codelet("qr_gemqrt", RunsOn::Any);
  CodeletId const m_tpqrt = codelet("qr_tpqrt", RunsOn::Any);
  CodeletId const m_tpmqrt = codelet("qr_tpmqrt", RunsOn::Any);
};

class LdltEmitter final : public TilesEmitter {
 public:
  LdltEmitter(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks, Fronts const& fronts)
      : TilesEmitter(submitter, home, blocks, fronts, "ldlt_assemble") {}

 private:
  [[nodiscard]] bool is_stored(std::uint64_t i, std::uint64_t j) const override { return j <= i; }
  [[nodiscard]] bool is_contribution(workloads::AssemblyFront const& front, std::uint64_t i,
                                     std::uint64_t j) const override {
    return j >= front.pivots && j <= i;
  }
  void factor(std::size_t f) override {
    auto const& front = m_fronts[f];
    for (std::uint64_t k = 0; k < front.pivots; ++k) {
      emit(m_factor, std::array{rw(tile(f, k, k))}, cube() / 3);
      for (auto i = k + 1; i < front.blocks; ++i)
        emit(m_solve, std::array{r(tile(f, k, k)), rw(tile(f, i, k))}, cube());
      for (auto j = k + 1; j < front.blocks; ++j) {
        emit(m_update, std::array{r(tile(f, j, k)), rw(tile(f, j, j))}, cube());
        for (auto i = j + 1; i < front.blocks; ++i) {
          emit(m_update, std::array{r(tile(f, i, k)), r(tile(f, j, k)), rw(tile(f, i, j))}, 2 * cube());
        }
      }
    }
  }

  CodeletId const m_factor = codelet("ldlt_factor", RunsOn::CpuOnly);
  CodeletId const m_solve = codelet("ldlt_solve", RunsOn::CpuOnly);
  CodeletId const m_update = codelet("ldlt_update", RunsOn::Any);
};

}  // namespace

void emit_qr_fronts(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks, Fronts const& fronts) {
  QrEmitter(submitter, home, blocks, fronts).run();
}

void emit_qr_tile_fronts(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks,
                         Fronts const& fronts) {
  QrTilesEmitter(submitter, home, blocks, fronts).run();
}

void emit_ldlt_fronts(Submitter& submitter, workloads::DataHome home, FrontBlocks const& blocks, Fronts const& fronts) {
  LdltEmitter(submitter, home, blocks, fronts).run();
}

}  // namespace granary::detail
