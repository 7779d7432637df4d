// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/hdf5_support.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/base/printable.hpp>

namespace granary::detail {
namespace {

constexpr Bytes most_text_bytes = 256_MiB;

std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// HDF5 looks for the target of an external link beside the file and in the working directory.
herr_t refuse_special_file(char const* file, char const*, char const* target, char const*, unsigned*, hid_t, void*) {
  auto const beside = std::filesystem::path(file).parent_path() / target;
  if (!is_special_file(target) && !is_special_file(beside.string())) return 0;
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_LINK, H5E_TRAVERSE, "it is not a regular file");
  return -1;
}

// Never closed: that would clear the reason of the last error.
hid_t careful_access() {
  static hid_t const access = [] {
    auto const made = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_elink_cb(made, refuse_special_file, nullptr);
    return made;
  }();
  return access;
}

// False if the file system cannot lock the file as HDF5 does.
bool has_locks(std::string const& path) {
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return true;
  bool const none = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno != EWOULDBLOCK && errno != EINTR;
  ::close(descriptor);
  return !none;
}

// Of a failed system call HDF5 tells the time with a line's end, addresses, and 2^64 - 1 for bytes that it did not
// read: `file read failed: time = …, errno = 5, error message = 'Input/output error', …`.
std::string shortened(std::string text) {
  constexpr char quote = 39;
  auto const cause = text.find("error message");
  auto const first = cause == std::string::npos ? cause : text.find(quote, cause);
  auto const end = first == std::string::npos ? first : text.find(quote, first + 1);
  if (end != std::string::npos)
    text = text.substr(0, text.find(':')).append(": ").append(text, first + 1, end - first - 1);
  for (auto& c : text) {
    if (c >= 0 && c < ' ') c = ' ';
  }
  return text;
}

std::string where_it_leads(hid_t file, std::string const& link, H5L_info_t const& info) {
  std::vector<char> value(info.u.val_size);
  if (value.empty() || H5Lget_val(file, link.c_str(), value.data(), value.size(), careful_access()) < 0)
    return "a link that cannot be read";
  constexpr std::size_t shown = 200;
  if (info.type == H5L_TYPE_SOFT)
    return "a soft link to " + excerpt(std::string(value.begin(), std::ranges::find(value, '\0')), shown);
  char const* target = nullptr;
  char const* object = nullptr;
  if (info.type != H5L_TYPE_EXTERNAL || H5Lunpack_elink_val(value.data(), value.size(), nullptr, &target, &object) < 0)
    return "a link of a kind that is unknown";
  return "an external link to " + excerpt(object, shown) + " of " + excerpt(target, shown);
}

herr_t note_link(hid_t, char const* name, H5L_info_t const* info, void* links) {
  if (info->type != H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(links)->push_back(std::string("/") + name);
  return 0;
}

}  // namespace

Hdf5Lock::Hdf5Lock() : m_lock(hdf5_mutex()) {
  static bool const opened = [] {
    bool const done = H5open() >= 0;  // registers its exit handler: ours has to run before
    stop_work_at_exit();
    return done;
  }();
  static_cast<void>(opened);
  H5Eget_auto2(H5E_DEFAULT, &m_function, &m_data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Lock::~Hdf5Lock() { H5Eset_auto2(H5E_DEFAULT, m_function, m_data); }

Hdf5Id memory_type(ScalarType type) {
  bool const single = type == ScalarType::Float32 || type == ScalarType::Complex64;
  hid_t const real = single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  if (!is_complex_type(type)) return {H5Tcopy(real), H5Tclose};
  Hdf5Id record(H5Tcreate(H5T_COMPOUND, size_of(type)), H5Tclose);
  H5Tinsert(record.get(), "r", 0, real);
  H5Tinsert(record.get(), "i", size_of(type) / 2, real);
  return record;
}

std::string hdf5_reason() {
  std::string reason = "HDF5 gives no reason";
  auto const keep_last = [](unsigned, H5E_error2_t const* error, void* text) -> herr_t {
    if (error->desc != nullptr && *error->desc != '\0') *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
  return shortened(reason);
}

void lock_nothing(hid_t file_access) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0))
  H5Pset_file_locking(file_access, false, true);
#else
  static_cast<void>(file_access);
#endif
}

Hdf5Id open_to_read(std::string const& path, std::string const& what) {
  Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file.valid()) return file;
  auto reason = hdf5_reason();
  if (!has_locks(path)) {
    Hdf5Id const access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    lock_nothing(access.get());
    file = Hdf5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
    reason = hdf5_reason();
  }
  if (!file.valid()) throw DataError("cannot " + what + " " + path + ": " + reason);
  return file;
}

Hdf5Id open_dataset(hid_t file, std::string const& name) {
  return {H5Dopen2(file, name.c_str(), careful_access()), H5Dclose};
}

std::optional<std::string> link_to(hid_t file, std::string const& object) {
  std::optional<std::string> last;
  for (auto end = object.find('/', 1);; end = object.find('/', end + 1)) {
    auto const part = object.substr(0, end);
    H5L_info_t info{};
    if (H5Lget_info(file, part.c_str(), &info, careful_access()) < 0) return last;
    if (info.type != H5L_TYPE_HARD) last = where_it_leads(file, part, info);
    if (end == std::string::npos) return last;
  }
}

std::vector<std::string> list_links(hid_t file) {
  std::vector<std::string> links;
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_link, &links);
  return links;
}

std::vector<std::string> read_texts(hid_t object, char const* attribute, std::uint64_t count) {
  if (H5Aexists(object, attribute) <= 0) return {};
  Hdf5Id const found(H5Aopen(object, attribute, H5P_DEFAULT), H5Aclose);
  Hdf5Id const space(H5Aget_space(found.get()), H5Sclose);
  Hdf5Id const type(H5Aget_type(found.get()), H5Tclose);
  if (!type.valid() || H5Tget_class(type.get()) != H5T_STRING) return {};
  hsize_t extent = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Sget_simple_extent_dims(space.get(), &extent, nullptr) != 1 ||
      extent != count)
    return {};
  bool const variable = H5Tis_variable_str(type.get()) > 0;
  auto const size = variable ? sizeof(char*) : H5Tget_size(type.get());
  // Of a damaged file the numbers may be any.
  auto const stored = H5Aget_storage_size(found.get());
  if (count > most_text_bytes / sizeof(char*) || stored > most_text_bytes || (!variable && stored != count * size))
    return {};
  std::vector<char> bytes(count * size);
  if (H5Aread(found.get(), type.get(), bytes.data()) < 0) return {};
  std::vector<std::string> texts(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    std::string_view text(bytes.data() + k * size, size);
    if (variable) {
      char* start = nullptr;
      std::memcpy(&start, text.data(), sizeof(start));
      text = start == nullptr ? std::string_view() : std::string_view(start);
    }
    texts[k] = text.substr(0, text.find('\0'));
    while (!variable && H5Tget_strpad(type.get()) == H5T_STR_SPACEPAD && texts[k].ends_with(' ')) texts[k].pop_back();
  }
  if (variable) H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, bytes.data());
  return texts;
}

Hdf5Id require(Hdf5Id id, std::string const& what, std::string const& name) {
  if (!id.valid()) throw DataError("cannot " + what + " " + name + ": " + hdf5_reason());
  return id;
}

}  // namespace granary::detail
