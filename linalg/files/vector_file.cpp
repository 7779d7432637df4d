// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/vector_file.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/hdf5_storage.hpp>
#include <granary/detail/linalg/files/hdf5_support.hpp>

namespace granary {

std::vector<std::int64_t> read_vector(std::string const& path, std::string const& dataset, std::uint64_t most) {
  using detail::Hdf5Id;
  auto const name = path + ":" + dataset;
  detail::Hdf5Lock const lock;
  auto const file = detail::open_to_read(path, "open");
  auto const vector = detail::require(detail::open_dataset(file.get(), dataset), "open", name);
  detail::require_complete(vector.get(), name);
  auto const space = detail::require({H5Dget_space(vector.get()), H5Sclose}, "read", name);
  Hdf5Id const type(H5Dget_type(vector.get()), H5Tclose);
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Tget_class(type.get()) != H5T_INTEGER)
    throw DataError(name + " is not a dataset of integers with one dimension");
  hsize_t extent = 0;
  H5Sget_simple_extent_dims(space.get(), &extent, nullptr);
  if (extent > most) {
    throw DataError(name + " has " + std::to_string(extent) + " entries; at most " + std::to_string(most) +
                    " are expected");
  }
  std::vector<std::int64_t> values(extent);
  if (H5Dread(vector.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw DataError("cannot read " + name + ": " + detail::hdf5_reason());
  return values;
}

}  // namespace granary
