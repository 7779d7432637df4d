// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace granary::test {

/// The seeds of a test of random cases: an eighth of the usual number with a sanitizer, which needs ten times the time.
/// GRANARY_TEST_SEED=<seed> selects only that seed, GRANARY_TEST_CASES=<n> this many.
struct Seeds {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool sanitized = true;
#else
  static constexpr bool sanitized = false;
#endif
  std::uint64_t first;
  std::uint64_t end;  ///< one beyond the last
  bool one_alone = false;
  bool few = sanitized;  ///< too few for expectations about all of them together

  Seeds(std::uint64_t usual_first, std::uint64_t usual_count)
      : first(usual_first), end(usual_first + (sanitized ? (usual_count + 7) / 8 : usual_count)) {
    if (auto const count = number_in("GRANARY_TEST_CASES")) end = first + *count;
    auto const seed = number_in("GRANARY_TEST_SEED");
    if (!seed) return;
    first = *seed;
    end = first + 1;
    one_alone = few = true;
  }

 private:
  static std::optional<std::uint64_t> number_in(char const* variable) {
    char const* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    return std::strtoull(text, nullptr, 10);
  }
};

}  // namespace granary::test
