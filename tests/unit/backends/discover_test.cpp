// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_library.hpp>
#include <granary/detail/core/backends/discover.hpp>

#include <granary/detail/core/model/machine.hpp>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace granary {

using namespace detail;

namespace {

TEST(DiscoverHost, FindsCoresWithinTheMaskAndSomeMemory) {
  cpu_set_t mask;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
  auto const host = discover_host();
  ASSERT_FALSE(host.cores.empty());
  EXPECT_LE(host.cores.size(), static_cast<std::size_t>(CPU_COUNT(&mask)));
  for (auto const core : host.cores) EXPECT_TRUE(CPU_ISSET(core, &mask));
  EXPECT_GT(host.memory, 64_MiB);
}

TEST(DiscoverHost, KeepsToANarrowedMask) {
  cpu_set_t mask, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
  auto const last = discover_host().cores.back();
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  auto const cores = discover_host().cores;
  ::sched_setaffinity(0, sizeof(mask), &mask);
  EXPECT_EQ(cores, std::vector<unsigned>{last});
}

TEST(DiscoverTopology, AgreesWithTheHost) {
  auto const host = discover_host();
  auto const topology = discover_topology();
  EXPECT_EQ(topology.usable_cores, host.cores);
  EXPECT_GE(topology.packages, 1U);
  EXPECT_GE(topology.cores, host.cores.size());
  EXPECT_GE(topology.hardware_threads, topology.cores);
  EXPECT_GE(topology.usable_hardware_threads, host.cores.size());
  std::vector<unsigned> in_domains;
  for (auto const& domain : topology.domains) {
    in_domains.insert(in_domains.end(), domain.cores.begin(), domain.cores.end());
  }
  std::ranges::sort(in_domains);
  auto cores = host.cores;
  std::ranges::sort(cores);
  EXPECT_EQ(in_domains, cores);
  for (auto const& level : topology.caches) {
    EXPECT_EQ(level.name.substr(0, 1), "L");
    EXPECT_GT(level.bytes, 0U);
    EXPECT_LE(level.count * level.threads, topology.hardware_threads) << level.name;
  }
}

TEST(DiscoverMemory, TheLeastLimitCounts) {
  EXPECT_EQ(discover_memory().least(), discover_host().memory);
  EXPECT_EQ((MemoryLimits{.physical = 5, .control_groups = 3, .address_space = unbounded}).least(), 3U);
  EXPECT_EQ((MemoryLimits{.physical = 5, .control_groups = 7, .address_space = 4}).least(), 4U);
  EXPECT_EQ((MemoryLimits{.physical = 5, .data_segment = 2}).least(), 2U);
}

TEST(MachineIdentity, NamesTheProcessorAndMakesAFoldersName) {
  auto const file = std::filesystem::temp_directory_path() / ("granary-cpuinfo-" + std::to_string(::getpid()));
  std::ofstream(file) << "processor\t: 0\nmodel name\t: A (R) CPU @ 2/3 GHz\nmodel name\t: other\n";
  auto identity = identify_machine(file);
  std::filesystem::remove(file);
  EXPECT_EQ(identity.cpu, "A (R) CPU @ 2/3 GHz");
  EXPECT_GE(identity.cores, 1U);
  identity.host = "..node 7";
  identity.cores = 64;
  EXPECT_EQ(identity.blas, find_blas_library().id());
  identity.blas = "BLAS-1.0";
  EXPECT_EQ(identity.id(), "-..node-7-A-R-CPU-2-3-GHz-64-BLAS-1.0");
  EXPECT_FALSE(identify_machine("/nowhere").cpu.empty());
}

}  // namespace
}  // namespace granary
