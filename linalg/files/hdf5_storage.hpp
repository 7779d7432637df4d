// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hdf5.h>

#include <string>

#include <granary/detail/core/base/export.hpp>

namespace granary::detail {

/// Throws DataError with `name` if HDF5 could not read the dataset, would read elements that nobody wrote, or would
/// wait for ever:
/// - a source of a virtual dataset, or of its sources, is missing or cannot be opened: HDF5 reads the fill value;
/// - an external file is missing, shorter than its part (HDF5 reads zeros) or not a regular file;
/// - a filter of its chunks is missing;
/// - the dataset or chunks of it were not written, and there is no fill value: HDF5 leaves what was in memory.
/// Call it before anything that asks for the extents: these may depend on the sources. Opens each source once. Chunks
/// are counted where the dataset has no fill value. To be called under an Hdf5Lock.
GRANARY_EXPORT void require_complete(hid_t dataset, std::string const& name);

/// The number of dimensions of the dataset; opens no source of a virtual one. 0 if it cannot be read.
[[nodiscard]] GRANARY_EXPORT int count_dimensions(hid_t dataset);

}  // namespace granary::detail
