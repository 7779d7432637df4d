// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/matrix_file_info.hpp>

#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>

namespace granary::detail {

Bytes matrix_bytes(std::string const& name, std::uint64_t rows, std::uint64_t cols, ScalarType type) {
  if (auto const bytes = checked_product({rows, cols, size_of(type)})) return *bytes;
  throw DataError(name + " has " + std::to_string(rows) + " x " + std::to_string(cols) + " elements of " +
                  std::to_string(size_of(type)) + " bytes, more than the maximum of 2^63 - 1 bytes");
}

}  // namespace granary::detail
