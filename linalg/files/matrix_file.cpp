// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/files/hdf5_storage.hpp>
#include <granary/detail/linalg/files/hdf5_support.hpp>
#include <granary/detail/linalg/files/npy_header.hpp>

namespace granary {
namespace {

using detail::Hdf5Id;
using detail::require;

struct Spec {
  std::string path;
  std::string dataset;
};

// A colon may also be part of a file name: if the whole spec is a file, it names that file.
Spec split(std::string const& spec) {
  auto const colon = spec.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || colon == 0 || std::filesystem::exists(spec, ignored)) return {spec, {}};
  auto dataset = spec.substr(colon + 1);
  if (dataset.empty()) throw InvalidArgument("there is no dataset name after the colon of " + spec);
  if (dataset.front() != '/') dataset.insert(dataset.begin(), '/');
  return {spec.substr(0, colon), dataset};
}

void require_readable(std::string const& path) {
  // Otherwise opening a pipe without a writer would block.
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw InvalidArgument("cannot open " + path + ": " + std::generic_category().message(errno));
  struct stat status {};
  bool const regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  ::close(descriptor);
  if (!regular) throw InvalidArgument("cannot open " + path + ": it is not a regular file");
}

bool starts_as_npy(std::string const& path) {
  char magic[6] = {};
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool const same = descriptor >= 0 && ::read(descriptor, magic, 6) == 6 && std::memcmp(magic, "\x93NUMPY", 6) == 0;
  if (descriptor >= 0) ::close(descriptor);
  return same;
}

struct Listing {
  std::vector<std::string> all;
  std::vector<std::string> two_dimensional;
  std::vector<std::string> one_dimensional;
  std::vector<std::string> unreadable;  // HDF5 cannot open them, as after a truncation
};

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info2_t;
#else
using ObjectInfo = H5O_info_t;
#endif

herr_t note_dataset(hid_t group, char const* name, ObjectInfo const* object, void* data) {
  if (object->type != H5O_TYPE_DATASET) return 0;
  auto& listing = *static_cast<Listing*>(data);
  listing.all.push_back(std::string("/").append(name));
  Hdf5Id const dataset(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) {
    listing.unreadable.push_back(listing.all.back());
    return 0;
  }
  int const dimensions = detail::count_dimensions(dataset.get());
  if (dimensions == 2) listing.two_dimensional.push_back(listing.all.back());
  if (dimensions == 1) listing.one_dimensional.push_back(listing.all.back());
  return 0;
}

Listing list_datasets(hid_t file) {
  Listing listing;
#if H5_VERSION_GE(1, 12, 0)
  H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, note_dataset, &listing, H5O_INFO_BASIC);
#else
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, note_dataset, &listing, H5O_INFO_BASIC);
#endif
  return listing;
}

std::string join(std::vector<std::string> const& names) {
  constexpr std::size_t shown = 20;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

// Opens the named dataset, or the only matrix in the file.
Hdf5Id open_dataset(hid_t file, Spec& spec) {
  if (!spec.dataset.empty()) {
    auto dataset = detail::open_dataset(file, spec.dataset);
    if (dataset.valid()) return dataset;
    auto const reason = detail::hdf5_reason();
    if (auto const link = detail::link_to(file, spec.dataset))
      throw DataError("cannot open " + spec.path + ":" + spec.dataset + ", " + *link + ": " + reason);
    auto const there = list_datasets(file).all;
    throw InvalidArgument(spec.path + " has no dataset " + spec.dataset +
                          (there.empty() ? " and no other" : "; it has " + join(there)));
  }
  auto const listing = list_datasets(file);
  auto const& matrices = !listing.two_dimensional.empty()   ? listing.two_dimensional
                         : !listing.one_dimensional.empty() ? listing.one_dimensional
                                                            : listing.unreadable;
  if (matrices.empty()) {
    auto const links = detail::list_links(file);
    throw DataError(spec.path + " holds no dataset of one or two dimensions" +
                    (listing.all.empty() ? "" : "; it has " + join(listing.all)) +
                    (links.empty() ? "" : "; name one of its links after a colon: " + join(links)));
  }
  if (matrices.size() > 1) {
    throw InvalidArgument(spec.path + " holds several matrices: name one of " + join(matrices) + " after a colon");
  }
  spec.dataset = matrices.front();
  return require(detail::open_dataset(file, spec.dataset), "open", spec.path + ":" + spec.dataset);
}

std::optional<ScalarType> real_type(hid_t type) {
  if (H5Tget_class(type) != H5T_FLOAT) return std::nullopt;
  if (H5Tget_size(type) == 4) return ScalarType::Float32;
  if (H5Tget_size(type) == 8) return ScalarType::Float64;
  return std::nullopt;
}

// A complex number is a record {r, i} of two equal real types, as h5py writes it.
std::optional<ScalarType> complex_type(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return std::nullopt;
  int const r = H5Tget_member_index(type, "r");
  int const i = H5Tget_member_index(type, "i");
  if (r < 0 || i < 0) return std::nullopt;
  Hdf5Id const real(H5Tget_member_type(type, static_cast<unsigned>(r)), H5Tclose);
  Hdf5Id const imaginary(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
  auto const part = real_type(real.get());
  if (!part || part != real_type(imaginary.get())) return std::nullopt;
  return *part == ScalarType::Float32 ? ScalarType::Complex64 : ScalarType::Complex128;
}

// Sets the element type; returns true if file and memory have the same representation.
bool read_type(hid_t dataset, detail::MatrixFileInfo& info) {
  auto const type = require({H5Dget_type(dataset), H5Tclose}, "read the type of", info.name());
  auto const found = H5Tget_class(type.get()) == H5T_COMPOUND ? complex_type(type.get()) : real_type(type.get());
  if (!found) {
    auto const* kind = H5Tget_class(type.get()) == H5T_FLOAT      ? "floating-point numbers"
                       : H5Tget_class(type.get()) == H5T_INTEGER  ? "integers"
                       : H5Tget_class(type.get()) == H5T_COMPOUND ? "records other than {r, i}"
                                                                  : "elements that are not numbers";
    throw DataError(info.name() + " holds " + kind + " of " + std::to_string(H5Tget_size(type.get())) +
                    " bytes; real and complex float and double can be read");
  }
  info.scalar_type = *found;
  return H5Tequal(type.get(), detail::memory_type(*found).get()) > 0;
}

void read_shape(hid_t dataset, detail::MatrixFileInfo& info) {
  auto const space = require({H5Dget_space(dataset), H5Sclose}, "read the shape of", info.name());
  int const dimensions = H5Sget_simple_extent_ndims(space.get());
  if (dimensions != 2 && dimensions != 1)
    throw DataError(info.name() + " has " + std::to_string(dimensions) + " dimensions; a matrix has 2, a vector 1");
  info.dimensions = static_cast<unsigned>(dimensions);
  hsize_t extents[2] = {1, 1};
  H5Sget_simple_extent_dims(space.get(), extents, nullptr);
  info.rows = extents[0];
  info.cols = extents[1];
  if (info.rows == 0 || info.cols == 0) {
    throw DataError(info.name() + " is empty: it has " + std::to_string(info.rows) + " x " + std::to_string(info.cols) +
                    " elements");
  }
}

// True if the dataset's bytes are in the file of this path: behind an external link they are in another one.
bool lies_in(std::string const& path, hid_t dataset) {
  auto const length = H5Fget_name(dataset, nullptr, 0);
  if (length <= 0) return false;
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(dataset, name.data(), name.size());
  auto const file = detail::file_at(name.c_str());
  return file && file == detail::file_at(path);
}

void read_arrangement(hid_t file, hid_t dataset, bool native, detail::MatrixFileInfo& info) {
  auto const properties = require({H5Dget_create_plist(dataset), H5Pclose}, "read the layout of", info.name());
  auto const layout = H5Pget_layout(properties.get());
  bool const plain = native && H5Pget_nfilters(properties.get()) == 0 && H5Pget_external_count(properties.get()) == 0 &&
                     lies_in(info.path, dataset);
  if (layout == H5D_CONTIGUOUS && plain) {
    auto const offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) return;  // never written: HDF5 supplies the fill value
    auto const bytes = detail::matrix_bytes(info.name(), info.rows, info.cols, info.scalar_type);
    auto const end = checked_sum(offset, bytes);
    auto const present = static_cast<std::uint64_t>(std::filesystem::file_size(info.path));
    if (!end || *end > present) {
      throw DataError(info.name() + " is truncated: it has " + std::to_string(bytes) + " bytes from byte " +
                      std::to_string(offset) + " on, and its file has " + std::to_string(present));
    }
    info.first_byte = offset;
    info.arrangement = detail::MatrixFileInfo::Arrangement::Contiguous;
  } else if (layout == H5D_CHUNKED) {
    hsize_t chunk[2] = {1, 1};
    H5Pget_chunk(properties.get(), 2, chunk);
    info.chunk_rows = chunk[0];
    info.chunk_cols = chunk[1];
    // Versions of HDF5 differ in whether chunk addresses include a user block.
    auto const creation = require({H5Fget_create_plist(file), H5Pclose}, "read", info.path);
    hsize_t user_block = 0;
    H5Pget_userblock(creation.get(), &user_block);
    if (plain && user_block == 0) info.arrangement = detail::MatrixFileInfo::Arrangement::Chunked;
  }
}

// The remedy for a text file, to end a message; empty for other files.
std::string remedy_for(std::string const& path) {
  auto const ending = std::filesystem::path(path).extension();
  if (ending != ".csv" && ending != ".tsv" && ending != ".mtx") return {};
  return "; convert it first: granary-matrix convert " + path + " A.h5";
}

detail::MatrixFileInfo open_hdf5(Spec spec) {
  detail::Hdf5Lock const lock;
  if (H5Fis_hdf5(spec.path.c_str()) <= 0)
    throw DataError(spec.path + " is neither an HDF5 nor a .npy file" + remedy_for(spec.path));
  auto const file = detail::open_to_read(spec.path);
  auto const dataset = open_dataset(file.get(), spec);
  detail::MatrixFileInfo info;
  info.path = spec.path;
  info.dataset = spec.dataset;
  detail::require_complete(dataset.get(), info.name());
  read_shape(dataset.get(), info);
  bool const native = read_type(dataset.get(), info);
  static_cast<void>(detail::matrix_bytes(info.name(), info.rows, info.cols, info.scalar_type));
  read_arrangement(file.get(), dataset.get(), native, info);
  info.columns = detail::read_texts(dataset.get(), detail::columns_attribute, info.cols);
  return info;
}

// The names of the datasets; the links are noted.
std::vector<std::string> dataset_names(std::string const& path, std::vector<std::string>& links) {
  detail::Hdf5Lock const lock;
  if (H5Fis_hdf5(path.c_str()) <= 0) throw DataError(path + " is neither an HDF5 nor a .npy file" + remedy_for(path));
  auto const file = detail::open_to_read(path);
  for (auto const& link : detail::list_links(file.get()))
    links.push_back(path + ":" + link + " is " + detail::link_to(file.get(), link).value_or("a link"));
  return list_datasets(file.get()).all;
}

}  // namespace

detail::MatrixFileInfo open_matrix_file(std::string const& text) {
  auto const spec = split(text);
  require_readable(spec.path);
  if (!starts_as_npy(spec.path)) return open_hdf5(spec);
  if (!spec.dataset.empty())
    throw InvalidArgument(spec.path + " is a .npy file: it has no datasets such as " + spec.dataset);
  return detail::read_npy_header(spec.path);
}

detail::MatrixListing list_matrices(std::string const& text) {
  auto const spec = split(text);
  require_readable(spec.path);
  if (!spec.dataset.empty() || starts_as_npy(spec.path)) return {.matrices = {open_matrix_file(text)}, .others = {}};
  detail::MatrixListing listing;
  std::vector<std::string> links;
  for (auto const& name : dataset_names(spec.path, links)) {
    try {
      listing.matrices.push_back(open_hdf5({spec.path, name}));
    } catch (DataError const& error) {
      listing.others.emplace_back(error.what());
    }
  }
  listing.others.insert(listing.others.end(), links.begin(), links.end());
  return listing;
}

}  // namespace granary
