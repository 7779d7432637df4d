// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/page_placement.hpp>

#include <granary/detail/core/engine/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwloc.h>

#include <cstring>
#include <vector>

namespace granary {

using namespace detail;

namespace {

class PagePlacement : public ::testing::Test {
 protected:
  PagePlacement() {
    hwloc_topology_init(&m_machine);
    hwloc_topology_load(m_machine);
  }
  ~PagePlacement() override { hwloc_topology_destroy(m_machine); }
  // What the system does with the range: the policy, and the domains.
  struct Policy {
    hwloc_membind_policy_t policy = HWLOC_MEMBIND_DEFAULT;
    std::vector<unsigned> domains = {};
  };
  [[nodiscard]] Policy policy_of(std::byte* memory, Bytes bytes) const {
    Policy found;
    hwloc_bitmap_t const set = hwloc_bitmap_alloc();
    if (hwloc_get_area_membind(m_machine, memory, bytes, set, &found.policy, HWLOC_MEMBIND_BYNODESET) == 0) {
      for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
        found.domains.push_back(static_cast<unsigned>(i));
    }
    hwloc_bitmap_free(set);
    return found;
  }

  hwloc_topology_t m_machine = nullptr;
};

TEST_F(PagePlacement, ThePagesOfAPoolAreInterleaved) {
  if (hwloc_topology_get_support(m_machine)->membind->interleave_membind == 0)
    GTEST_SKIP() << "this system places no pages";
  unsigned const domain = hwloc_get_obj_by_type(m_machine, HWLOC_OBJ_NUMANODE, 0)->os_index;
  Bytes const bytes = 4_MiB;
  Pool const pool("host memory", bytes);
  if (!interleave_pages(pool.base(), bytes, {domain})) GTEST_SKIP() << "this process may not place pages";
  auto const policy = policy_of(pool.base(), bytes);
  EXPECT_EQ(policy.policy, HWLOC_MEMBIND_INTERLEAVE);
  EXPECT_THAT(policy.domains, ::testing::ElementsAre(domain));
  std::memset(pool.base(), 1, bytes);
  EXPECT_EQ(pool.base()[bytes - 1], std::byte{1});
}

TEST_F(PagePlacement, WithoutDomainsNothingChanges) {
  Bytes const bytes = 4_MiB;
  Pool const pool("host memory", bytes);
  EXPECT_TRUE(interleave_pages(pool.base(), bytes, {}));
  EXPECT_TRUE(interleave_pages(nullptr, 0, {0}));
  EXPECT_NE(policy_of(pool.base(), bytes).policy, HWLOC_MEMBIND_INTERLEAVE);
}

TEST_F(PagePlacement, ADomainThatDoesNotExistIsRefused) {
  Bytes const bytes = 4_MiB;
  Pool const pool("host memory", bytes);
  EXPECT_FALSE(interleave_pages(pool.base(), bytes, {4000}));
  std::memset(pool.base(), 1, bytes);
  EXPECT_EQ(pool.base()[bytes - 1], std::byte{1}) << "the pages are placed as the system does it by default";
}

}  // namespace
}  // namespace granary
