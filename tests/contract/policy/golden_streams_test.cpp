// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The planner's commands, as text and in their order, against the hashes in golden_streams.txt: a change of the code
// that is to change no decision changes no line of it. GRANARY_TEST_WRITE_GOLDEN=<file> writes the hashes of this
// build, after a change of decisions that was meant.
#include <granary/detail/core/base/stable_hash.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/simulator/platform.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
#include <granary/detail/workloads/stencil.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>
#include <granary/detail/workloads/tiled_gemm.hpp>
#include <granary/detail/workloads/tiled_lu.hpp>

#include "support/policy_case.hpp"
#include "support/print_events.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace granary::test {

using namespace detail;

namespace {

/// Hashes by the name of what made the commands.
using Streams = std::map<std::string, std::string>;

class Stream {
 public:
  void add(Act const& act) {
    m_hash = stable_hash(to_text(act) + "\n", m_hash);
    ++m_acts;
  }
  [[nodiscard]] std::string summary() const { return std::to_string(m_acts) + " " + std::to_string(m_hash); }
  [[nodiscard]] std::uint64_t acts() const { return m_acts; }

 private:
  std::uint64_t m_hash = stable_hash("");
  std::uint64_t m_acts = 0;
};

// The scheduler's own eviction policy and two others.
std::vector<std::string> evictions_for(std::string const& scheduler) {
  std::vector<std::string> chosen{default_eviction(scheduler)};
  for (std::string const name : {"lru", "luf", "belady"}) {
    if (chosen.size() < 3 && name != chosen.front()) chosen.push_back(name);
  }
  return chosen;
}

void add_random_cases(Streams& streams, bool with_faults) {
  for (auto const& scheduler : tested_schedulers()) {
    for (auto const& eviction : evictions_for(scheduler)) {
      Stream stream;
      for (std::uint64_t seed = 1; seed <= 32; ++seed) {
        auto drawn = draw_case(with_faults ? 5000 + seed : seed, with_faults);
        drawn.scheduler = scheduler;
        drawn.eviction = eviction;
        drawn.check_every = 0;
        for (auto const& act : run_case(drawn).acts) stream.add(act);
      }
      streams[std::string(with_faults ? "faults" : "random") + " " + scheduler + " " + eviction] = stream.summary();
    }
  }
}

std::vector<std::unique_ptr<workloads::Workload>> workloads(std::uint64_t tiles) {
  workloads::Tiling const tiling{.tiles = tiles, .tile = 960, .precision = Precision::Single};
  std::vector<std::unique_ptr<workloads::Workload>> all;
  all.push_back(std::make_unique<workloads::TiledCholesky>(tiling));
  all.push_back(std::make_unique<workloads::TiledLu>(tiling));
  all.push_back(std::make_unique<workloads::TiledGemm>(tiling));
  all.push_back(
      std::make_unique<workloads::Stencil>(workloads::Stencil::Options{.blocks = {tiles, tiles, 1}, .iterations = 6}));
  return all;
}

void add_platform(Streams& streams, std::string const& name, std::uint64_t tiles) {
  for (auto const& workload : workloads(tiles)) {
    auto platform = Platform::find(name);
    platform.limit(std::max(workload->working_set() / 4, 24 * workloads::Tiling{.tile = 960}.tile_bytes()));
    for (auto const& scheduler : tested_schedulers()) {
      PlatformTruth const truth(platform);
      PlatformEstimator estimator(platform);
      Stream stream;
      SimulatorOptions options;
      Acts acts([&](Act const& act) { stream.add(act); });
      options.observers = {&acts};
      Simulator simulator(Topology(platform.machine), make_policies(scheduler, default_eviction(scheduler), 1),
                          estimator, truth, options);
      workload->submit(simulator, {platform.home_node(), platform.home_in_place()});
      EXPECT_TRUE(simulator.run().failures.empty()) << name << " " << workload->name() << " " << scheduler;
      streams[name + " " + workload->name() + "-" + std::to_string(tiles) + " " + scheduler] = stream.summary();
    }
  }
}

Streams read(std::string const& file) {
  Streams streams;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    auto const colon = line.find(": ");
    if (colon != std::string::npos) streams[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return streams;
}

TEST(GoldenStreams, TheSameEventsGiveTheSameCommands) {
  if (Seeds::sanitized) GTEST_SKIP() << "a sanitizer changes no decision, and the random cases run with it";
#if !defined(__x86_64__) || defined(__FMA__)
  GTEST_SKIP() << "policies' costs are rounded otherwise where products and sums are fused";
#endif
  Streams now;
  add_random_cases(now, false);
  add_random_cases(now, true);
  for (std::string const platform : {"mirage", "v100x4", "xeon-disk"}) {
    add_platform(now, platform, 6);
    add_platform(now, platform, 11);
  }
  if (char const* const file = std::getenv("GRANARY_TEST_WRITE_GOLDEN")) {
    std::ofstream out(file);
    for (auto const& [name, summary] : now) out << name << ": " << summary << '\n';
    GTEST_SKIP() << "the streams of this build are in " << file;
  }
  auto const golden = read(GRANARY_SOURCE_DIR "/tests/contract/policy/golden_streams.txt");
  for (auto const& [name, summary] : golden) {
    EXPECT_TRUE(now.contains(name)) << name << " was not run";
    if (!now.contains(name)) continue;
    EXPECT_EQ(now.at(name), summary) << name << ": number of commands and their hash";
  }
  EXPECT_EQ(now.size(), golden.size()) << "policies without golden streams: write these anew";
}

}  // namespace
}  // namespace granary::test
