// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace granary::test {

/// The seeds of a test of random cases. GRANARY_TEST_SEED=<seed> selects only that seed, GRANARY_TEST_CASES=<n> this
/// many instead of the default number.
struct Seeds {
  std::uint64_t first;
  std::uint64_t end;       ///< one beyond the last
  bool one_alone = false;  ///< too few for expectations about all of them together

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
