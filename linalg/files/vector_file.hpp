// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace granary {

/// A one-dimensional dataset of at most `most` integers, as MatrixSink::add_vector writes it. Throws DataError if it
/// cannot be read as that.
[[nodiscard]] GRANARY_EXPORT std::vector<std::int64_t> read_vector(std::string const& path, std::string const& dataset,
                                                                   std::uint64_t most);

}  // namespace granary
