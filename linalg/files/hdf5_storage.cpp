// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/hdf5_storage.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/linalg/files/hdf5_support.hpp>

namespace granary::detail {
namespace {

namespace fs = std::filesystem;

constexpr int most_levels = 16;              // of virtual datasets whose sources are virtual
constexpr std::size_t most_blocks = 100000;  // of a source whose name has a number
constexpr std::size_t looked_beyond = 64;    // for further blocks behind the first one that is missing
constexpr std::size_t most_shown = 200;      // bytes of a name from a file

// Reads a text by a function of HDF5 whose last arguments are a buffer and its size.
template <class Get>
std::string text_from(Get const& get) {
  auto const length = get(nullptr, 0);
  if (length <= 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  get(text.data(), text.size());
  text.resize(static_cast<std::size_t>(length));
  return text;
}

fs::path path_of(hid_t object) {
  return text_from([object](char* text, std::size_t size) { return H5Fget_name(object, text, size); });
}

// The path where HDF5 looks for other files of the dataset; it also reads the environment (HDF5_VDS_PREFIX,
// HDF5_EXTFILE_PREFIX).
std::string prefix_of(hid_t dataset, ssize_t (*get)(hid_t, char*, std::size_t)) {
  Hdf5Id const access(H5Dget_access_plist(dataset), H5Pclose);
  return text_from([&](char* text, std::size_t size) { return get(access.get(), text, size); });
}

// The places where HDF5 looks for the file of a source, in its order.
std::vector<fs::path> places_of(std::string const& name, hid_t dataset) {
  auto const parent = path_of(dataset);
  std::vector<fs::path> places;
  fs::path relative = name;
  if (relative.is_absolute()) {
    places.push_back(relative);
    relative = relative.filename();
  }
  auto const prefixes = prefix_of(dataset, H5Pget_virtual_prefix);
  for (std::size_t begin = 0; begin < prefixes.size();) {
    auto const end = std::min(prefixes.find(':', begin), prefixes.size());
    if (end > begin) places.push_back(fs::path(prefixes.substr(begin, end - begin)) / relative);
    begin = end + 1;
  }
  places.push_back(parent.parent_path() / relative);
  places.push_back(relative);
  std::error_code error;
  auto const actual = fs::canonical(parent, error);
  if (!error) places.push_back(actual.parent_path() / relative);
  return places;
}

// The name of the k-th block of a source: `%b` stands for k, and `%%` for a percent sign.
std::string name_of_block(std::string const& pattern, std::size_t k) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    bool const escape = pattern[i] == '%' && i + 1 < pattern.size();
    if (escape && pattern[i + 1] == 'b') {
      name += std::to_string(k);
    } else {
      name += pattern[i];
    }
    if (escape && (pattern[i + 1] == 'b' || pattern[i + 1] == '%')) ++i;
  }
  return name;
}

bool has_number(std::string const& pattern) { return name_of_block(pattern, 0) != name_of_block(pattern, 1); }

// True if HDF5 defines the elements that were not written.
bool has_fill_value(hid_t properties) {
  H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
  H5D_fill_time_t time = H5D_FILL_TIME_NEVER;
  return H5Pfill_value_defined(properties, &fill) >= 0 && H5Pget_fill_time(properties, &time) >= 0 &&
         fill != H5D_FILL_VALUE_UNDEFINED && time != H5D_FILL_TIME_NEVER;
}

struct Source {
  std::string file;
  std::string dataset;

  [[nodiscard]] std::string text() const { return excerpt(file == "." ? dataset : file + ":" + dataset, most_shown); }
};

class Examination {
 public:
  explicit Examination(std::string const& name) : m_name(name) {}

  // `level`: how many virtual datasets lead to this one.
  void examine(hid_t dataset, int level) {
    auto const properties = require({H5Dget_create_plist(dataset), H5Pclose}, "read the layout of", m_name);
    auto const layout = H5Pget_layout(properties.get());
    require_filters(dataset, properties.get());
    if (layout == H5D_VIRTUAL) {
      examine_sources(dataset, properties.get(), level);
      if (!has_fill_value(properties.get())) require_mappings(properties.get());
    } else if (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties.get()) > 0) {
      examine_external(dataset, properties.get());
    } else if (!has_fill_value(properties.get())) {
      require_written(dataset, layout, properties.get());
    }
  }

 private:
  [[noreturn]] void refuse_source(Source const& source, std::string const& why) const {
    throw DataError(m_name + " is a virtual dataset, and its source " + source.text() + " " + why);
  }

  // A chunk may have been written without a filter that is optional: the first one tells.
  void require_filters(hid_t dataset, hid_t properties) const {
    hsize_t const first[H5S_MAX_RANK] = {};
    unsigned skipped = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    if (H5Pget_layout(properties) != H5D_CHUNKED || H5Pget_nfilters(properties) <= 0 ||
        H5Dget_chunk_info_by_coord(dataset, first, &skipped, &address, &bytes) < 0 || address == HADDR_UNDEF)
      return;
    for (int k = 0; k < H5Pget_nfilters(properties); ++k) {
      unsigned flags = 0;
      std::size_t values = 0;
      char filter[80] = {};
      auto const number = H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &values, nullptr, sizeof(filter),
                                         filter, nullptr);
      if (number < 0 || (skipped >> k & 1U) != 0 || H5Zfilter_avail(number) > 0) continue;
      throw DataError(m_name + " needs the filter " + std::to_string(number) + " '" + excerpt(filter, sizeof(filter)) +
                      "', which this HDF5 does not have: install its plugin and set HDF5_PLUGIN_PATH, or write the "
                      "dataset with gzip or without compression");
    }
  }

  void examine_sources(hid_t dataset, hid_t properties, int level) {
    std::size_t count = 0;
    H5Pget_virtual_count(properties, &count);
    for (std::size_t k = 0; k < count; ++k) {
      Source const pattern{
          text_from([=](char* text, std::size_t size) { return H5Pget_virtual_filename(properties, k, text, size); }),
          text_from([=](char* text, std::size_t size) { return H5Pget_virtual_dsetname(properties, k, text, size); })};
      Examined const key{path_of(dataset), pattern.file, pattern.dataset};
      if (m_examined.contains(key)) continue;
      if (has_number(pattern.file) || has_number(pattern.dataset)) {
        examine_blocks(dataset, pattern, level);
      } else if (Source const only = block(pattern, 0); !examine_source(dataset, only, level)) {
        refuse_source(only, "is missing: HDF5 would read it as the fill value");
      }
      m_examined.insert(key);  // not before: sources that lead in a circle reach the last level
    }
  }

  static Source block(Source const& pattern, std::size_t k) {
    return {name_of_block(pattern.file, k), name_of_block(pattern.dataset, k)};
  }

  // The dataset ends where the first block is missing.
  void examine_blocks(hid_t dataset, Source const& pattern, int level) {
    std::size_t first_missing = 0;
    while (first_missing < most_blocks && examine_source(dataset, block(pattern, first_missing), level))
      ++first_missing;
    auto const missing = block(pattern, first_missing);
    if (first_missing == 0) refuse_source(missing, "is missing");
    for (auto k = first_missing + 1; k < first_missing + looked_beyond; ++k) {
      if (examine_source(dataset, block(pattern, k), level))
        refuse_source(missing, "is missing, but " + block(pattern, k).text() + " is there");
    }
  }

  // Returns false if there is no such file, or no such dataset in it.
  bool examine_source(hid_t dataset, Source const& source, int level) {
    if (level == most_levels) {
      throw DataError(m_name + " is a virtual dataset with more than " + std::to_string(most_levels) +
                      " levels of sources, the last of them " + source.text());
    }
    Hdf5Id file(H5Iget_file_id(dataset), H5Fclose);
    if (source.file != ".") {
      // As HDF5 opens it, also as to locks.
      Hdf5Id const access(H5Fget_access_plist(file.get()), H5Pclose);
      file = open_source_file(source, dataset, access.get());
    }
    if (!file.valid()) return false;
    auto const found = open_dataset(file.get(), source.dataset);
    if (found.valid()) examine(found.get(), level + 1);
    return found.valid();
  }

  [[nodiscard]] Hdf5Id open_source_file(Source const& source, hid_t dataset, hid_t access) const {
    std::string reason;
    for (auto const& place : places_of(source.file, dataset)) {
      if (is_special_file(place.string())) refuse_source(source, "is not in a regular file");
      Hdf5Id file(H5Fopen(place.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
      if (file.valid()) return file;
      if (file_at(place.string())) reason = hdf5_reason();
    }
    if (!reason.empty()) refuse_source(source, "cannot be opened: " + reason);
    return {};
  }

  // Sources do not overlap, unless the file is damaged.
  void require_mappings(hid_t properties) const {
    std::size_t count = 0;
    H5Pget_virtual_count(properties, &count);
    hssize_t mapped = 0;
    hssize_t elements = 0;
    for (std::size_t k = 0; k < count; ++k) {
      Hdf5Id const space(H5Pget_virtual_vspace(properties, k), H5Sclose);
      auto const points = H5Sget_select_npoints(space.get());
      if (points < 0) return;  // it grows with its source
      mapped += points;
      elements = H5Sget_simple_extent_npoints(space.get());
    }
    if (count > 0 && mapped >= elements) return;
    throw DataError(m_name + " is a virtual dataset without a fill value, and its sources hold " +
                    std::to_string(mapped) + " of its " + std::to_string(elements) + " elements");
  }

  void examine_external(hid_t dataset, hid_t properties) const {
    Hdf5Id const space(H5Dget_space(dataset), H5Sclose);
    Hdf5Id const type(H5Dget_type(dataset), H5Tclose);
    auto const elements = H5Sget_simple_extent_npoints(space.get());
    auto left =
        elements < 0 ? std::nullopt : checked_product({static_cast<std::uint64_t>(elements), H5Tget_size(type.get())});
    if (!left) throw DataError(m_name + " is too large: the limit is 2^63 - 1 bytes");
    for (int k = 0; k < H5Pget_external_count(properties) && *left > 0; ++k) {
      std::string name(PATH_MAX, '\0');
      off_t offset = 0;
      hsize_t size = 0;
      if (H5Pget_external(properties, static_cast<unsigned>(k), name.size() - 1, name.data(), &offset, &size) < 0)
        throw DataError("cannot read the layout of " + m_name + ": " + hdf5_reason());
      auto const part = std::min<std::uint64_t>(size, *left);
      require_external(external_path(name.c_str(), dataset), static_cast<std::uint64_t>(offset), part);
      *left -= part;
    }
  }

  static fs::path external_path(std::string const& name, hid_t dataset) {
    auto const prefix = prefix_of(dataset, H5Pget_efile_prefix);
    return prefix.empty() || prefix == "." ? fs::path(name) : fs::path(prefix) / name;
  }

  void require_external(fs::path const& path, std::uint64_t offset, std::uint64_t bytes) const {
    auto const file = excerpt(path.string(), most_shown);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
      throw DataError("cannot read " + m_name + ": its external file " + file + ": " +
                      std::generic_category().message(errno));
    if (!S_ISREG(status.st_mode))
      throw DataError("cannot read " + m_name + ": its external file " + file + " is not a regular file");
    auto const end = checked_sum(offset, bytes);
    if (!end || *end > static_cast<std::uint64_t>(status.st_size)) {
      throw DataError(m_name + " is truncated: " + std::to_string(bytes) + " bytes from byte " +
                      std::to_string(offset) + " on are in its external file " + file + ", which has " +
                      std::to_string(status.st_size));
    }
  }

  void require_written(hid_t dataset, H5D_layout_t layout, hid_t properties) const {
    if (layout == H5D_CONTIGUOUS && H5Dget_offset(dataset) == HADDR_UNDEF)
      throw DataError(m_name + " was never written, and has no fill value");
    if (layout != H5D_CHUNKED) return;
    Hdf5Id const space(H5Dget_space(dataset), H5Sclose);
    hsize_t extents[H5S_MAX_RANK] = {};
    hsize_t chunk[H5S_MAX_RANK] = {};
    int const dimensions = H5Sget_simple_extent_dims(space.get(), extents, nullptr);
    H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
    std::uint64_t chunks = 1;
    for (int d = 0; d < dimensions; ++d) {
      auto const along = chunk[d] == 0 ? 0 : extents[d] / chunk[d] + (extents[d] % chunk[d] == 0 ? 0 : 1);
      chunks = checked_product({chunks, along}).value_or(largest_size);
    }
    hsize_t written = 0;
    if (H5Dget_num_chunks(dataset, space.get(), &written) < 0 || written >= chunks) return;
    throw DataError(m_name + " was not written completely: it has " + std::to_string(written) + " of its " +
                    std::to_string(chunks) + " chunks, and no fill value for the others");
  }

  struct Examined {
    fs::path parent;
    std::string file;
    std::string dataset;
    auto operator<=>(Examined const&) const = default;
  };

  std::string const& m_name;
  std::set<Examined> m_examined;
};

}  // namespace

void require_complete(hid_t dataset, std::string const& name) { Examination(name).examine(dataset, 0); }

int count_dimensions(hid_t dataset) {
  Hdf5Id const properties(H5Dget_create_plist(dataset), H5Pclose);
  std::size_t sources = 0;
  bool const asks_sources = H5Pget_layout(properties.get()) == H5D_VIRTUAL &&
                            H5Pget_virtual_count(properties.get(), &sources) >= 0 && sources > 0;
  Hdf5Id const space(asks_sources ? H5Pget_virtual_vspace(properties.get(), 0) : H5Dget_space(dataset), H5Sclose);
  return space.valid() ? std::max(H5Sget_simple_extent_ndims(space.get()), 0) : 0;
}

}  // namespace granary::detail
