// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_sink.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file_guard.hpp>
#include <granary/detail/linalg/data/strided_shape.hpp>
#include <granary/detail/linalg/files/dead_run.hpp>
#include <granary/detail/linalg/files/hdf5_support.hpp>
#include <granary/detail/linalg/files/line_extents.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>

namespace granary::detail {

namespace {

void write_text_attribute(hid_t dataset, char const* name, std::string const& value) {
  Hdf5Id const type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), value.size());
  Hdf5Id const space(H5Screate(H5S_SCALAR), H5Sclose);
  auto const attribute =
      require({H5Acreate2(dataset, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
              "write the attribute", name);
  H5Awrite(attribute.get(), type.get(), value.c_str());
}

// As h5py writes a list of texts.
void write_texts(hid_t dataset, char const* name, std::vector<std::string> const& values) {
  Hdf5Id const type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  hsize_t const extent[1] = {values.size()};
  Hdf5Id const space(H5Screate_simple(1, extent, nullptr), H5Sclose);
  auto const attribute =
      require({H5Acreate2(dataset, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
              "write the attribute", name);
  std::vector<char const*> texts;
  for (auto const& value : values) texts.push_back(value.c_str());
  if (H5Awrite(attribute.get(), type.get(), texts.data()) < 0)
    throw DataError(std::string("cannot write the attribute ") + name + ": " + hdf5_reason());
}

// The output is locked already. On file systems that emulate one kind of lock by the other, such as NFS, HDF5 would
// wait for that lock.
Hdf5Id access_to(std::string const& name) {
  auto access = require({H5Pcreate(H5P_FILE_ACCESS), H5Pclose}, "create", name);
  H5Pset_fapl_sec2(access.get());  // regardless of HDF5_DRIVER: the output is one file
  lock_nothing(access.get());
  return access;
}

// HDF5 opens a file by its name.
void require_same(PartialFile const& output, hid_t file) {
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) >= 0) output.require_same(*static_cast<int*>(descriptor));
}

haddr_t chunk_address(hid_t dataset, std::uint64_t row, std::uint64_t col) {
  hsize_t const corner[2] = {row, col};
  unsigned filters = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Dget_chunk_info_by_coord(dataset, corner, &filters, &address, &bytes) < 0) return HADDR_UNDEF;
  return address;
}

void require_name(std::string const& dataset) {
  if (dataset.empty() || dataset.ends_with('/') || dataset.ends_with('.'))
    throw InvalidArgument("'" + dataset + "' cannot be a dataset name");
}

void require_form(MatrixSinkOptions const& options) {
  if (options.dimensions != 2 && (options.dimensions != 1 || options.cols != 1)) {
    throw InvalidArgument("a matrix of " + std::to_string(options.cols) + " columns cannot be an array of " +
                          std::to_string(options.dimensions) + " dimensions");
  }
  if (!options.columns.empty() && options.columns.size() != options.cols) {
    throw InvalidArgument("there are " + std::to_string(options.columns.size()) + " names for " +
                          std::to_string(options.cols) + " columns");
  }
}

// Creates missing groups.
Hdf5Id with_groups(std::string const& name) {
  auto properties = require({H5Pcreate(H5P_LINK_CREATE), H5Pclose}, "create", name);
  H5Pset_create_intermediate_group(properties.get(), 1);
  return properties;
}

char const* name_of(MatrixPart part) {
  return part == MatrixPart::All ? "all" : part == MatrixPart::Lower ? "lower" : "upper";
}

}  // namespace

MatrixOutput::MatrixOutput(TileGrid const& tiling, ScalarType type) : m_tiling(tiling), m_type(type) {
  if (tiling.rows == 0 || tiling.cols == 0 || tiling.tile == 0)
    throw InvalidArgument("the rows, the columns and the tile size of a matrix must be at least 1");
  check_size(tiling, size_of(type));
}

MatrixSink::MatrixSink(std::shared_ptr<AsyncFileIo> io, std::string const& path, MatrixSinkOptions const& options)
    : MatrixOutput({options.rows, options.cols, options.tile}, options.scalar_type),
      m_io(std::move(io)),
      m_path(path),
      m_output(std::in_place, path),
      m_options(options),
      m_chunk_rows(std::min(options.tile, options.rows)),
      m_chunk_cols(std::min(options.tile, options.cols)) {
  require_name(options.dataset);
  require_form(options);
  if (chunk_bytes() >= 4_GiB) {
    throw InvalidArgument("a tile of " + std::to_string(m_chunk_rows) + " x " + std::to_string(m_chunk_cols) +
                          " elements is " + format_bytes(chunk_bytes()) +
                          "; the maximum of an HDF5 chunk is 4 GiB - 1 byte");
  }
  warn_of_dead_run(*m_output);
  auto const tiles = tiling().tile_rows() * tiling().tile_cols();
  m_output->require_space(bytes_of_part(), tiles * chunk_bytes());
  try {
    create_file();
  } catch (DataError const& error) {
    // HDF5 cannot write, for example on a full disk: not a fault of the data.
    throw Error("cannot write " + path + ": " + error.what());
  }
  m_file = File::open_for_update(m_output->partial_path());
  m_output->require_same(m_file->descriptor(false));
  reserve_space();
}

MatrixSink::MatrixSink(std::shared_ptr<AsyncFileIo> io, std::string const& path, MatrixSinkOptions const& options,
                       std::string const& place)
    : MatrixOutput({options.rows, options.cols, options.tile}, options.scalar_type),
      m_io(std::move(io)),
      m_path(path),
      m_options(options),
      m_chunk_rows(std::min(options.tile, options.rows)),
      m_chunk_cols(std::min(options.tile, options.cols)) {
  std::istringstream text(place);
  text >> m_first_byte;
  text.get();
  m_file = File::open_for_update(place.substr(static_cast<std::size_t>(text.tellg())));
}

std::string MatrixSink::place() const { return std::to_string(m_first_byte) + " " + m_output->partial_path(); }

void MatrixSink::create_file() {
  Hdf5Lock const lock;
  auto const& name = m_output->partial_path();
  auto const access = access_to(name);
  auto const creation = require({H5Pcreate(H5P_DATASET_CREATE), H5Pclose}, "create", name);
  // With the file format of 1.10 and early allocation, the chunks of a dataset of fixed size are contiguous and have no
  // index. They are not written at creation: the file grows by truncation, and unwritten parts read as zeros.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  H5Pset_alignment(access.get(), io_alignment, io_alignment);
  hsize_t const chunk[2] = {m_chunk_rows, m_chunk_cols};
  auto const dimensions = static_cast<int>(m_options.dimensions);
  H5Pset_chunk(creation.get(), dimensions, chunk);
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);

  hsize_t const extent[2] = {m_options.rows, m_options.cols};
  auto const space = require({H5Screate_simple(dimensions, extent, nullptr), H5Sclose}, "create", name);
  auto const type = memory_type(m_options.scalar_type);
  auto const groups = with_groups(name);
  // HDF5 creates the file again by its name.
  auto held = hold_partial_files();
  auto file = require({H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose}, "create", name);
  held.unlock();
  require_same(*m_output, file.get());
  auto dataset = require({H5Dcreate2(file.get(), m_options.dataset.c_str(), type.get(), space.get(), groups.get(),
                                     creation.get(), H5P_DEFAULT),
                          H5Dclose},
                         "create the dataset " + m_options.dataset + " in", name);
  write_text_attribute(dataset.get(), "part", name_of(m_options.part));
  if (!m_options.columns.empty()) write_texts(dataset.get(), columns_attribute, m_options.columns);
  auto const count = tiling().tile_rows() * tiling().tile_cols();
  auto const first = chunk_address(dataset.get(), 0, 0);
  auto const last = chunk_address(dataset.get(), (tiling().tile_rows() - 1) * m_chunk_rows,
                                  (tiling().tile_cols() - 1) * m_chunk_cols);
  if (first == HADDR_UNDEF || last != first + (count - 1) * chunk_bytes())
    throw InternalError("HDF5 did not allocate " + name + " contiguously");
  m_first_byte = first;
  dataset.reset();
  if (H5Fflush(file.get(), H5F_SCOPE_GLOBAL) < 0) throw DataError("cannot write " + name + ": " + hdf5_reason());
}

Bytes MatrixSink::bytes_of_part() const {
  Bytes bytes = 0;
  for (std::uint64_t i = 0; i < tiling().tile_rows(); ++i) bytes += row_of_part(i).tiles * chunk_bytes();
  return bytes;
}

MatrixSink::Stretch MatrixSink::row_of_part(std::uint64_t i) const {
  auto const columns = tiling().tile_cols();
  auto const first = m_options.part == MatrixPart::Upper ? std::min(i, columns) : 0;
  auto const end = m_options.part == MatrixPart::Lower ? std::min(i + 1, columns) : columns;
  return {first, end - first};
}

void MatrixSink::reserve_space() {
  for (std::uint64_t i = 0; i < tiling().tile_rows(); ++i) {
    auto const [first, tiles] = row_of_part(i);
    if (tiles > 0) m_file->reserve(offset_of(tiling().slot(i, first)), tiles * chunk_bytes());
  }
}

void MatrixSink::check(std::uint64_t slot, Bytes bytes) const {
  auto const i = tiling().row_of(slot);
  auto const j = tiling().col_of(slot);
  if (i < tiling().tile_rows() && bytes == tile_bytes(slot) && holds(m_options.part, i, j) && m_file) return;
  throw InternalError(describe(slot) + " cannot be read or written as " + std::to_string(bytes) + " bytes");
}

TileMemory MatrixSink::copy_of_part(std::uint64_t slot, std::byte const* source) {
  TileMemory copy;
  {
    std::lock_guard lock(m_mutex);
    if (!m_spare_tiles.empty()) {
      copy = std::move(m_spare_tiles.back());
      m_spare_tiles.pop_back();
    }
  }
  if (!copy) copy = allocate_tiles(largest_tile_bytes());
  std::memcpy(copy.get(), source, tile_bytes(slot));
  auto const size = size_of(m_options.scalar_type);
  auto const cols = tiling().cols_in(tiling().col_of(slot));
  for (std::uint64_t r = 0; r < tiling().rows_in(tiling().row_of(slot)); ++r) {
    auto* row = copy.get() + r * cols * size;
    if (m_options.part == MatrixPart::Lower && r + 1 < cols)
      std::memset(row + (r + 1) * size, 0, (cols - r - 1) * size);
    if (m_options.part == MatrixPart::Upper) std::memset(row, 0, std::min(r, cols) * size);
  }
  return copy;
}

std::vector<IoExtent> MatrixSink::extents_of(std::uint64_t slot, std::byte* memory) const {
  MatrixShape const part{tiling().rows_in(tiling().row_of(slot)), tiling().cols_in(tiling().col_of(slot)), m_chunk_cols,
                         TileLayout::RowMajor};
  return line_extents(offset_of(slot), part.bytes(size_of(m_options.scalar_type)), memory);
}

void MatrixSink::read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) {
  check(slot, bytes);
  m_io->submit(IoDirection::Read, m_file, extents_of(slot, destination), std::move(done));
}

void MatrixSink::write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) {
  check(slot, bytes);
  // IoExtent serves both directions; a write does not modify the source.
  if (m_options.part == MatrixPart::All || tiling().row_of(slot) != tiling().col_of(slot)) {
    auto extents = extents_of(slot, const_cast<std::byte*>(source));
    return m_io->submit(IoDirection::Write, m_file, std::move(extents), std::move(done));
  }
  // A std::function must be copyable.
  auto copy = std::make_shared<TileMemory>(copy_of_part(slot, source));
  m_io->submit(IoDirection::Write, m_file, extents_of(slot, copy->get()),
               [this, copy, done = std::move(done)](std::exception_ptr error) {
                 {
                   std::lock_guard lock(m_mutex);
                   m_spare_tiles.push_back(std::move(*copy));
                 }
                 done(std::move(error));
               });
}

std::string MatrixSink::describe(std::uint64_t slot) const {
  return "tile (" + std::to_string(tiling().row_of(slot)) + ", " + std::to_string(tiling().col_of(slot)) + ") of " +
         m_path + ":/" + m_options.dataset;
}

void MatrixSink::add_vector(std::string const& dataset, std::span<std::int64_t const> values) {
  write_vector(dataset, H5T_STD_I64LE, H5T_NATIVE_INT64, values.size(), values.data());
}

void MatrixSink::add_vector(std::string const& dataset, ScalarType type, std::span<std::byte const> values) {
  Hdf5Lock const lock;
  auto const of_memory = memory_type(type);
  write_vector(dataset, of_memory.get(), of_memory.get(), values.size() / size_of(type), values.data());
}

void MatrixSink::write_vector(std::string const& dataset, std::int64_t file_type, std::int64_t type,
                              std::uint64_t count, void const* values) {
  if (!m_file || !m_output) throw InternalError(m_path + " was committed already, or is written by another process");
  require_name(dataset);
  Hdf5Lock const lock;
  auto const access = access_to(m_path);
  Hdf5Id const file(H5Fopen(m_output->partial_path().c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  if (file.valid()) require_same(*m_output, file.get());
  if (file.valid() && Hdf5Id(H5Oopen(file.get(), dataset.c_str(), H5P_DEFAULT), H5Oclose).valid())
    throw InvalidArgument(m_path + " has a dataset " + dataset + " already");
  hsize_t const extent[1] = {count};
  Hdf5Id const space(H5Screate_simple(1, extent, nullptr), H5Sclose);
  auto const groups = with_groups(m_path);
  Hdf5Id const vector(
      H5Dcreate2(file.get(), dataset.c_str(), file_type, space.get(), groups.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  if (!vector.valid() || H5Dwrite(vector.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ||
      H5Fflush(file.get(), H5F_SCOPE_LOCAL) < 0) {
    throw Error("cannot write " + m_path + ":" + dataset + ": " + hdf5_reason());
  }
}

void MatrixSink::commit() {
  if (!m_file || !m_output) throw InternalError(m_path + " was committed already, or is written by another process");
  m_file->sync();
  m_output->commit();
  m_file->drop_cache(0, 0);
  m_file.reset();
}

}  // namespace granary::detail
