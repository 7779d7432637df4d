// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/link_calibration.hpp>

#include <granary/detail/core/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace granary {

using namespace detail;

namespace {

// Completes each copy immediately and records its bytes; fails the one at `fail_at`.
class InstantCopies final : public CopyBackend {
 public:
  enum class Failure { None, Reported, Thrown };
  void copy_async(CopyRequest const& request, CopyCompletion done) override {
    bytes.push_back(request.bytes);
    bool const fails = bytes.size() == fail_at;
    if (fails && failure == Failure::Thrown) throw std::runtime_error("the link is down");
    done(fails ? std::make_exception_ptr(std::runtime_error("the link is down")) : nullptr);
  }
  std::vector<Bytes> bytes;
  std::size_t fail_at = 0;
  Failure failure = Failure::None;
};

CopyRequest request(unsigned, Bytes bytes) {
  CopyRequest copy;
  copy.bytes = bytes;
  return copy;
}

TEST(LinkCalibration, CopiesGrowFromTheLeastToTheLargest) {
  InstantCopies copies;
  auto const speed =
      measure_link(copies, request, {.width = 3, .least = 512, .largest = 4096, .time = std::chrono::milliseconds(20)});
  EXPECT_GT(speed.bytes_per_second, 0);
  EXPECT_GE(speed.latency, Duration{1});
  ASSERT_GE(copies.bytes.size(), 5U);
  for (auto const bytes : copies.bytes) {
    EXPECT_GE(bytes, 512U);
    EXPECT_LE(bytes, 4096U);
  }
  EXPECT_TRUE(std::is_sorted(copies.bytes.begin(), copies.bytes.end()));
}

TEST(LinkCalibration, WithoutTimeItStillMeasuresOnce) {
  InstantCopies copies;
  auto const speed = measure_link(copies, request, {.width = 2, .least = 512, .largest = 4096, .time = Duration{0}});
  EXPECT_GT(speed.bytes_per_second, 0);
  EXPECT_EQ(copies.bytes, (std::vector<Bytes>{512, 512, 512, 512}));
}

TEST(LinkCalibration, ACopyThatFailsIsRethrown) {
  for (auto const failure : {InstantCopies::Failure::Reported, InstantCopies::Failure::Thrown}) {
    for (std::size_t const at : {1U, 2U, 4U}) {
      InstantCopies copies;
      copies.fail_at = at;
      copies.failure = failure;
      EXPECT_THROW((void)measure_link(copies, request, {.width = 2, .time = Duration{0}}), std::runtime_error);
    }
  }
}

TEST(LinkCalibration, HostMemoryHasASpeed) {
  auto const speed = measure_host_memory(std::chrono::milliseconds(5));
  EXPECT_GT(speed.bytes_per_second, 0);
  EXPECT_GE(speed.latency, Duration{1});
}

}  // namespace
}  // namespace granary
