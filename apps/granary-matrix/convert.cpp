// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "convert.hpp"

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/files/copy_matrix.hpp>
#include <granary/detail/linalg/files/csv_file.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/matrix_market.hpp>
#include <granary/detail/linalg/files/matrix_sink.hpp>
#include <granary/detail/linalg/files/npy_sink.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include <filesystem>

namespace granary::app {

using namespace detail;

namespace {

enum class Format { Hdf5, Npy, Market };

Format format_of(std::string const& output) {
  auto const extension = std::filesystem::path(output).extension().string();
  if (extension == ".h5" || extension == ".hdf5") return Format::Hdf5;
  if (extension == ".npy") return Format::Npy;
  if (extension == ".mtx") return Format::Market;
  throw InvalidArgument("the name of the output " + output + " does not end in .h5, .hdf5, .npy or .mtx");
}

ScalarType with_precision(ScalarType type, std::optional<bool> single) {
  if (!single) return type;
  if (is_complex_type(type)) return *single ? ScalarType::Complex64 : ScalarType::Complex128;
  return *single ? ScalarType::Float32 : ScalarType::Float64;
}

/// A matrix to write.
class Input {
 public:
  static Input of_generated(GeneratedMatrix const& matrix, ScalarType type) {
    static_cast<void>(array_bytes({matrix.rows, matrix.cols}, size_of(type)));
    Input input(matrix.rows, matrix.cols, type);
    input.m_generated = matrix;
    return input;
  }
  static Input of_market(MatrixMarketInfo const& info) {
    Input input(info.rows, info.cols, info.scalar_type);
    input.m_market = info;
    return input;
  }
  static Input of_csv(CsvInfo const& info) {
    Input input(info.rows, info.cols(), ScalarType::Float64);
    input.m_csv = info;
    return input;
  }
  static Input of_file(MatrixFileInfo const& info) {
    Input input(info.rows, info.cols, info.scalar_type);
    input.m_file = info;
    return input;
  }
  // Finds the matrix that an argument names.
  static Input find(ConvertOptions const& options) {
    auto const& name = options.input;
    auto const single = options.write.single_precision;
    if (is_csv_name(name) || options.csv.separator != 0) return of_csv(open_csv(name, options.csv));
    if (options.csv.header || !options.csv.columns.empty()) {
      throw InvalidArgument("--columns and --header apply to CSV files, and the name of " + name +
                            " does not end in .csv or .tsv: add --separator if it is one");
    }
    std::error_code ignored;
    if (is_generated(name) && !std::filesystem::exists(name, ignored))
      return of_generated(parse_generated(name), with_precision(ScalarType::Float64, single));
    return is_matrix_market(name) ? of_market(open_matrix_market(name)) : of_file(open_matrix_file(name));
  }

  std::uint64_t rows;
  std::uint64_t cols;
  ScalarType type;

  [[nodiscard]] bool is_market() const { return m_market.has_value(); }
  [[nodiscard]] bool is_csv() const { return m_csv.has_value(); }
  [[nodiscard]] unsigned dimensions() const { return m_file ? m_file->dimensions : 2; }
  // The names of the columns, if they have some.
  [[nodiscard]] std::vector<std::string> columns() const {
    if (m_csv) return m_csv->columns;
    return m_file ? m_file->columns : std::vector<std::string>{};
  }
  [[nodiscard]] std::vector<std::string> paths() const {
    if (m_market) return {m_market->path};
    if (m_csv) return {m_csv->path};
    return m_file ? std::vector{m_file->path} : std::vector<std::string>{};
  }
  // Its preferred tile size.
  [[nodiscard]] std::uint64_t natural_tile() const {
    constexpr std::uint64_t usual = 512;
    constexpr std::uint64_t least = 32;
    bool const chunked = m_file && m_file->chunk_rows == m_file->chunk_cols && m_file->chunk_rows >= least;
    return std::min(chunked ? m_file->chunk_rows : usual, std::max(rows, cols));
  }
  [[nodiscard]] std::unique_ptr<MatrixSource> open(std::uint64_t tile, std::shared_ptr<AsyncFileIo> io) const {
    return m_generated ? open_generated(*m_generated, tile, type)
                       : open_matrix_source(*m_file, tile, MatrixPart::All, std::move(io));
  }
  void write_into(MatrixOutput& output, Bytes memory, std::shared_ptr<AsyncFileIo> const& io) const {
    if (m_market) return read_matrix_market(*m_market, output, memory);
    if (m_csv) return read_csv_into(*m_csv, output, memory);
    copy_matrix(*open(output.tiling().tile, io), output, memory);
  }

 private:
  Input(std::uint64_t r, std::uint64_t c, ScalarType t) : rows(r), cols(c), type(t) {}

  std::optional<GeneratedMatrix> m_generated;
  std::optional<MatrixMarketInfo> m_market;
  std::optional<CsvInfo> m_csv;
  std::optional<MatrixFileInfo> m_file;
};

// The requested tile size; otherwise the preferred one, halved until the memory suffices. For .npy, where the rows of a
// tile are not contiguous in the file, it is doubled while the memory suffices.
std::uint64_t choose_tile(Input const& input, WriteOptions const& options, Format format, ScalarType type) {
  if (options.tile) return *options.tile;
  auto const wider = std::max(size_of(input.type), size_of(type));
  auto const needed = [&](std::uint64_t tile) {
    TileGrid const grid{input.rows, input.cols, tile};
    if (input.is_csv()) return csv_memory(grid, type);
    return format == Format::Market ? market_memory(grid, input.type)
                                    : 2 * round_up(grid.largest_tile() * wider, io_alignment);
  };
  auto tile = input.natural_tile();
  while (tile > 1 && needed(tile) > options.memory) tile = (tile + 1) / 2;
  constexpr std::uint64_t wide_enough = 4096;
  while (format == Format::Npy && tile < std::min(wide_enough, input.cols) && needed(2 * tile) <= options.memory)
    tile *= 2;
  return tile;
}

void write(Input const& input, WriteOptions const& options) {
  auto const format = format_of(options.output);
  check_output(options.output, input.paths());
  if (options.dataset && format != Format::Hdf5)
    throw InvalidArgument("--dataset needs an HDF5 file as output, and " + options.output + " is not one");
  auto const type = with_precision(input.type, options.single_precision);
  auto const tile = choose_tile(input, options, format, type);
  auto const io = make_async_file_io();
  if (format == Format::Market) {
    if (input.is_csv()) {
      throw InvalidArgument("a CSV file is converted to HDF5 or .npy, not to Matrix Market: convert " +
                            input.paths().front() + " to a .npy file, and that to " + options.output);
    }
    if (input.is_market()) throw InvalidArgument("the input and the output are both Matrix Market files");
    if (type != input.type)
      throw InvalidArgument(
          "a Matrix Market file keeps the precision of the input: convert to a .npy file to round the numbers");
    return write_matrix_market(*input.open(tile, io), options.output, options.memory);
  }
  TileGrid const grid{input.rows, input.cols, tile};
  check_copy_memory(grid, input.type, type, options.memory);
  std::unique_ptr<MatrixOutput> output;
  if (format == Format::Npy) {
    output = std::make_unique<NpySink>(io, options.output, grid, type, input.dimensions());
  } else {
    output = std::make_unique<MatrixSink>(io, options.output,
                                          MatrixSinkOptions{.rows = grid.rows,
                                                            .cols = grid.cols,
                                                            .tile = tile,
                                                            .scalar_type = type,
                                                            .part = MatrixPart::All,
                                                            .dataset = options.dataset.value_or("A"),
                                                            .dimensions = input.dimensions(),
                                                            .columns = input.columns()});
  }
  input.write_into(*output, options.memory, io);
  output->commit();
}

}  // namespace

void convert(ConvertOptions const& options) { write(Input::find(options), options.write); }

void generate(GenerateOptions const& options) {
  auto const type = options.complex ? ScalarType::Complex128 : ScalarType::Float64;
  write(Input::of_generated(options.matrix, with_precision(type, options.write.single_precision)), options.write);
}

}  // namespace granary::app
