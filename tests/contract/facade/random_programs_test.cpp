// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Runtime on random programs of one application thread: all that the application and the tasks find is what the
// steps give one after the other. A failure prints its seed and the program, with the steps that are needed for it.
// GRANARY_TEST_SEED=<seed> runs only that seed and prints it; GRANARY_TEST_CASES=<n> runs n instead of the default
// number.
#include "contract/facade/draw.hpp"
#include "contract/facade/player.hpp"

#include "support/deadline.hpp"
#include "support/seeds.hpp"

#include <granary/detail/policies/registry.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <set>
#include <string>

namespace granary::facade_test {

using namespace detail;

namespace {

// What went wrong, if anything did.
std::optional<std::string> fault(Program const& program, Totals& totals) {
  std::optional<std::string> found;
  test::require_end("seed " + std::to_string(program.seed), [&] {
    try {
      totals.add(play(program));
    } catch (std::exception const& error) {
      found = error.what();
    }
  });
  return found;
}

// Leaves out steps as long as the rest fails, too; returns what is left and what goes wrong with it.
std::string shortened(Program program, std::string found) {
  Totals ignored;
  auto const fails = [&](Program const& some) {
    for (int run = 0; run < 5; ++run) {
      if (auto const again = fault(some, ignored)) {
        found = *again;
        return true;
      }
    }
    return false;
  };
  for (auto count = program.steps.size() / 2; count > 0; count /= 2) {
    for (std::size_t first = 0; first + count <= program.steps.size();) {
      auto less = program;
      auto const begin = less.steps.begin() + static_cast<std::ptrdiff_t>(first);
      less.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      if (fails(less)) {
        program = less;
      } else {
        first += count;
      }
    }
  }
  return to_text(program) + found;
}

struct Played {
  Totals totals;
  std::uint64_t programs = 0;
  std::set<std::string> schedulers = {};
  std::set<std::string> evictions = {};
};

Played play_seeds(test::Seeds const& seeds, bool failing) {
  Played played;
  int broken = 0;
  for (auto seed = seeds.first; seed < seeds.end && broken < 3; ++seed) {
    auto const program = draw_program(seed, failing);
    if (seeds.one_alone) std::cout << to_text(program);
    ++played.programs;
    played.schedulers.insert(program.options.scheduler);
    played.evictions.insert(program.options.eviction);
    auto const found = fault(program, played.totals);
    if (!found) continue;
    ++broken;
    ADD_FAILURE() << *found << "\nwith\n"
                  << to_text(program) << "\nof which these steps are enough:\n"
                  << shortened(program, *found);
  }
  auto const& totals = played.totals;
  GTEST_LOG_(INFO) << "seeds " << seeds.first << " to " << seeds.end - 1 << ": " << totals.count<Submit>()
                   << " tasks submitted, " << totals.on_cores << " run on cores, " << totals.on_devices
                   << " on devices, " << totals.count<Outside>() << " outside, " << totals.count<WaitFor>()
                   << " waits for data, " << totals.refused << " refusals, " << totals.too_large
                   << " for lack of memory, " << totals.host_evictions << " evictions from host memory, "
                   << totals.device_evictions << " from devices, " << totals.to_scratch << " bytes to scratch, "
                   << totals.failures << " failures reported";
  return played;
}

// Everything that a program can do was done, and often.
void expect_all(Played const& played) {
  auto const& totals = played.totals;
  auto const some = played.programs / 4, few = played.programs / 50;
  for (std::size_t use = 0; use < totals.uses.size(); ++use) EXPECT_GT(totals.uses[use], some) << "use " << use;
  for (std::size_t kind = 0; kind < kind_count; ++kind) EXPECT_GT(totals.kinds[kind], some) << "kind " << kind;
  for (std::size_t step = 0; step < totals.steps.size(); ++step) {
    if (step == Step(Recover{}).index()) continue;  // after failures
    EXPECT_GT(totals.steps[step], some) << "step " << step;
  }
  for (auto const part : {&Totals::in_order, &Totals::refused, &Totals::on_cores, &Totals::on_devices}) {
    EXPECT_GT(totals.*part, some);
  }
  for (auto const part : {&Totals::too_large, &Totals::host_evictions, &Totals::device_evictions}) {
    EXPECT_GT(totals.*part, few);
  }
  EXPECT_GT(totals.to_scratch, 0U);
  if (played.programs < 300) return;
  EXPECT_EQ(played.schedulers.size(), scheduler_names().size());
  EXPECT_EQ(played.evictions.size(), eviction_names().size() + 1) << "and that of the scheduler auto";
}

constexpr std::uint64_t usual_cases = 800;

TEST(RandomPrograms, GiveTheResultsOfSequentialExecution) {
  test::Seeds const seeds(1, usual_cases);
  auto const played = play_seeds(seeds, false);
  if (seeds.few) return;
  expect_all(played);
  EXPECT_EQ(played.totals.failures, 0U);
}

TEST(RandomPrograms, LoseOnlyWhatDependsOnFailingTasks) {
  test::Seeds const seeds(1'000'001, usual_cases / 4);
  auto const played = play_seeds(seeds, true);
  if (seeds.few) return;
  expect_all(played);
  EXPECT_GT(played.totals.failures, played.programs / 4);
  EXPECT_GT(played.totals.count<Recover>(), played.programs / 50);
}

}  // namespace
}  // namespace granary::facade_test
