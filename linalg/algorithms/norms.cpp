// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/model/owned_data.hpp>
#include <granary/detail/linalg/algorithms/norms.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace granary {
namespace {

using kernels::max_or_nan;
using kernels::NormPart;
using kernels::ScaledSquares;

// The partial result of a tile; the infinity norm is the one norm of the transpose.
// - Max: a double. Frobenius: a ScaledSquares. One: the column sums, followed by the row sums if another tile column of
//   the Hermitian matrix needs them.
struct PartialCall {
  Norm norm = Norm::Max;
  NormPart part;
  bool mirrored = false;  // the tile's transpose is also in the matrix
  detail::TileShape a;
};

template <class T>
void run_partial(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<PartialCall>(call);
  auto const a = detail::input_tile<T>(call, 0, p.a);
  if (p.norm == Norm::Frobenius) {
    auto squares = kernels::sum_of_squares(p.part, a);
    if (p.mirrored) squares.sum *= 2;
    *reinterpret_cast<ScaledSquares*>(call.data[1]) = squares;
  } else if (p.norm == Norm::Max) {
    *reinterpret_cast<double*>(call.data[1]) = kernels::max_modulus(p.part, a);
  } else {
    auto* const sums = reinterpret_cast<double*>(call.data[1]);
    kernels::sums_of_moduli(p.part, a, sums, p.mirrored ? sums + a.cols : nullptr);
  }
}

// Combines the partial results of one tile column. For the one norm, the first `row_sums` of them contribute row sums,
// which follow `behind` column sums.
struct CombineCall {
  Norm norm = Norm::Max;
  std::size_t row_sums = 0;
  std::size_t behind = 0;
  std::size_t length = 0;
};

using Inputs = std::span<std::byte* const>;

// All accesses but the last, which is the output.
Inputs inputs_of(detail::KernelCall const& call) { return call.data.first(call.data.size() - 1); }

template <class T>
T& as(std::byte* data) {
  return *reinterpret_cast<T*>(data);
}

double largest_of(Inputs inputs) {
  double largest = 0;
  for (auto* input : inputs) largest = max_or_nan(largest, as<double>(input));
  return largest;
}

ScaledSquares sum_of(Inputs inputs) {
  ScaledSquares sum;
  for (auto* input : inputs) sum.add(as<ScaledSquares>(input));
  return sum;
}

// The largest entry of the sum of the vectors.
double largest_sum(Inputs inputs, CombineCall const& p) {
  double largest = 0;
  for (std::size_t entry = 0; entry < p.length; ++entry) {
    double sum = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      sum += (&as<double>(inputs[i]))[entry + (i < p.row_sums ? p.behind : 0)];
    }
    largest = max_or_nan(largest, sum);
  }
  return largest;
}

void run_combine(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<CombineCall>(call);
  auto const inputs = inputs_of(call);
  if (p.norm == Norm::Frobenius) {
    as<ScaledSquares>(call.data.back()) = sum_of(inputs);
  } else {
    as<double>(call.data.back()) = p.norm == Norm::Max ? largest_of(inputs) : largest_sum(inputs, p);
  }
}

void run_norm(detail::KernelCall const& call) {
  auto const inputs = inputs_of(call);
  as<double>(call.data.back()) =
      detail::parameters_of<Norm>(call) == Norm::Frobenius ? sum_of(inputs).root() : largest_of(inputs);
}

template <class T>
detail::Codelet const partial_codelet = detail::tile_codelet<T>("norm_tile", run_partial<T>);
detail::Codelet const combine_codelet = detail::tile_codelet<double>("norm_combine", run_combine);
detail::Codelet const norm_codelet = detail::tile_codelet<double>("norm", run_norm);

template <class T>
class NormTasks {
 public:
  NormTasks(TaskEmitter& tasks, Norm norm, detail::TiledMatrix<T> const& a, bool hermitian)
      : m_tasks(tasks),
        m_norm(norm),
        m_a(a),
        m_hermitian(hermitian),
        m_partials(tasks.submitter(), std::vector<DataId>(tiles(a.grid()))),
        m_columns(tasks.submitter()) {}

  // partial(i,j) := partial result of A(i,j)
  void partial(std::uint64_t i, std::uint64_t j) {
    auto const tile = m_a(i, j);
    bool const mirrored = m_hermitian && i != j;
    NormPart const part{i == j ? m_a.part() : MatrixPart::All, m_hermitian && i == j};
    auto const doubles = m_norm == Norm::One ? tile.cols + (mirrored ? tile.rows : 0) : 2;
    auto const data = m_partials.own(m_a.grid().slot(i, j), add_data(doubles));
    m_tasks.emit(partial_codelet<T>, {detail::read(tile), {data, detail::AccessMode::Write}}, 0,
                 detail::flops_per_fma<T> * tile.rows * tile.cols, PartialCall{m_norm, part, mirrored, tile.shape()});
  }

  // Combines column j; for a Hermitian matrix' one norm, the part left of the diagonal is taken from row j.
  void combine(std::uint64_t j) {
    auto const& grid = m_a.grid();
    bool const with_rows = m_hermitian && m_norm == Norm::One;
    std::vector<std::uint64_t> slots;
    for (std::uint64_t k = 0; with_rows && k < j; ++k) slots.push_back(grid.slot(j, k));
    CombineCall const call{m_norm, slots.size(), grid.tile, grid.cols_in(j)};
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      if (holds(m_a.part(), i, j)) slots.push_back(grid.slot(i, j));
    }
    if (slots.empty()) return;  // right of a trapezoid
    std::vector<DataId> inputs;
    for (auto const slot : slots) inputs.push_back(m_partials[slot]);
    emit(combine_codelet, inputs, m_columns.own(add_data(2)), call);
    // Below the diagonal of a Hermitian matrix the row sums are needed later.
    if (with_rows) slots.resize(call.row_sums + 1);
    for (auto const slot : slots) m_partials.release(slot);
  }

  // result := the norm
  void norm(DataId result) {
    emit(norm_codelet, m_columns.ids(), result, m_norm);
    m_columns.release();
  }

 private:
  static std::size_t tiles(detail::TileGrid const& grid) { return grid.tile_rows() * grid.tile_cols(); }

  DataId add_data(std::int32_t doubles) {
    return m_tasks.submitter().add_data({.name = "partial norm of " + m_a.name(),
                                         .bytes = static_cast<Bytes>(doubles) * sizeof(double),
                                         .origin = {},
                                         .home = {}});
  }
  template <class P>
  void emit(detail::Codelet const& codelet, std::span<DataId const> inputs, DataId output, P const& parameters) {
    std::vector<detail::Access> accesses;
    for (auto input : inputs) accesses.push_back({input, detail::AccessMode::Read});
    accesses.push_back({output, detail::AccessMode::Write});
    m_tasks.emit(codelet, accesses, 0, 0, parameters);
  }

  TaskEmitter& m_tasks;
  Norm m_norm;  // Max, One or Frobenius
  detail::TiledMatrix<T> m_a;
  bool m_hermitian;
  detail::OwnedData m_partials;  // by slot
  detail::OwnedData m_columns;
};

template <class T>
void submit_norm(TaskEmitter& tasks, Norm norm, detail::TiledMatrix<T> const& a, bool hermitian, DataId result) {
  NormTasks<T> emit(tasks, norm, a, hermitian);
  for (std::uint64_t j = 0; j < a.grid().tile_cols(); ++j) {
    for (std::uint64_t i = 0; i < a.grid().tile_rows(); ++i) {
      if (holds(a.part(), i, j)) emit.partial(i, j);
    }
    emit.combine(j);
  }
  emit.norm(result);
}

}  // namespace

template <class T>
void submit_lange(TaskEmitter& tasks, Norm norm, detail::TiledMatrix<T> const& a, DataId result) {
  if (norm == Norm::Infinity) {
    submit_norm(tasks, Norm::One, a.transposed(), false, result);
  } else {
    submit_norm(tasks, norm, a, false, result);
  }
}

template <class T>
void submit_lanhe(TaskEmitter& tasks, Norm norm, detail::TiledMatrix<T> const& a, DataId result) {
  auto const& grid = a.grid();
  if (grid.rows != grid.cols || a.part() == MatrixPart::All) {
    throw InvalidArgument("lanhe needs one triangle of a square matrix, not " +
                          std::string(a.part() == MatrixPart::All ? "all" : "a triangle") + " of a matrix of " +
                          std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
  }
  // The stored upper triangle, transposed, is the lower one of the conjugate, which has the same norms.
  submit_norm(tasks, norm == Norm::Infinity ? Norm::One : norm, a.part() == MatrixPart::Lower ? a : a.transposed(),
              true, result);
}

#define GRANARY_INSTANTIATE(T)                                                           \
  template void submit_lange(TaskEmitter&, Norm, detail::TiledMatrix<T> const&, DataId); \
  template void submit_lanhe(TaskEmitter&, Norm, detail::TiledMatrix<T> const&, DataId);
GRANARY_FOR_EACH_SCALAR(GRANARY_INSTANTIATE)
#undef GRANARY_INSTANTIATE

}  // namespace granary
