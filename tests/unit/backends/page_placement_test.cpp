// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/backends/page_placement.hpp>

#include <granary/core/backends/machine_topology.hpp>
#include <granary/core/engine/pool.hpp>

#include <gtest/gtest.h>
#include <hwloc.h>

#include <cstring>

namespace granary {
namespace {

// What the system does with the range: the policy, and the domains.
struct Policy {
  hwloc_membind_policy_t policy = HWLOC_MEMBIND_DEFAULT;
  bool first_domain = false;
  int domains = 0;
};
Policy policy_of(std::byte* memory, Bytes bytes, unsigned domain) {
  Policy found;
  hwloc_bitmap_t const set = hwloc_bitmap_alloc();
  if (hwloc_get_area_membind(machine_topology(), memory, bytes, set, &found.policy, HWLOC_MEMBIND_BYNODESET) == 0) {
    found.first_domain = hwloc_bitmap_isset(set, domain) != 0;
    found.domains = hwloc_bitmap_weight(set);
  }
  hwloc_bitmap_free(set);
  return found;
}

TEST(PagePlacement, ThePagesOfAPoolAreInterleaved) {
  auto const* const support = hwloc_topology_get_support(machine_topology());
  if (support->membind->interleave_membind == 0) GTEST_SKIP() << "this system places no pages";
  unsigned const domain = hwloc_get_obj_by_type(machine_topology(), HWLOC_OBJ_NUMANODE, 0)->os_index;
  Bytes const bytes = 4_MiB;
  Pool const pool("host memory", bytes);
  if (!interleave_pages(pool.base(), bytes, {domain})) GTEST_SKIP() << "this process may not place pages";
  auto const policy = policy_of(pool.base(), bytes, domain);
  EXPECT_EQ(policy.policy, HWLOC_MEMBIND_INTERLEAVE);
  EXPECT_TRUE(policy.first_domain);
  EXPECT_EQ(policy.domains, 1);
  std::memset(pool.base(), 1, bytes);
  EXPECT_EQ(pool.base()[bytes - 1], std::byte{1});
}

TEST(PagePlacement, WithoutDomainsNothingChanges) {
  Bytes const bytes = 4_MiB;
  Pool const pool("host memory", bytes);
  EXPECT_TRUE(interleave_pages(pool.base(), bytes, {}));
  EXPECT_TRUE(interleave_pages(nullptr, 0, {0}));
  EXPECT_NE(policy_of(pool.base(), bytes, 0).policy, HWLOC_MEMBIND_INTERLEAVE);
}

TEST(PagePlacement, ADomainThatDoesNotExistIsRefused) {
  Bytes const bytes = 4_MiB;
  Pool const pool("host memory", bytes);
  EXPECT_FALSE(interleave_pages(pool.base(), bytes, {4000}));
  std::memset(pool.base(), 1, bytes);
  EXPECT_EQ(pool.base()[bytes - 1], std::byte{1}) << "the pages are placed as the system does it by default";
}

}  // namespace
}  // namespace granary
