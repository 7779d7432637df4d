// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/node_share.hpp>

#include <gtest/gtest.h>

#include <set>

namespace granary::node_share_test {
namespace {

bool nothing_set(std::string const&) { return false; }
bool memory_set(std::string const& name) { return name == "GRANARY_MEMORY"; }
bool devices_set(std::string const& name) { return name == "GRANARY_DEVICES"; }

NodeResources node(unsigned cores, unsigned devices) {
  NodeResources resources{.all_cores = cores, .memory = 64_GiB, .devices = devices, .device_memory = 10_GiB};
  for (unsigned c = 0; c < cores; ++c) resources.cores.push_back(2 * c);
  return resources;
}

TEST(NodeShare, ProcessesOfTheSameCoresDivideThem) {
  auto const resources = node(7, 0);
  std::multiset<unsigned> given;
  for (unsigned p = 0; p < 3; ++p) {
    auto const options = share_node({}, {p, 3, p, 3}, resources, nothing_set);
    EXPECT_GE(options.cores.size(), 2U);
    given.insert(options.cores.begin(), options.cores.end());
    EXPECT_EQ(options.host_memory, 64_GiB / 2 / 3);
  }
  EXPECT_EQ(given, std::multiset(resources.cores.begin(), resources.cores.end()));
  // Bound to others by the launcher: this process keeps its own.
  EXPECT_EQ(share_node({}, {1, 3, 0, 1}, resources, nothing_set).cores, resources.cores);
  // More processes than cores.
  EXPECT_EQ(share_node({}, {3, 4, 3, 4}, node(2, 0), nothing_set).cores, std::vector<unsigned>{2});
}

TEST(NodeShare, WhatWasAskedForStays) {
  RuntimeOptions asked;
  asked.cores = {5};
  asked.host_memory = 3_GiB;
  asked.devices = "none";
  auto const options = share_node(asked, {1, 2, 1, 2}, node(8, 2), nothing_set);
  EXPECT_EQ(options.cores, asked.cores);
  EXPECT_EQ(options.host_memory, 3_GiB);
  EXPECT_EQ(options.devices, "none");
  EXPECT_EQ(share_node({}, {1, 2, 1, 2}, node(8, 2), memory_set).host_memory, 0U);
  EXPECT_EQ(share_node({}, {1, 2, 1, 2}, node(8, 2), devices_set).devices, "");
}

TEST(NodeShare, DevicesAreDealt) {
  auto const of = [](unsigned process, unsigned count, unsigned devices) {
    return share_node({}, {process, count, process, count}, node(8, devices), nothing_set);
  };
  EXPECT_EQ(of(0, 2, 4).devices, "0,2");
  EXPECT_EQ(of(1, 2, 4).devices, "1,3");
  EXPECT_EQ(of(1, 2, 4).device_memory, 0U) << "the usual limit";
  EXPECT_EQ(of(0, 3, 0).devices, "");
  // Five processes on two devices: three on the first one, two on the other.
  EXPECT_EQ(of(4, 5, 2).devices, "0");
  EXPECT_EQ(of(4, 5, 2).device_memory, 10_GiB / 5 * 4 / 3);
  EXPECT_EQ(of(3, 5, 2).devices, "1");
  EXPECT_EQ(of(3, 5, 2).device_memory, 10_GiB / 5 * 4 / 2);
}

TEST(NodeShare, ANarrowBindingIsToldOf) {
  auto resources = node(16, 0);
  EXPECT_FALSE(find_narrow_binding({0, 4, 0, 4}, resources));
  resources.cores = {0};
  EXPECT_FALSE(find_narrow_binding({0, 16, 0, 1}, resources));
  EXPECT_EQ(find_narrow_binding({0, 4, 0, 1}, resources),
            "each of the 4 processes on this node has 1 of its 16 cores, where 4 are its share: MPI's launcher binds "
            "processes (mpirun --bind-to none, srun --cpus-per-task)");
}

TEST(NodeShare, ThisNodeHasCoresAndMemory) {
  auto const resources = find_node_resources();
  EXPECT_FALSE(resources.cores.empty());
  EXPECT_GT(resources.memory, 0U);
}

}  // namespace
}  // namespace granary::node_share_test
