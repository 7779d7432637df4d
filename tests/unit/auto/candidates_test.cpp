// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/candidates.hpp>
#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace granary::candidates_test {

using namespace detail;

namespace {

using testing::ElementsAre;

// Without those that other tests of this program register.
std::vector<std::string> names(std::vector<Candidate> const& candidates) {
  std::vector<std::string> found;
  for (auto const& candidate : candidates) {
    if (!candidate.scheduler.starts_with("auto-test-")) found.push_back(candidate.scheduler);
  }
  return found;
}

TEST(Candidates, AreThoseOfTheRegistryTheLikelyOnesFirst) {
  Candidates const candidates({});
  EXPECT_THAT(names(candidates.likely(true, true)),
              ElementsAre("dmdas", "planned", "laheteroprio", "heteroprio", "darts", "superblock"));
  EXPECT_THAT(names(candidates.likely(false, true)),
              ElementsAre("planned", "darts", "superblock", "dmdas", "laheteroprio", "heteroprio"));
  EXPECT_THAT(names(candidates.likely(true, false)), ElementsAre("dmdas", "planned", "darts", "superblock"));
  EXPECT_THAT(names(candidates.likely(false, false)), ElementsAre("planned", "darts", "superblock", "dmdas"));
  EXPECT_EQ(candidates.first(), "darts");
  EXPECT_EQ(Candidates::first_measured(true), "planned");
  EXPECT_EQ(Candidates::first_measured(false), "dmdas");
}

TEST(Candidates, EvictAsTheRegistrySaysOrAllAlike) {
  Candidates candidates({.candidates = {"darts", "dmdas:alpha=2", "planned"}, .first = "darts"});
  auto const evictions = [&] {
    std::vector<std::string> found;
    for (auto const& candidate : candidates.likely(true, true)) found.push_back(candidate.eviction);
    return found;
  };
  EXPECT_THAT(evictions(), ElementsAre("luf:written=8", "lru", "belady"));
  candidates.evict_with("mru");
  EXPECT_THAT(evictions(), ElementsAre("mru", "mru", "mru"));
}

TEST(Candidates, AScheduleIsOneMore) {
  Candidates const candidates({.candidates = {"eager"}, .schedule = "static:file=x.json", .first = "lws"});
  EXPECT_THAT(names(candidates.likely(true, true)), ElementsAre("static:file=x.json", "eager"));
  EXPECT_TRUE(candidates.is_schedule("static:file=x.json"));
  EXPECT_FALSE(candidates.is_schedule("eager"));
  EXPECT_EQ(candidates.first(), "lws");
}

}  // namespace
}  // namespace granary::candidates_test
