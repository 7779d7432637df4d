// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hdf5.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/linalg/files/scalar_type.hpp>

namespace granary::detail {

/// Held around every call of HDF5, which may be built without thread safety. Switches off HDF5's own error printing.
class GRANARY_EXPORT Hdf5Lock {
 public:
  Hdf5Lock();
  Hdf5Lock(Hdf5Lock const&) = delete;
  Hdf5Lock& operator=(Hdf5Lock const&) = delete;
  ~Hdf5Lock();

 private:
  Working const m_working;  // HDF5 ends itself at exit()
  std::unique_lock<std::recursive_mutex> m_lock;
  H5E_auto2_t m_function = nullptr;
  void* m_data = nullptr;
};

/// Owns an HDF5 identifier. Create and destroy it under an Hdf5Lock.
class GRANARY_EXPORT Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Id() = default;
  Hdf5Id(hid_t id, Close close) : m_id(id), m_close(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : m_id(std::exchange(other.m_id, -1)), m_close(other.m_close) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(m_id, other.m_id);
    std::swap(m_close, other.m_close);
    return *this;
  }
  ~Hdf5Id() { reset(); }

  void reset() {
    if (m_id >= 0) m_close(m_id);
    m_id = -1;
  }
  [[nodiscard]] bool valid() const { return m_id >= 0; }
  [[nodiscard]] hid_t get() const { return m_id; }

 private:
  hid_t m_id = -1;
  Close m_close = nullptr;
};

/// The HDF5 type of such elements in memory; complex ones are the record {r, i} of h5py. Create it under an Hdf5Lock.
[[nodiscard]] GRANARY_EXPORT Hdf5Id memory_type(ScalarType type);

/// The innermost message of the last HDF5 error of this thread.
[[nodiscard]] GRANARY_EXPORT std::string hdf5_reason();

/// Opens a file for reading, also where its file system has no locks; otherwise HDF5 locks it. Throws DataError
/// `cannot <what> <path>: <reason>`.
[[nodiscard]] GRANARY_EXPORT Hdf5Id open_to_read(std::string const& path, std::string const& what = "read");

/// Without locks: for a file that is locked already, or whose file system has none.
GRANARY_EXPORT void lock_nothing(hid_t file_access);

/// Opens a dataset, through links as well, but not through one into a FIFO or a device: that might never end. Not valid
/// where there is none.
[[nodiscard]] GRANARY_EXPORT Hdf5Id open_dataset(hid_t file, std::string const& name);

/// The last soft or external link on the way to an object, such as `an external link to /A of B.h5`, whether there is
/// something where it leads or not; nothing where there is no link.
[[nodiscard]] GRANARY_EXPORT std::optional<std::string> link_to(hid_t file, std::string const& object);

/// The soft and external links in a file, by their paths; none of them is followed.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> list_links(hid_t file);

/// The texts of an attribute of one dimension; nothing if there is none with `count` texts.
[[nodiscard]] GRANARY_EXPORT std::vector<std::string> read_texts(hid_t object, char const* attribute,
                                                                 std::uint64_t count);

/// Throws DataError `cannot <what> <name>: <reason>` unless the id is valid.
[[nodiscard]] GRANARY_EXPORT Hdf5Id require(Hdf5Id id, std::string const& what, std::string const& name);

}  // namespace granary::detail
