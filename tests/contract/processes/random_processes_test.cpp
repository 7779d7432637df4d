// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs on several engines that send each other values through memory: every task reads what the sequential
// program would, under limits of a few values, with late messages, and with tasks that fail.
#include "contract/processes/loop_network.hpp"
#include "contract/processes/one_process.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

namespace granary::test {

using namespace detail;

namespace {

// Returns the bytes that were sent.
Bytes play(std::uint64_t seed, bool failures) {
  RandomProcesses const drawn(seed, 1 + static_cast<std::uint32_t>(seed % 4), failures);
  SCOPED_TRACE(drawn.describe());
  LoopNetwork network(drawn.processes, seed % 2 == 0 ? seed : 0);
  std::vector<std::unique_ptr<OneProcess>> all;
  for (std::uint32_t p = 0; p < drawn.processes; ++p) {
    all.push_back(std::make_unique<OneProcess>(p, drawn, network.transport(ProcessId(p))));
  }
  network.start();
  std::vector<std::thread> threads;
  std::vector<std::vector<std::optional<Value>>> found(drawn.processes);
  for (std::uint32_t p = 0; p < drawn.processes; ++p) {
    threads.emplace_back([&, p] { found[p] = all[p]->run(drawn, p); });
  }
  for (auto& thread : threads) thread.join();
  auto const expected = expected_values(drawn.program);
  for (std::size_t d = 0; d < expected.size(); ++d) {
    EXPECT_EQ(found[drawn.program.owners[d]][d], expected[d]) << "datum " << d;
  }
  bool const any_fails = std::ranges::any_of(drawn.program.steps, &Step::fails);
  bool const any_failed = std::ranges::any_of(all, [](auto const& one) { return one->failure != nullptr; });
  EXPECT_TRUE(any_fails || !any_failed);
  for (auto const& one : all) EXPECT_TRUE(one->exchange.at_rest());
  network.stop();
  return network.sent();
}

void play_seeds(std::uint64_t first, std::uint64_t count, bool failures) {
  Seeds const seeds(first, count);
  Bytes sent = 0;
  for (auto seed = seeds.first; seed < seeds.end && !testing::Test::HasFailure(); ++seed) sent += play(seed, failures);
  EXPECT_TRUE(seeds.few || sent > 8 * (seeds.end - seeds.first)) << sent;
}

TEST(Processes, EveryTaskReadsWhatTheSequentialProgramWould) { play_seeds(1, 600, false); }

TEST(Processes, FailuresReachTheReadersOfOtherProcesses) { play_seeds(10'001, 300, true); }

}  // namespace
}  // namespace granary::test
