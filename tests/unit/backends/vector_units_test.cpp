// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/vector_units.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace granary {

using namespace detail;

namespace {

constexpr VectorUnits every_unit[] = {VectorUnits::Unknown, VectorUnits::Sse, VectorUnits::Avx, VectorUnits::Avx2,
                                      VectorUnits::Avx512};

TEST(VectorUnitsOfAProcessor, HaveNamesAndAnOrder) {
  std::set<std::string> names;
  for (auto const units : every_unit) EXPECT_TRUE(names.insert(name_of(units)).second) << name_of(units);
  EXPECT_STREQ(name_of(VectorUnits::Unknown), "unknown");
  EXPECT_STREQ(name_of(VectorUnits::Avx512), "AVX-512");
  EXPECT_STREQ(name_of(static_cast<VectorUnits>(99)), "unknown");
  EXPECT_LT(VectorUnits::Sse, VectorUnits::Avx);
  EXPECT_LT(VectorUnits::Avx, VectorUnits::Avx2);
  EXPECT_LT(VectorUnits::Avx2, VectorUnits::Avx512);
}

TEST(VectorUnitsOfAProcessor, AreThoseThatTheSystemLists) {
  auto const units = processor_vector_units();
#if defined(__x86_64__)
  EXPECT_GE(units, VectorUnits::Sse);
#else
  EXPECT_EQ(units, VectorUnits::Unknown);
#endif
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("flags")) flags = line + " ";
  }
  if (flags.empty()) GTEST_SKIP() << "the system lists no flags";
  auto const has = [&](std::string const& flag) { return flags.find(" " + flag + " ") != std::string::npos; };
  EXPECT_EQ(units >= VectorUnits::Avx, has("avx"));
  EXPECT_EQ(units >= VectorUnits::Avx2, has("avx2") && has("fma"));
  EXPECT_EQ(units == VectorUnits::Avx512,
            has("avx512f") && has("avx512cd") && has("avx512bw") && has("avx512dq") && has("avx512vl"));
}

}  // namespace
}  // namespace granary
