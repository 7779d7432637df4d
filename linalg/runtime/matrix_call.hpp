// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/algorithms/finite_tasks.hpp>
#include <granary/detail/linalg/data/scalar.hpp>
#include <granary/detail/linalg/data/tiled_matrix.hpp>
#include <granary/detail/linalg/runtime/blas_speed.hpp>
#include <granary/detail/linalg/runtime/call_operand.hpp>
#include <granary/detail/linalg/runtime/file_matrix.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/linalg/runtime/pending.hpp>
#include <granary/detail/linalg/runtime/runtime_call.hpp>
#include <granary/detail/linalg/tiles/elementwise.hpp>
#include <granary/detail/linalg/tiles/task_emitter.hpp>
#include <granary/detail/runtime/api/runtime.hpp>
#include <granary/detail/runtime/setup/configure.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {
namespace detail {

template <class M>
struct GRANARY_EXPORT MatrixTraits {
  static constexpr bool is_matrix = false;
};
template <class DataType, class... Properties>
struct GRANARY_EXPORT MatrixTraits<Kokkos::View<DataType, Properties...>> {
  using View = Kokkos::View<DataType, Properties...>;
  using Scalar = typename View::non_const_value_type;
  static constexpr bool is_matrix = true;
  static constexpr bool is_view = true;
  static constexpr bool is_const = std::is_const_v<typename View::value_type>;
};
template <class T>
struct GRANARY_EXPORT MatrixTraits<FileMatrix<T>> {
  using Scalar = T;
  static constexpr bool is_matrix = true;
  static constexpr bool is_view = false;
  static constexpr bool is_const = false;
};
template <class T>
struct GRANARY_EXPORT MatrixTraits<TiledMatrix<T>> : MatrixTraits<FileMatrix<T>> {};

}  // namespace detail

/// Operands of the calls with a Runtime: a View on the host of rank 2, or 1 for a column, used in place; a FileMatrix;
/// a TiledMatrix of the runtime's data.
template <class M>
concept MatrixOperand = detail::MatrixTraits<M>::is_matrix;
/// An operand that the call may change: not a View of const elements.
template <class M>
concept MutableMatrix = MatrixOperand<M> && !detail::MatrixTraits<M>::is_const;

namespace detail {

template <MatrixOperand M>
using ScalarOf = typename detail::MatrixTraits<M>::Scalar;

}  // namespace detail

template <class First, class... Others>
concept SameScalars = (std::same_as<detail::ScalarOf<First>, detail::ScalarOf<Others>> && ...);

namespace detail {

template <class T>
[[nodiscard]] TiledMatrix<T> const& tiles_of(TiledMatrix<T> const& a) {
  return a;
}
template <class T>
[[nodiscard]] TiledMatrix<T> const& tiles_of(FileMatrix<T> const& a) {
  return a.tiles();
}

/// Data of a call on a runtime: those that it adds, and others that its results are. They are released at its end.
class GRANARY_EXPORT DataScope {
 public:
  explicit DataScope(Session& session) : m_session(session), m_data(session) {}

  template <class T>
  TiledMatrix<T> keep(TiledMatrix<T> tiles) {
    for (DataId const id : tile_ids(tiles)) m_data.own(id);
    return tiles;
  }
  /// Tiles that have another owner, too.
  template <class T>
  TiledMatrix<T> share(TiledMatrix<T> tiles) {
    for (DataId const id : tile_ids(tiles)) m_data.retain(id);
    return tiles;
  }
  /// Temporary tiles, which count against the memory limit while they are in use.
  template <class T>
  [[nodiscard]] TiledMatrix<T> temporary(TileGrid const& grid, MatrixPart part, std::string const& name) {
    return keep(make_temporary_matrix<T>(m_session.submitter(), grid, part, name));
  }
  /// A datum for the bytes at `first`, in memory that `owner` keeps.
  [[nodiscard]] DataId in_place(std::string const& name, std::byte* first, Bytes bytes,
                                std::shared_ptr<void const> owner) {
    return m_data.own(m_session.add_data(name, bytes, {.memory = first, .keep = std::move(owner)}));
  }
  [[nodiscard]] DataId in_place(std::string const& name, double& value, std::shared_ptr<void const> owner) {
    return in_place(name, reinterpret_cast<std::byte*>(&value), sizeof(double), std::move(owner));
  }
  [[nodiscard]] DataId in_place(std::string const& name, std::shared_ptr<double> const& value) {
    return in_place(name, *value, value);
  }
  /// For Pending: after the wait all processes have the number of a datum in place.
  [[nodiscard]] std::function<void()> shares(DataId data, std::shared_ptr<double> const& value) const {
    return [&session = m_session, data, value] {
      session.share_value(data, std::as_writable_bytes(std::span(value.get(), 1)));
    };
  }
  [[nodiscard]] Session& session() const { return m_session; }
  [[nodiscard]] std::span<DataId const> ids() const { return m_data.ids(); }
  [[nodiscard]] HeldData take() { return std::move(m_data); }

 private:
  Session& m_session;
  HeldData m_data;
};

/// One call on matrices: checks its operands and cuts Views into tiles.
///
/// Order of calls: reads and writes for each operand, the require functions, prepare, tiles and tasks, submitted. If an
/// exception leaves it, the destructor waits for the submitted tasks, so that none uses the Views afterwards (inside a
/// task it cannot).
class GRANARY_EXPORT MatrixCall {
 public:
  MatrixCall(RuntimeCall caller, std::string name)
      : m_caller(caller),
        m_name(*caller.name() == '\0' ? std::move(name) : caller.name()),
        m_tasks(session().submitter(), caller.source_line()),
        m_data(session()),
        m_reads(session()) {
    warn_of_slow_blas();
    m_operands.reserve(4);
  }
  MatrixCall(MatrixCall const&) = delete;
  MatrixCall& operator=(MatrixCall const&) = delete;
  ~MatrixCall() {
    if (!m_submitted) settle();
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
  void require_tall(std::size_t number) const { detail::require_tall(m_name, m_operands[number]); }
  void require_pivots(std::size_t number, TileGrid const& factored) const {
    detail::require_pivots(m_name, m_operands[number], factored);
  }
  /// Throws InvalidArgument if the matrix was opened with an output for all of it, which the triangle of a factor
  /// cannot fill.
  template <MatrixOperand M>
  void require_whole_output(M const& matrix, MatrixPart part) const {
    if constexpr (requires { matrix.has_output(); }) {
      if (matrix.has_output()) detail::require_whole_output(m_name, matrix.name(), matrix.tiles().part(), part);
    }
  }
  /// Checks that no operand that is written shares elements with another, and chooses the tile size.
  void prepare(TileSize asked) {
    require_distinct(m_name, m_operands);
    m_tile = choose_tile(m_name, asked, m_operands);
  }

  /// The tiles of the operand with that number, or of one part of it. Throws InvalidArgument if it stores another part.
  template <MatrixOperand M>
  [[nodiscard]] auto tiles(std::size_t number, M const& matrix, MatrixPart part = MatrixPart::All) {
    require_part(m_name, m_operands[number], part);
    bool const written = m_operands[number].written;
    if constexpr (MatrixTraits<M>::is_view) {
      return (written ? m_data : m_reads).keep(add_view_matrix(session(), matrix, m_tile, part));
    } else {
      auto tiles = tiles_of(matrix).restricted(part);
      return written ? m_data.share(std::move(tiles)) : tiles;
    }
  }

  /// What happens to the other triangle of the diagonal tiles when the operand with that number is written: kept if the
  /// matrix is stored whole, zeroed if it was opened as one triangle, where those elements have no values.
  [[nodiscard]] OtherTriangle other_triangle(std::size_t number) const {
    return m_operands[number].part == MatrixPart::All ? OtherTriangle::Kept : OtherTriangle::Zeroed;
  }

  /// If the operand with that number is a View, emits tasks that search it for NaN and infinity; see
  /// submit_finite_checks. Files are checked when they are read.
  template <MatrixOperand M>
  void look_for_nan([[maybe_unused]] std::size_t number, M const&,
                    [[maybe_unused]] TiledMatrix<ScalarOf<M>> const& tiles,
                    [[maybe_unused]] std::span<DataId const> flags, [[maybe_unused]] bool hermitian = false) {
    if constexpr (MatrixTraits<M>::is_view) {
      submit_finite_checks(m_tasks, tiles, hermitian, m_name + ": " + describe(m_operands[number]), flags);
    }
  }

  [[nodiscard]] TaskEmitter& tasks() { return m_tasks; }
  /// The data that the call writes.
  [[nodiscard]] DataScope& data() { return m_data; }
  /// The data that it only reads.
  [[nodiscard]] DataScope& read_data() { return m_reads; }
  [[nodiscard]] Session& session() const { return m_caller.session(); }
  [[nodiscard]] Bytes memory() const { return task_memory(session().options()); }
  [[nodiscard]] bool has_devices() const { return session().has_devices(); }
  /// CholeskyOptions::stack and LuOptions::stack: if 0 was asked for, for a View on a machine without devices as many
  /// tiles as leave a stack of each tile column to every worker. With several processes a stack has several owners.
  [[nodiscard]] std::uint64_t choose_stack(std::uint64_t asked, bool is_view, TileGrid const& grid) const {
    if (session().others() != nullptr) return 1;
    auto const workers = session().options().workers.value_or(1);
    if (asked != 0 || !is_view || workers == 0 || has_devices()) return asked;
    return std::max<std::uint64_t>(1, grid.rows / (grid.tile * workers));
  }
  /// Waits for the submitted tasks after an exception, of which it reports the failures.
  void settle() noexcept { settle(m_reads); }
  /// The same for those on further data.
  void settle(DataScope const& others) noexcept {
    std::vector<DataId> all(m_data.ids().begin(), m_data.ids().end());
    all.insert(all.end(), others.ids().begin(), others.ids().end());
    try {
      session().wait_for(all);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first exception is on its way
    }
  }
  /// All tasks were submitted; for `check` see Pending.
  [[nodiscard]] Pending<> submitted(std::function<void()> check = nullptr) {
    m_submitted = true;
    return {m_data.take(), m_reads.take(), origin(), std::move(check)};
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
      if constexpr (!std::is_same_v<M, TiledMatrix<ScalarOf<M>>>) {
        operand.name = matrix.name();
        if (!matrix.belongs_to(session()))
          throw InvalidArgument(m_name + ": " + operand.role + " '" + operand.name + "' belongs to another Runtime");
      }
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
    operand.data = tile_ids(tiles);
    std::sort(operand.data.begin(), operand.data.end());
  }
  [[nodiscard]] TaskOrigin origin() const {
    TaskOrigin call{.task = m_name, .what = m_name, .source_line = m_caller.source_line()};
    for (auto const& operand : m_operands) call.data.push_back(operand.name.empty() ? operand.role : operand.name);
    return call;
  }
  RuntimeCall m_caller;
  std::string m_name;
  TaskEmitter m_tasks;
  DataScope m_data;
  DataScope m_reads;
  std::vector<CallOperand> m_operands;  // never more than its capacity: callers hold references to them
  std::uint64_t m_tile = 1;
  bool m_submitted = false;
};

/// Makes the call, and returns what `body(MatrixCall&)` does; InvalidArgument that it throws names the caller's line.
template <class Body>
auto matrix_call(RuntimeCall const& caller, std::string const& name, Body&& body) {
  return caller.checked([&] {
    MatrixCall call(caller, name);
    return body(call);
  });
}

/// The order of a square matrix; throws InvalidArgument if it is not square.
template <MatrixOperand A>
[[nodiscard]] std::uint64_t order_of(RuntimeCall runtime, std::string const& name, A const& a) {
  return matrix_call(runtime, name, [&](MatrixCall& call) {
    auto const& operand = call.reads("A", a);
    call.require_square(0);
    return operand.rows;
  });
}

}  // namespace detail
}  // namespace granary
