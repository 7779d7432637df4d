// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/pool.hpp>

#include <granary/detail/core/base/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace granary {

using namespace detail;

namespace {

TEST(Pool, IsAlignedAndUsableToItsLastByte) {
  Pool const pool("host", 3_MiB + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.base()) % 4096, 0U);
  pool.base()[0] = pool.base()[pool.bytes() - 1] = std::byte{1};
}

TEST(Pool, OfNoBytesHasNoAddress) { EXPECT_EQ(Pool("host", 0).base(), nullptr); }

TEST(Pool, NamesWhatTheSystemRefuses) {
  try {
    Pool const pool("host memory", Bytes{1} << 60);
    FAIL() << "the system gave 2^60 bytes";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("host memory"), std::string::npos);
  }
}

}  // namespace
}  // namespace granary
