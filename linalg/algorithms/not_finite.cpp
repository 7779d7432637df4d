// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error_kinds.hpp>
#include <granary/detail/linalg/algorithms/not_finite.hpp>

#include <utility>

namespace granary {
namespace {

// In every program that can throw it.
[[maybe_unused]] bool const not_finite_is_known = [] {
  add_error_kind<NotFinite>(
      "NotFinite", [](NotFinite const& error) { return error.result(); },
      [](std::string const& result) { return NotFinite(result); });
  return true;
}();

}  // namespace

NotFinite::NotFinite(std::string result)
    : Error(result +
            " holds NaN or infinity: a number has overflowed, as it may if elements are very large or very small, or "
            "the matrix is nearly singular"),
      m_result(std::move(result)) {}

}  // namespace granary
