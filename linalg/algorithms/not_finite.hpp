// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <string>

namespace granary {

/// A result holds NaN or infinity, though the operands did not: a number has overflowed.
///
/// ```cpp
/// granary::NotFinite const error("the solution");
/// assert(std::string(error.what()).starts_with("the solution holds NaN or infinity: "));
/// ```
class GRANARY_EXPORT NotFinite : public Error {
 public:
  /// `result`: "the solution".
  explicit NotFinite(std::string result);
  [[nodiscard]] std::string const& result() const { return m_result; }

 private:
  std::string m_result;
};

}  // namespace granary
