// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/files/open_matrix_source.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/linalg/runtime/matrix_tile.hpp>
#include <granary/detail/linalg/runtime/pivots_file.hpp>
#include <granary/detail/linalg/runtime/shared_sink.hpp>
#include <granary/detail/runtime/session/held_data.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace granary {

struct GRANARY_EXPORT FileMatrixOptions {
  MatrixPart part = MatrixPart::All;  ///< part that is read and written; for Cholesky factors one triangle
  std::uint64_t tile = 512;           ///< fastest if it is the chunk size of the file
  /// A new HDF5 file for the final values; without it they are temporary.
  std::optional<std::string> output = {};
  /// The dataset of the output. If empty: "L" or "U" for a triangle, otherwise the input's name, or "A".
  std::string output_dataset = {};
  /// The names of its columns, as many as there are columns. If empty: the input's.
  std::vector<std::string> columns = {};
  /// The matrix' name in messages and traces, where its tiles are `K(3, 2)`. If empty: the input's name, of which tiles
  /// have the dataset, or without one the file; for a new matrix its output's, or "temporary".
  std::string name = {};
};

/// A matrix in a file, or one triangle of it, as tiled data of a runtime; all calls with a Runtime accept it. The file
/// is only read; tasks write to the output. Any of the four scalars. An array of one dimension is one column. The
/// output has the dimensions of the file's array, and its names of columns. It may be destroyed after its Runtime; all
/// else that needs the tiles throws InvalidArgument then.
///
/// ```cpp
/// #include <granary/linalg.hpp>
/// using namespace granary::literals;
/// using granary::MatrixPart;
/// granary::write_random_spd("A.h5", 1024, 128, 1, granary::ScalarType::Float64);
/// granary::Runtime runtime({.host_memory = 2_MiB});  // A has 8 MiB
/// auto A = granary::open_matrix<double>(runtime, "A.h5", "/A",
///                                       {.part = MatrixPart::Lower, .tile = 128, .output = "L.h5"});
/// granary::potrf(runtime, granary::Uplo::Lower, A);  // reads A.h5, which does not change
/// A.commit();                                        // L.h5 has the factor and its name
/// assert(granary::open_matrix_file("L.h5").dataset == "/L");
/// ```
template <class T>
class GRANARY_EXPORT FileMatrix {
 public:
  /// Reads the initial values from a file. While the matrix lives, no output of this process may replace that file; and
  /// a file that an output is to replace cannot be opened. Throws InvalidArgument in both cases, if the matrix is not
  /// of T, or if one triangle is requested and it is not square; and what open_matrix_source and MatrixSink throw.
  FileMatrix(Runtime& runtime, detail::MatrixFileInfo const& info, FileMatrixOptions const& options)
      : m_session(runtime.session()),
        m_name(options.name.empty() ? info.name() : options.name),
        m_input(std::make_unique<detail::OpenInput const>(info.path)),
        m_sink(make_sink(checked(info, options), options)),
        m_tiles(make_tiles(info, options)) {}
  /// Generates the initial values as elements of T. Throws what open_generated throws, and as for a file.
  FileMatrix(Runtime& runtime, GeneratedMatrix const& matrix, FileMatrixOptions const& options)
      : m_session(runtime.session()),
        m_name(options.name.empty() ? matrix.name() : options.name),
        m_sink(make_sink(checked(info_of(matrix), options), options)),
        m_tiles(add_file_matrix<T>(m_session, {matrix.rows, matrix.cols, options.tile}, options.part, m_name,
                                   open_generated(matrix, options.tile, scalar_type_of<T>), m_sink)) {}
  /// A new matrix without initial values, which must be written before it is read. Throws InvalidArgument if an extent
  /// or the tile size is 0, and what MatrixSink throws.
  FileMatrix(Runtime& runtime, std::uint64_t rows, std::uint64_t cols, FileMatrixOptions const& options)
      : m_session(runtime.session()),
        m_name(options.name.empty() ? options.output.value_or("temporary") : options.name),
        m_sink(make_sink(new_matrix(rows, cols, options.tile), options)),
        m_tiles(add_file_matrix<T>(m_session, {rows, cols, options.tile}, options.part, m_name, nullptr, m_sink)) {}
  FileMatrix(FileMatrix const&) = delete;
  FileMatrix& operator=(FileMatrix const&) = delete;
  /// Releases the tiles, and removes an output that was not committed.
  ~FileMatrix() = default;

  /// `A.h5:/A`
  [[nodiscard]] std::string const& name() const { return m_name; }
  /// Throws InvalidArgument after commit, and after the end of the Runtime.
  [[nodiscard]] detail::TiledMatrix<T> const& tiles() const {
    require_open();
    return m_tiles;
  }
  [[nodiscard]] bool has_output() const { return m_sink != nullptr; }
  /// Throws as `tiles`: a new session may have the address of one that has ended, so addresses alone do not tell.
  [[nodiscard]] bool belongs_to(detail::Session const& session) const {
    require_open();
    return &session == &m_session;
  }
  /// Tile (i, j) for tasks of the application, as in `read(A.tile(i, j))`. Its final value goes to the output; without
  /// an output it is temporary, and the file does not change. Throws InvalidArgument after commit, and for a tile that
  /// does not exist or has no element of the opened part.
  [[nodiscard]] MatrixTile<T> tile(std::uint64_t i, std::uint64_t j) const {
    require_open();  // the session may have ended
    return MatrixTile<T>(m_session.id(), m_name, m_tiles, i, j);
  }

  /// Adds the row exchanges of the LU factorization of this matrix to the output, after the wait for it; see
  /// open_pivots. Throws InvalidArgument without an output, and what MatrixSink::add_vector throws.
  void add_pivots(Pivots const& pivots, std::string const& dataset = "pivots") {
    output().add_vector(dataset, rows_of(pivots));
  }
  /// Waits until the tasks on the matrix have ended and the final values are in the output, and renames it to its path;
  /// the matrix cannot be used after that. Throws InvalidArgument without an output, the first failure that concerns
  /// the matrix (see Runtime::wait(data...)), and what MatrixSink::commit throws.
  void commit() {
    auto& sink = output();
    m_session.wait_for(tile_ids(m_tiles));
    m_committed = true;
    m_data.release();  // the values are at home already
    m_input.reset();
    commit_sink(m_session, sink);
  }

 private:
  void require_open() const {
    if (m_committed) throw InvalidArgument(m_name + " was committed: open its output instead");
    if (m_data.session() == nullptr) throw InvalidArgument(m_name + " is of a Runtime that has ended");
  }
  static detail::HeldData hold(detail::Session& session, detail::TiledMatrix<T> const& tiles) {
    detail::HeldData held(session);
    for (DataId const id : tile_ids(tiles)) held.own(id);
    return held;
  }
  [[nodiscard]] detail::MatrixSink& output() const {
    require_open();
    if (!m_sink) throw InvalidArgument(m_name + " was opened without an output");
    return *m_sink;
  }
  static detail::MatrixFileInfo const& checked(detail::MatrixFileInfo const& info, FileMatrixOptions const& options) {
    if (options.part != MatrixPart::All && info.rows != info.cols) {
      throw InvalidArgument(info.name() + " is not square, so it has no triangle: it is " + std::to_string(info.rows) +
                            " x " + std::to_string(info.cols));
    }
    if (info.scalar_type != scalar_type_of<T>) {
      throw InvalidArgument(info.name() + " holds " + granary::name_of(info.scalar_type) + ", not " +
                            granary::name_of(scalar_type_of<T>));
    }
    return info;
  }
  static detail::MatrixFileInfo info_of(GeneratedMatrix const& matrix) {
    detail::MatrixFileInfo info;
    info.path = matrix.name();
    info.rows = matrix.rows;
    info.cols = matrix.cols;
    info.scalar_type = scalar_type_of<T>;
    return info;
  }
  static detail::MatrixFileInfo new_matrix(std::uint64_t rows, std::uint64_t cols, std::uint64_t tile) {
    if (rows == 0 || cols == 0 || tile == 0) {
      throw InvalidArgument("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) + " with tile size " +
                            std::to_string(tile) + " was requested; all three must be at least 1");
    }
    detail::MatrixFileInfo info;
    info.rows = rows;
    info.cols = cols;
    return info;
  }
  std::shared_ptr<detail::MatrixSink> make_sink(detail::MatrixFileInfo const& info, FileMatrixOptions const& options) {
    if (!options.output) return nullptr;
    if (info.path.empty()) {
      check_output(*options.output, {});
    } else {
      check_output(*options.output, {info.path});
    }
    auto dataset = options.output_dataset;
    if (dataset.empty() && options.part != MatrixPart::All) dataset = options.part == MatrixPart::Lower ? "L" : "U";
    if (dataset.empty()) dataset = info.dataset.empty() ? "A" : info.dataset;
    return granary::make_sink(m_session, *options.output,
                              {.rows = info.rows,
                               .cols = info.cols,
                               .tile = options.tile,
                               .scalar_type = scalar_type_of<T>,
                               .part = options.part,
                               .dataset = dataset,
                               .dimensions = info.dimensions,
                               .columns = options.columns.empty() ? info.columns : options.columns});
  }
  detail::TiledMatrix<T> make_tiles(detail::MatrixFileInfo const& info, FileMatrixOptions const& options) {
    std::shared_ptr<detail::Storage> const source =
        open_matrix_source(info, options.tile, options.part, m_session.io(), m_session.options().scratch);
    auto name = options.name.empty() ? info.dataset : options.name;
    if (name.empty()) name = std::filesystem::path(info.path).filename().string();
    return add_file_matrix<T>(m_session, {info.rows, info.cols, options.tile}, options.part, name, source, m_sink);
  }

  detail::Session& m_session;
  std::string m_name;
  bool m_committed = false;
  std::unique_ptr<detail::OpenInput const> m_input;  // null without a file
  std::shared_ptr<detail::MatrixSink> m_sink;
  detail::TiledMatrix<T> m_tiles;
  detail::HeldData m_data = hold(m_session, m_tiles);
};

/// Opens `dataset` of an HDF5 file. With an empty `dataset`: a .npy file, the only matrix of an HDF5 file (without a
/// matrix: the only array of one dimension), or a generated matrix, as in the programs: "spd:4096:1e6", see
/// parse_generated. Throws what the constructors throw, open_matrix_file and parse_generated.
template <class T>
[[nodiscard]] FileMatrix<T> open_matrix(Runtime& runtime, std::string const& path, std::string const& dataset = {},
                                        FileMatrixOptions const& options = {}) {
  if (is_generated(path)) {
    if (!dataset.empty()) throw InvalidArgument(path + " is generated: it has no datasets such as " + dataset);
    return FileMatrix<T>(runtime, parse_generated(path), options);
  }
  return FileMatrix<T>(runtime, open_matrix_file(dataset.empty() ? path : path + ":" + dataset), options);
}

/// A new matrix of rows x cols elements for results, in options.output or temporary.
template <class T>
[[nodiscard]] FileMatrix<T> create_matrix(Runtime& runtime, std::uint64_t rows, std::uint64_t cols,
                                          FileMatrixOptions const& options = {}) {
  return FileMatrix<T>(runtime, rows, cols, options);
}

}  // namespace granary
