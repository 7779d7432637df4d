// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace granary::fuzz {

/// Writes a well-formed HDF5 file that `program` describes, each byte a choice: datasets of any shape, type, layout and
/// filters, groups, links. Where HDF5 refuses a choice the file lacks it.
void make_hdf5(std::string const& path, std::string_view program);

}  // namespace granary::fuzz
