// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/kokkos_core.hpp>
#include <granary/core/base/error.hpp>
#include <granary/core/model/owned_data.hpp>
#include <granary/linalg/algorithms/finite_tasks.hpp>
#include <granary/linalg/data/scalar.hpp>
#include <granary/linalg/data/tiled_matrix.hpp>
#include <granary/linalg/runtime/call_operand.hpp>
#include <granary/linalg/runtime/file_matrix.hpp>
#include <granary/linalg/runtime/matrices.hpp>
#include <granary/linalg/tiles/task_emitter.hpp>
#include <granary/runtime/runtime.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {
namespace detail {

template <class M>
struct MatrixTraits {
  static constexpr bool is_matrix = false;
};
template <class DataType, class... Properties>
struct MatrixTraits<Kokkos::View<DataType, Properties...>> {
  using View = Kokkos::View<DataType, Properties...>;
  using Scalar = typename View::non_const_value_type;
  static constexpr bool is_matrix = true;
  static constexpr bool is_view = true;
  static constexpr bool is_const = std::is_const_v<typename View::value_type>;
};
template <class T>
struct MatrixTraits<FileMatrix<T>> {
  using Scalar = T;
  static constexpr bool is_matrix = true;
  static constexpr bool is_view = false;
  static constexpr bool is_const = false;
};
template <class T>
struct MatrixTraits<TiledMatrix<T>> : MatrixTraits<FileMatrix<T>> {};

}  // namespace detail

/// Operands of the calls with a Runtime: a View on the host of rank 2, or 1 for a column, used in place; a FileMatrix;
/// a TiledMatrix of the runtime's data.
template <class M>
concept MatrixOperand = detail::MatrixTraits<M>::is_matrix;
/// An operand that the call may change: not a View of const elements.
template <class M>
concept MutableMatrix = MatrixOperand<M> && !detail::MatrixTraits<M>::is_const;

template <MatrixOperand M>
using ScalarOf = typename detail::MatrixTraits<M>::Scalar;

template <class First, class... Others>
concept SameScalars = (std::same_as<ScalarOf<First>, ScalarOf<Others>> && ...);

namespace detail {

template <class T>
[[nodiscard]] TiledMatrix<T> const& tiles_of(TiledMatrix<T> const& a) {
  return a;
}
template <class T>
[[nodiscard]] TiledMatrix<T> const& tiles_of(FileMatrix<T> const& a) {
  return a.tiles();
}

/// Data that a call adds to the runtime, and releases at its end.
class DataScope {
 public:
  explicit DataScope(Runtime& runtime) : m_runtime(runtime), m_data(runtime.submitter()) {}

  template <class T>
  TiledMatrix<T> keep(TiledMatrix<T> tiles) {
    m_data.own(tiles.own(m_runtime.submitter()));
    return tiles;
  }
  /// Temporary tiles, which count against the memory limit while they are in use.
  template <class T>
  [[nodiscard]] TiledMatrix<T> temporary(TileGrid const& grid, MatrixPart part, std::string const& name) {
    return keep(make_temporary_matrix<T>(m_runtime.submitter(), grid, part, name));
  }
  /// A datum for the bytes at `first`, which must outlive the scope.
  [[nodiscard]] DataId in_place(std::string const& name, std::byte* first, Bytes bytes) {
    return m_data.own(m_runtime.add_data(name, bytes, {.host = first}));
  }
  [[nodiscard]] DataId in_place(std::string const& name, double& value) {
    return in_place(name, reinterpret_cast<std::byte*>(&value), sizeof(double));
  }
  /// Releases all data once the tasks submitted so far have used them.
  void release() { m_data.release(); }

 private:
  Runtime& m_runtime;
  OwnedData m_data;
};

/// One call on matrices: checks its operands, cuts Views into tiles, and releases these at its end.
///
/// Order of calls: reads and writes for each operand, the require functions, prepare, tiles and tasks, finish. If an
/// exception leaves it, the destructor waits for the submitted tasks, so that none uses the Views afterwards.
class MatrixCall {
 public:
  /// Throws InvalidArgument inside a task of the runtime.
  MatrixCall(Runtime& runtime, std::string name)
      : m_runtime(runtime), m_name(std::move(name)), m_tasks(runtime.submitter()), m_data(runtime) {
    runtime.refuse_in_task(m_name);
    m_operands.reserve(4);
  }
  MatrixCall(MatrixCall const&) = delete;
  MatrixCall& operator=(MatrixCall const&) = delete;
  ~MatrixCall() {
    if (m_finished) return;
    try {
      m_data.release();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the runtime has logged the error
    }
    settle();
  }

  /// Throws InvalidArgument for a View that view_form refuses.
  template <MatrixOperand M>
  CallOperand const& reads(std::string role, M const& matrix, Op op = Op::NoTrans) {
    return add(std::move(role), matrix, false, op);
  }
  template <MutableMatrix M>
  CallOperand const& writes(std::string role, M const& matrix) {
    return add(std::move(role), matrix, true, Op::NoTrans);
  }

  void require_match(bool match) const { detail::require_match(m_name, match, m_operands); }
  void require_square(std::size_t number) const { detail::require_square(m_name, m_operands[number]); }
  /// Checks that no operand that is written shares elements with another, and chooses the tile size.
  void prepare(TileSize asked) {
    require_distinct(m_name, m_operands);
    m_tile = choose_tile(m_name, asked, m_operands);
  }

  /// The tiles of the operand with that number, or of one part of it. Throws InvalidArgument if it stores another part.
  template <MatrixOperand M>
  [[nodiscard]] auto tiles(std::size_t number, M const& matrix, MatrixPart part = MatrixPart::All) {
    require_part(m_name, m_operands[number], part);
    if constexpr (MatrixTraits<M>::is_view) {
      return m_data.keep(add_view_matrix(m_runtime, matrix, m_tile, part));
    } else {
      return tiles_of(matrix).restricted(part);
    }
  }

  /// If the operand with that number is a View, emits tasks that search it for NaN and infinity; files are checked when
  /// they are read. The next wait throws the first InvalidArgument of these tasks.
  template <MatrixOperand M>
  void look_for_nan([[maybe_unused]] std::size_t number, M const&,
                    [[maybe_unused]] TiledMatrix<ScalarOf<M>> const& tiles, bool hermitian = false) {
    if constexpr (MatrixTraits<M>::is_view) {
      submit_finite_checks(m_tasks, tiles, hermitian, m_name + ": " + describe(m_operands[number]));
    }
  }

  [[nodiscard]] TaskEmitter& tasks() { return m_tasks; }
  [[nodiscard]] DataScope& data() { return m_data; }
  [[nodiscard]] Runtime& runtime() { return m_runtime; }
  [[nodiscard]] Bytes memory() const { return task_memory(m_runtime.options()); }
  /// Waits for the submitted tasks while an exception propagates.
  void settle() noexcept {
    try {
      m_runtime.wait();
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }
  /// Throws what Runtime::wait throws.
  void finish() {
    m_data.release();
    m_finished = true;
    m_runtime.wait();
  }

 private:
  template <MatrixOperand M>
  CallOperand const& add(std::string role, M const& matrix, bool written, Op op) {
    CallOperand operand;
    operand.role = std::move(role);
    operand.written = written;
    operand.op = op;
    if constexpr (MatrixTraits<M>::is_view) {
      auto const form = view_form(matrix, 1);
      operand.name = matrix.label();
      operand.memory = bytes_at(matrix.data(), form.bytes(sizeof(ScalarOf<M>)));
      operand.rows = form.rows;
      operand.cols = form.cols;
    } else {
      if constexpr (!std::is_same_v<M, TiledMatrix<ScalarOf<M>>>) operand.name = matrix.name();
      describe_tiles(tiles_of(matrix), operand);
    }
    return m_operands.emplace_back(std::move(operand));
  }
  template <class T>
  static void describe_tiles(TiledMatrix<T> const& tiles, CallOperand& operand) {
    auto const& grid = tiles.grid();
    operand.rows = grid.rows;
    operand.cols = grid.cols;
    operand.tile = grid.tile;
    operand.part = tiles.part();
    for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
      for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
        if (holds(operand.part, i, j)) operand.data.push_back(tiles(i, j).data);
      }
    }
    std::sort(operand.data.begin(), operand.data.end());
  }
  Runtime& m_runtime;
  std::string m_name;
  TaskEmitter m_tasks;
  DataScope m_data;
  std::vector<CallOperand> m_operands;  // never more than its capacity: callers hold references to them
  std::uint64_t m_tile = 1;
  bool m_finished = false;
};

}  // namespace detail
}  // namespace granary

#pragma GCC visibility pop
