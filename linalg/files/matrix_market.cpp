// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_market.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/files/dead_run.hpp>
#include <granary/detail/linalg/files/market_entries.hpp>
#include <granary/detail/linalg/files/scalar_dispatch.hpp>
#include <granary/detail/linalg/files/tile_memory.hpp>

namespace granary {
namespace {

using detail::MarketEntries;
using Symmetry = MatrixMarketInfo::Symmetry;
constexpr std::uint64_t entries_between = 65536;

/// Consecutive tiles of a matrix in memory, numbered down the tile columns; entries may arrive in any order.
template <class T>
class Window {
 public:
  Window(detail::MatrixOutput& output, std::uint64_t capacity)
      : m_output(output),
        m_grid(output.tiling()),
        m_stride(round_up(output.largest_tile_bytes(), detail::io_alignment)),
        m_memory(detail::allocate_tiles(capacity * m_stride)) {}

  // Starts again with zeros for tiles [first, first + count).
  void begin(std::uint64_t first, std::uint64_t count) {
    m_first = first;
    m_count = count;
    std::memset(m_memory.get(), 0, count * m_stride);
  }
  void add(std::uint64_t row, std::uint64_t col, std::complex<double> value) {
    auto const t = m_grid.tile;
    auto const tile = col / t * m_grid.tile_rows() + row / t;
    if (tile < m_first || tile - m_first >= m_count) return;
    auto* values = reinterpret_cast<T*>(m_memory.get() + (tile - m_first) * m_stride);
    values[row % t * m_grid.cols_in(col / t) + col % t] += detail::convert_scalar<T>(value);
  }
  void write() {
    detail::PendingIo pending;
    for (std::uint64_t k = 0; k < m_count; ++k) {
      auto const slot = m_grid.slot((m_first + k) % m_grid.tile_rows(), (m_first + k) / m_grid.tile_rows());
      m_output.write_async(slot, m_memory.get() + k * m_stride, m_output.tile_bytes(slot), pending.one());
    }
    pending.require(0);
  }

 private:
  detail::MatrixOutput& m_output;
  detail::TileGrid m_grid;
  Bytes m_stride;
  detail::TileMemory m_memory;
  std::uint64_t m_first = 0;
  std::uint64_t m_count = 0;
};

template <class T>
void add_with_mirror(Window<T>& window, MarketEntries::Entry const& entry, Symmetry symmetry) {
  auto const [row, col, value] = entry;
  window.add(row, col, value);
  if (symmetry == Symmetry::General || row == col) return;
  window.add(col, row,
             symmetry == Symmetry::Hermitian ? std::conj(value)
             : symmetry == Symmetry::Skew    ? -value
                                             : value);
}

// Reads the entries of an array up to column `end`, or all entries of a coordinate file.
template <class T>
void fill(Window<T>& window, MatrixMarketInfo const& info, MarketEntries& entries, std::uint64_t end,
          detail::Between const& between) {
  for (std::uint64_t k = 0; entries.more() && (info.coordinate || entries.column() < end); ++k) {
    if (between && k % entries_between == 0) between();
    add_with_mirror(window, entries.next(), info.symmetry);
  }
}

template <class T>
void read_into(MatrixMarketInfo const& info, detail::MatrixOutput& output, Bytes memory,
               detail::Between const& between) {
  auto const& grid = output.tiling();
  auto const bytes = round_up(output.largest_tile_bytes(), detail::io_alignment);
  check_copy_memory(grid, output.scalar_type(), output.scalar_type(), memory);
  auto const tiles = grid.tile_rows() * grid.tile_cols();
  auto capacity = std::min(memory / bytes, tiles);
  // Whole tile columns if one fits: in a general array the text continues with the next ones.
  bool const columns = capacity >= grid.tile_rows();
  if (columns) capacity -= capacity % grid.tile_rows();
  bool const in_order = columns && !info.coordinate && info.symmetry == Symmetry::General;

  Window<T> window(output, capacity);
  std::optional<MarketEntries> entries;
  for (std::uint64_t first = 0; first < tiles; first += capacity) {
    auto const count = std::min(capacity, tiles - first);
    if (!entries || !in_order) entries.emplace(info);
    window.begin(first, count);
    auto const last_tile_column = (first + count - 1) / grid.tile_rows();
    fill(window, info, *entries, std::min(grid.cols, (last_tile_column + 1) * grid.tile), between);
    if (!entries->more()) entries->require_end();
    window.write();
  }
}

// A text file that is written as a partial file beside its path.
class TextOutput {
 public:
  explicit TextOutput(std::string const& path) : m_output(path) { detail::warn_of_dead_run(m_output); }

  void write(std::string_view text) {
    m_text += text;
    if (m_text.size() >= piece) flush();
  }
  void commit() {
    flush();
    if (::fsync(m_output.descriptor()) != 0) throw IoError("cannot flush", m_output.path(), errno);
    m_output.commit();
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 18U;

  void flush() {
    m_output.append(m_text);
    m_text.clear();
  }

  detail::PartialFile m_output;
  std::string m_text;  // not written yet
};

template <class T>
void append(std::string& text, T const& value) {
  if constexpr (detail::is_std_complex<T>) {
    append(text, value.real());
    text.back() = ' ';
    append(text, value.imag());
  } else {
    std::array<char, 32> digits{};
    auto const result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    text.append(digits.data(), result.ptr).push_back('\n');
  }
}

template <class T>
void write_columns(detail::MatrixSource& source, TextOutput& output, detail::Between const& between) {
  auto const& grid = source.tiling();
  auto const stride = round_up(source.largest_tile_bytes(), detail::io_alignment);
  auto const memory = detail::allocate_tiles(grid.tile_rows() * stride);
  std::string text;
  for (std::uint64_t j = 0; j < grid.tile_cols(); ++j) {
    {
      detail::PendingIo pending;
      for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
        auto const slot = grid.slot(i, j);
        source.read_async(slot, memory.get() + i * stride, source.tile_bytes(slot), pending.one());
      }
      pending.require(0);
    }
    for (std::uint64_t c = 0; c < grid.cols_in(j); ++c) {
      for (std::uint64_t i = 0; i < grid.tile_rows(); ++i) {
        if (between) between();
        auto const* tile = reinterpret_cast<T const*>(memory.get() + i * stride);
        text.clear();
        for (std::uint64_t r = 0; r < grid.rows_in(i); ++r) append(text, tile[r * grid.cols_in(j) + c]);
        output.write(text);
      }
    }
  }
}

}  // namespace

Bytes market_memory(detail::TileGrid const& grid, ScalarType type) {
  return grid.tile_rows() * round_up(grid.largest_tile() * size_of(type), detail::io_alignment);
}

void read_matrix_market(MatrixMarketInfo const& info, detail::MatrixOutput& output, Bytes memory,
                        detail::Between const& between) {
  if (is_complex_type(info.scalar_type) && !is_complex_type(output.scalar_type()))
    throw InvalidArgument("a complex matrix cannot be written as a real one");
  auto const& grid = output.tiling();
  if (info.rows != grid.rows || info.cols != grid.cols) {
    throw InvalidArgument(info.path + " has " + std::to_string(info.rows) + " x " + std::to_string(info.cols) +
                          " elements, and the output " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
  }
  detail::with_scalar(output.scalar_type(),
                      [&](auto zero) { read_into<decltype(zero)>(info, output, memory, between); });
}

void write_matrix_market(detail::MatrixSource& source, std::string const& path, Bytes memory,
                         detail::Between const& between) {
  auto const& grid = source.tiling();
  auto const needed = market_memory(grid, source.scalar_type());
  if (needed > memory) {
    throw InvalidArgument("a tile column of " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols_in(0)) +
                          " elements needs " + format_bytes(needed) + ", more than the memory limit of " +
                          format_bytes(memory));
  }
  TextOutput output(path);
  output.write(std::string("%%MatrixMarket matrix array ") +
               (is_complex_type(source.scalar_type()) ? "complex" : "real") + " general\n" + std::to_string(grid.rows) +
               " " + std::to_string(grid.cols) + "\n");
  detail::with_scalar(source.scalar_type(), [&](auto zero) { write_columns<decltype(zero)>(source, output, between); });
  output.commit();
}

}  // namespace granary
