// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/linalg/matrices.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace granary {

struct FileMatrixOptions {
  Uplo uplo = Uplo::Lower;   ///< which triangle is read
  std::uint64_t tile = 512;  ///< fastest where it is the order of the file's chunks
  std::optional<std::string> output =
      {};  ///< a new HDF5 file that gets the final values, as dataset L or U; without it they are temporary
};

/// One triangle of a square matrix in a file, as tiled data of a runtime. The file is only read; what tasks write goes
/// to the output.
template <class T>
class FileMatrix {
 public:
  /// Throws InvalidArgument when the matrix is not square or not of T, and what open_matrix_file and MatrixSink throw.
  FileMatrix(Runtime& runtime, MatrixFileInfo const& info, FileMatrixOptions const& options)
      : m_runtime(runtime),
        m_sink(make_sink(runtime, info, options)),
        m_tiles(make_tiles(runtime, info, options, m_sink)) {}
  FileMatrix(FileMatrix const&) = delete;
  FileMatrix& operator=(FileMatrix const&) = delete;
  /// Gives the tiles up; an output that was not committed is removed.
  ~FileMatrix() {
    try {
      m_tiles.release(m_runtime.submitter());
    } catch (std::exception const&) {  // NOLINT(bugprone-empty-catch): the runtime has said what is broken
    }
  }

  [[nodiscard]] TiledMatrix<T> const& tiles() const { return m_tiles; }
  /// Waits until the final values are in the output and gives it its name. Throws InvalidArgument without an output.
  void commit() {
    if (!m_sink) throw InvalidArgument("the matrix was opened without an output");
    m_runtime.wait();
    m_tiles.release(m_runtime.submitter());
    m_runtime.wait();
    m_sink->commit();
  }

 private:
  static std::shared_ptr<MatrixSink> make_sink(Runtime& runtime, MatrixFileInfo const& info,
                                               FileMatrixOptions const& options) {
    if (info.rows != info.cols) {
      throw InvalidArgument(info.name() + " is not square: it is " + std::to_string(info.rows) + " x " +
                            std::to_string(info.cols));
    }
    if (info.scalar_type != scalar_type_of<T>) {
      throw InvalidArgument(info.name() + " holds " + name_of(info.scalar_type) + ", not " +
                            name_of(scalar_type_of<T>));
    }
    if (!options.output) return nullptr;
    check_output(*options.output, {info.path});
    return std::make_shared<MatrixSink>(runtime.io(), *options.output,
                                        MatrixSinkOptions{.order = info.rows,
                                                          .tile = options.tile,
                                                          .scalar_type = info.scalar_type,
                                                          .part = part_of(options.uplo),
                                                          .dataset = options.uplo == Uplo::Lower ? "L" : "U"});
  }
  static TiledMatrix<T> make_tiles(Runtime& runtime, MatrixFileInfo const& info, FileMatrixOptions const& options,
                                   std::shared_ptr<Storage> const& sink) {
    std::shared_ptr<Storage> const source = open_matrix_source(info, options.tile, part_of(options.uplo), runtime.io());
    return add_file_matrix<T>(runtime, {info.rows, info.cols, options.tile}, part_of(options.uplo),
                              info.dataset.empty() ? "A" : info.dataset, source, sink);
  }

  Runtime& m_runtime;
  std::shared_ptr<MatrixSink> m_sink;
  TiledMatrix<T> m_tiles;
};

/// Opens `dataset` of an HDF5 file, or with an empty `dataset` a .npy file or the only matrix of an HDF5 file.
template <class T>
[[nodiscard]] FileMatrix<T> open_matrix(Runtime& runtime, std::string const& path, std::string const& dataset = {},
                                        FileMatrixOptions const& options = {}) {
  return FileMatrix<T>(runtime, open_matrix_file(dataset.empty() ? path : path + ":" + dataset), options);
}

}  // namespace granary
