// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace granary::fuzz {

/// Writes a well-formed HDF5 file described by `program`, each byte a choice: datasets of any shape, type, layout and
/// filters, groups, links. Choices that HDF5 refuses are skipped.
void make_hdf5(std::string const& path, std::string_view program);

}  // namespace granary::fuzz
