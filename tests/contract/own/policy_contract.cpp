// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract tests of one policy, for granary_add_policy_test. GRANARY_CONTRACT_SCHEDULER and
// GRANARY_CONTRACT_EVICTION are its name, with options; an empty one stands for all that are registered.
// A failure prints its seed: GRANARY_TEST_SEED=<seed> with the test's --gtest_filter runs only that case and prints its
// events; GRANARY_TEST_CASES=<n> runs n cases of each kind.
#include "support/contract_cases.hpp"

#include <granary/detail/policies/registry.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <ostream>
#include <string>

namespace granary::test {

using namespace detail;

void PrintTo(ContractCases const& cases, std::ostream* out) { *out << cases.name; }

namespace {

constexpr std::uint64_t usual_cases = 200;  // of each kind

std::string running;  // the case

// What a policy reads is not checked: a wrong question to the SystemView may crash.
void name_case(int signal) {
  [[maybe_unused]] auto const written = write(STDERR_FILENO, running.data(), running.size());
  std::raise(signal);  // SA_RESETHAND
}

class PolicyContract : public testing::TestWithParam<ContractCases> {};

TEST_P(PolicyContract, EveryPromiseIsKept) {
  std::string const scheduler = GRANARY_CONTRACT_SCHEDULER;
  std::string const eviction = GRANARY_CONTRACT_EVICTION;
  if (!scheduler.empty()) static_cast<void>(make_scheduler(scheduler));
  if (!eviction.empty()) static_cast<void>(make_eviction(eviction));
  struct sigaction action = {};
  action.sa_handler = name_case;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  sigaction(SIGSEGV, &action, nullptr);
  Seeds const seeds(GetParam().first_seed, usual_cases);
  auto const totals = run_cases(seeds, [&](std::uint64_t seed) {
    auto drawn = GetParam().draw(seed);
    if (!scheduler.empty()) drawn.scheduler = scheduler;
    if (!eviction.empty()) drawn.eviction = eviction;
    running = drawn.describe() + ": crashed; did the policy ask about a task that had ended or was withdrawn?\n";
    return drawn;
  });
  for (auto const& broken : totals.broken) ADD_FAILURE() << broken;
  GTEST_LOG_(INFO) << seeds.end - seeds.first << " cases: " << totals.summary();
  if (!seeds.few) EXPECT_GT(totals.sums.tasks_run, 0U);
}

INSTANTIATE_TEST_SUITE_P(, PolicyContract, testing::ValuesIn(contract_cases().begin(), contract_cases().end()),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace granary::test
