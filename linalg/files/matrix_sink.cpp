// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/files/matrix_sink.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <granary/core/base/error.hpp>
#include <granary/linalg/files/chunk_map.hpp>
#include <granary/linalg/files/hdf5_support.hpp>

namespace granary {
namespace {

namespace fs = std::filesystem;
using detail::Hdf5Id;
using detail::require;

std::string directory_of(std::string const& path) {
  auto const parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// A link is followed, so that the file it names is replaced and not the link.
std::string follow_links(std::string const& path) {
  std::error_code error;
  auto const real = fs::canonical(path, error);
  return error ? path : real.string();
}

void write_text_attribute(hid_t dataset, char const* name, std::string const& value) {
  Hdf5Id const type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), value.size());
  Hdf5Id const space(H5Screate(H5S_SCALAR), H5Sclose);
  auto const attribute =
      require({H5Acreate2(dataset, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
              "write the attribute", name);
  H5Awrite(attribute.get(), type.get(), value.c_str());
}

char const* name_of(MatrixPart part) {
  return part == MatrixPart::All ? "all" : part == MatrixPart::Lower ? "lower" : "upper";
}

// Sets the elements outside the part to zero.
template <class T>
void clear_other_triangle(T* tile, std::uint64_t n, MatrixPart part) {
  for (std::uint64_t r = 0; r < n; ++r) {
    if (part == MatrixPart::Lower) {
      std::fill(tile + r * n + r + 1, tile + (r + 1) * n, T{});
    } else {
      std::fill(tile + r * n, tile + r * n + r, T{});
    }
  }
}

}  // namespace

void check_output(std::string const& output, std::vector<std::string> const& inputs) {
  std::error_code error;
  for (auto const& input : inputs) {
    if (fs::equivalent(output, input, error))
      throw InvalidArgument("the output " + output + " is the same file as the input " + input);
  }
  auto const target = follow_links(output);
  if (fs::is_directory(target, error)) throw InvalidArgument("the output " + output + " is a directory");
  auto const directory = directory_of(target);
  if (::access(directory.c_str(), W_OK | X_OK) != 0 || !fs::is_directory(directory, error)) {
    throw InvalidArgument("cannot write the output " + output + ": " + directory + ": " +
                          std::generic_category().message(errno == 0 ? ENOTDIR : errno));
  }
}

void MatrixSink::Free::operator()(std::byte* memory) const { std::free(memory); }

MatrixSink::MatrixSink(std::shared_ptr<AsyncFileIo> io, std::string const& path, MatrixSinkOptions const& options)
    : m_io(std::move(io)),
      m_path(follow_links(path)),
      m_partial_path(m_path + ".partial-" + std::to_string(::getpid())),
      m_options(options),
      m_tiling{options.order, options.order, options.tile},
      m_chunk(std::min(options.tile, options.order)) {
  if (options.order == 0 || options.tile == 0)
    throw InvalidArgument("the order and the tile size of a matrix must be at least 1");
  check_output(path, {});
  try {
    create_file();
    m_file = File::open_for_update(m_partial_path);
    reserve_space();
  } catch (...) {
    ::unlink(m_partial_path.c_str());
    throw;
  }
}

MatrixSink::~MatrixSink() {
  if (m_file) ::unlink(m_partial_path.c_str());
}

void MatrixSink::create_file() {
  detail::Hdf5Lock const lock;
  auto const& name = m_partial_path;
  auto const access = require({H5Pcreate(H5P_FILE_ACCESS), H5Pclose}, "create", name);
  auto const creation = require({H5Pcreate(H5P_DATASET_CREATE), H5Pclose}, "create", name);
  // The format of 1.10 keeps the chunks of a dataset of fixed size in one stretch, without an index, if they are
  // allocated early. Nothing is written into them: the file grows by truncation, and what was never written reads as
  // zeros.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  H5Pset_alignment(access.get(), io_alignment, io_alignment);
  hsize_t const chunk[2] = {m_chunk, m_chunk};
  H5Pset_chunk(creation.get(), 2, chunk);
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);

  hsize_t const extent[2] = {m_options.order, m_options.order};
  auto const space = require({H5Screate_simple(2, extent, nullptr), H5Sclose}, "create", name);
  auto const type = m_options.scalar_type == ScalarType::Float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  auto file = require({H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose}, "create", name);
  auto dataset = require(
      {H5Dcreate2(file.get(), m_options.dataset.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
       H5Dclose},
      "create the dataset " + m_options.dataset + " in", name);
  write_text_attribute(dataset.get(), "part", name_of(m_options.part));
  dataset.reset();
  file.reset();

  auto info = open_matrix_file(name);
  auto const chunks = detail::map_chunks(info);
  auto const count = m_tiling.tile_rows() * m_tiling.tile_cols();
  auto const bytes = m_chunk * m_chunk * size_of(m_options.scalar_type);
  if (!chunks || chunks->at(count - 1) != chunks->at(0) + (count - 1) * bytes) {
    throw InternalError("HDF5 did not lay out " + name + " in one stretch");
  }
  m_first_byte = chunks->at(0);
}

void MatrixSink::reserve_space() {
  auto const bytes = m_chunk * m_chunk * size_of(m_options.scalar_type);
  auto const n = m_tiling.tile_rows();
  for (std::uint64_t i = 0; i < n; ++i) {
    auto const first = m_options.part == MatrixPart::Upper ? i : 0;
    auto const end = m_options.part == MatrixPart::Lower ? i + 1 : n;
    m_file->reserve(m_first_byte + m_tiling.slot(i, first) * bytes, (end - first) * bytes);
  }
}

void MatrixSink::check(std::uint64_t slot, Bytes bytes) const {
  auto const i = m_tiling.row_of(slot);
  auto const j = m_tiling.col_of(slot);
  bool const outside = (m_options.part == MatrixPart::Lower && j > i) || (m_options.part == MatrixPart::Upper && j < i);
  if (bytes == tile_bytes() && i < m_tiling.tile_rows() && !outside && m_file) return;
  throw InternalError(describe(slot) + " cannot be read or written as " + std::to_string(bytes) + " bytes");
}

std::vector<IoExtent> MatrixSink::extents_of(std::uint64_t slot, std::byte* memory) const {
  auto const size = size_of(m_options.scalar_type);
  if (m_chunk == m_tiling.tile) return {{m_first_byte + slot * tile_bytes(), memory, tile_bytes()}};
  std::vector<IoExtent> rows;
  for (std::uint64_t r = 0; r < m_chunk; ++r) {
    rows.push_back({m_first_byte + r * m_chunk * size, memory + r * m_tiling.tile * size, m_chunk * size});
  }
  return rows;
}

MatrixSink::Tile MatrixSink::copy_with_zeros(std::byte const* source) {
  Tile copy;
  {
    std::lock_guard lock(m_mutex);
    if (!m_spare_tiles.empty()) {
      copy = std::move(m_spare_tiles.back());
      m_spare_tiles.pop_back();
    }
  }
  if (!copy)
    copy.reset(static_cast<std::byte*>(std::aligned_alloc(io_alignment, round_up(tile_bytes(), io_alignment))));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy.get(), source, tile_bytes());
  if (m_options.scalar_type == ScalarType::Float32) {
    clear_other_triangle(reinterpret_cast<float*>(copy.get()), m_tiling.tile, m_options.part);
  } else {
    clear_other_triangle(reinterpret_cast<double*>(copy.get()), m_tiling.tile, m_options.part);
  }
  return copy;
}

void MatrixSink::read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) {
  check(slot, bytes);
  m_io->submit(IoDirection::Read, m_file, extents_of(slot, destination), std::move(done));
}

void MatrixSink::write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) {
  check(slot, bytes);
  // An extent serves both directions; nothing is written through it here.
  auto* memory = const_cast<std::byte*>(source);
  if (m_options.part == MatrixPart::All || m_tiling.row_of(slot) != m_tiling.col_of(slot)) {
    m_io->submit(IoDirection::Write, m_file, extents_of(slot, memory), std::move(done));
    return;
  }
  // A std::function must be copyable.
  auto copy = std::make_shared<Tile>(copy_with_zeros(source));
  memory = copy->get();
  m_io->submit(IoDirection::Write, m_file, extents_of(slot, memory),
               [this, copy, done = std::move(done)](std::exception_ptr error) {
                 {
                   std::lock_guard lock(m_mutex);
                   m_spare_tiles.push_back(std::move(*copy));
                 }
                 done(std::move(error));
               });
}

std::string MatrixSink::describe(std::uint64_t slot) const {
  return "tile (" + std::to_string(m_tiling.row_of(slot)) + ", " + std::to_string(m_tiling.col_of(slot)) + ") of " +
         m_path + ":/" + m_options.dataset;
}

void MatrixSink::commit() {
  if (!m_file) throw InternalError(m_path + " was committed already");
  m_file->sync();
  if (std::rename(m_partial_path.c_str(), m_path.c_str()) != 0)
    throw IoError("cannot give the output its name", m_path, 0, errno);
  m_file->drop_cache(0, 0);
  m_file.reset();
  // The name is durable with its directory; a file system that cannot flush one has nothing to flush.
  int const directory = ::open(directory_of(m_path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace granary
