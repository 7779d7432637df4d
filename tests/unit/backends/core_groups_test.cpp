// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/core_groups.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "support/synthetic_topology.hpp"

namespace granary {

using namespace detail;

namespace {

using test::synthetic_topology;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::pair<std::vector<unsigned>, std::optional<unsigned>>> divided(HostTopology const& host,
                                                                               unsigned size) {
  std::vector<std::pair<std::vector<unsigned>, std::optional<unsigned>>> groups;
  for (auto const& group : divide_cores(host.usable_cores, host.domains, size))
    groups.emplace_back(group.cores, group.domain);
  return groups;
}

auto group(std::vector<unsigned> const& cores, std::optional<unsigned> domain) { return Pair(cores, domain); }

TEST(CoreGroups, AGroupDoesNotStraddleDomains) {
  auto const host = synthetic_topology("numa:2 core:4 pu:1");
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 1}, 0), group({2, 3}, 0), group({4, 5}, 1), group({6, 7}, 1)));
  EXPECT_THAT(divided(host, 3), ElementsAre(group({0, 1, 2}, 0), group({4, 5, 6}, 1)));
  EXPECT_THAT(divided(host, 4), ElementsAre(group({0, 1, 2, 3}, 0), group({4, 5, 6, 7}, 1)));
  EXPECT_THAT(divided(host, 5), IsEmpty());
}

TEST(CoreGroups, OneHardwareThreadOfEachCore) {
  auto const host = synthetic_topology("numa:2 core:2 pu:2");
  EXPECT_THAT(divided(host, 1), ElementsAre(group({0}, 0), group({2}, 0), group({4}, 1), group({6}, 1)));
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 2}, 0), group({4, 6}, 1)));
}

TEST(CoreGroups, HardwareThreadsMayBeNumberedAcrossDomains) {
  auto const host = synthetic_topology("numa:2 core:2 pu:1(indexes=0,2,1,3)");
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 2}, 0), group({1, 3}, 1)));
  auto const given = divide_cores({0, 1, 2, 3}, host.domains, 2);
  ASSERT_EQ(given.size(), 2U);
  EXPECT_THAT(given[0].cores, ElementsAre(0, 2)) << "the domain counts, not the order in which cores are given";
  EXPECT_THAT(given[1].cores, ElementsAre(1, 3));
}

TEST(CoreGroups, DomainsOfDifferentSizes) {
  HostTopology host;
  host.usable_cores = {0, 1, 2, 3, 4, 5, 6, 7};
  host.domains = {{.number = 0, .threads = {0, 1, 2, 3, 4}}, {.number = 2, .threads = {5, 6, 7}}};
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 1}, 0), group({2, 3}, 0), group({5, 6}, 2)));
  EXPECT_THAT(divided(host, 4), ElementsAre(group({0, 1, 2, 3}, 0)));
  EXPECT_THAT(divided(host, 5), ElementsAre(group({0, 1, 2, 3, 4}, 0)));
}

TEST(CoreGroups, CoresOfNoDomainAreTogether) {
  HostTopology host;
  host.usable_cores = {0, 1, 2, 3};
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 1}, std::nullopt), group({2, 3}, std::nullopt)));
  host.domains = {{.number = 0, .threads = {0, 1, 2}}};
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 1}, 0)));
}

TEST(CoreGroups, TheFirstOfTheDomainsThatShareACoreCounts) {
  HostTopology host;
  host.usable_cores = {0, 1};
  host.domains = {{.number = 0, .threads = {0, 1}}, {.number = 1, .threads = {0, 1}}};  // DRAM and memory on package
  EXPECT_THAT(divided(host, 2), ElementsAre(group({0, 1}, 0)));
  EXPECT_THAT(domains_of({0, 1}, host.domains), ElementsAre(0));
}

TEST(CoreGroups, DomainsOfCores) {
  auto const host = synthetic_topology("package:2 numa:2 core:2 pu:2");
  EXPECT_THAT(domains_of(host.usable_cores, host.domains), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(domains_of({4, 13}, host.domains), ElementsAre(1, 3)) << "any hardware thread of a core";
  EXPECT_THAT(domains_of({99}, host.domains), IsEmpty());
  EXPECT_THAT(domains_of({}, host.domains), IsEmpty());
}

}  // namespace
}  // namespace granary
