// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/policy_case.hpp"
#include "support/seeds.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary::test {

/// A kind of random cases, and how many of them are usually run.
struct ContractCases {
  char const* name;
  std::uint64_t first_seed;
  std::uint64_t usual_count;
  PolicyCase (*draw)(std::uint64_t seed);

  [[nodiscard]] Seeds seeds() const { return {first_seed, usual_count}; }
};

/// The kinds in which policies keep their contract. No two have a seed in common.
[[nodiscard]] std::span<ContractCases const> contract_cases();
/// The kind of that name, which must be one of them.
[[nodiscard]] ContractCases const& contract_cases(std::string_view name);

/// The submission numbers of tasks that may have faults.
inline constexpr std::uint64_t faulty_tasks = 400;

struct ContractTotals {
  CaseResult sums;                                      // without acts
  std::set<std::pair<std::string, std::string>> pairs;  ///< of schedulers and eviction policies
  std::vector<std::string> broken;                      ///< the case and its first broken promise

  [[nodiscard]] std::string summary() const;
};

/// Runs `draw(seed)` for each seed until five cases have broken a promise. Every eighth case runs twice and must give
/// the same commands. A seed that is run alone prints its events and commands.
[[nodiscard]] ContractTotals run_cases(Seeds const& seeds, std::function<PolicyCase(std::uint64_t)> const& draw);

}  // namespace granary::test
