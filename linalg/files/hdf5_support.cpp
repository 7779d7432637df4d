// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/files/hdf5_support.hpp>

#include <granary/core/base/error.hpp>

namespace granary::detail {
namespace {

std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

Hdf5Lock::Hdf5Lock() : m_lock(hdf5_mutex()) {
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
  return reason;
}

Hdf5Id require(Hdf5Id id, std::string const& what, std::string const& name) {
  if (!id.valid()) throw DataError("cannot " + what + " " + name + ": " + hdf5_reason());
  return id;
}

}  // namespace granary::detail
