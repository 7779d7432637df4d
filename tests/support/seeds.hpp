// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace granary::test {

/// The seeds that a test of random cases goes through. GRANARY_TEST_SEED=<seed> chooses that one alone,
/// GRANARY_TEST_CASES=<n> so many instead of the usual number.
struct Seeds {
  std::uint64_t first;
  std::uint64_t end;       ///< one beyond the last
  bool one_alone = false;  ///< nothing can be expected of all of them together

  Seeds(std::uint64_t usual_first, std::uint64_t usual_count) : first(usual_first), end(usual_first + usual_count) {
    if (auto const count = number_in("GRANARY_TEST_CASES")) end = first + *count;
    auto const seed = number_in("GRANARY_TEST_SEED");
    if (!seed) return;
    first = *seed;
    end = first + 1;
    one_alone = true;
  }

 private:
  static std::optional<std::uint64_t> number_in(char const* variable) {
    char const* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    return std::strtoull(text, nullptr, 10);
  }
};

}  // namespace granary::test
