// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platforms of scripts/make_published_platforms.py have the times that were published.
#include <granary/detail/simulator/platform.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

namespace granary {
namespace {

double flops_of(std::string const& codelet, double b) {
  if (codelet == "potrf") return b * b * b / 3;
  if (codelet == "getrf") return 2 * b * b * b / 3;
  if (codelet == "gemm") return 2 * b * b * b;
  return b * b * b;
}

double milliseconds_of(Platform const& platform, std::string const& codelet, double b, detail::Precision precision,
                       char const* model = "gpu") {
  return 1e3 * seconds(platform.kernel_time(codelet, flops_of(codelet, b), precision, model));
}

// The fraction of the rate of gemm on tiles of the same size.
double fraction(Platform const& platform, std::string const& codelet, double b, detail::Precision precision,
                char const* model = "gpu") {
  return flops_of(codelet, b) / milliseconds_of(platform, codelet, b, precision, model) /
         (flops_of("gemm", b) / milliseconds_of(platform, "gemm", b, precision, model));
}

struct Published {
  char const* platform;
  char const* codelet;
  double order;
  detail::Precision precision;
  double milliseconds;
};

TEST(PublishedPlatforms, HaveThePublishedTimes) {
  auto const s = detail::Precision::Single;
  auto const d = detail::Precision::Double;
  for (auto const& [name, codelet, order, precision, published] : std::initializer_list<Published>{
           // Table 1 of the DARTS paper
           {"v100x1", "gemm", 2880, s, 2 * 2.880 * 2.880 * 2.880 / 14},
           {"a100x1", "gemm", 2880, s, 2 * 2.880 * 2.880 * 2.880 / 18},
           {"p100", "gemm", 1920, s, 2 * 1.920 * 1.920 * 1.920 / 6.7},
           // StarPU on gemini-1
           {"v100x1", "gemm", 960, s, 0.149},
           {"v100x1", "trsm", 960, s, 0.618},
           {"v100x1", "trsm", 1920, s, 1.641},
           {"v100x1", "trsm", 3840, s, 6.62},
           {"v100x1", "gemm", 1920, d, 2.067},
           {"v100x1", "trsm_ll", 1920, d, 2.41},
           {"v100x1", "trsm_ll", 2880, d, 5.79},
           {"v100x1", "trsm_ru", 1920, d, 2.11},
           {"v100x1", "trsm_ru", 2880, d, 5.83},
           // cuSOLVER, rocSOLVER
           {"v100x1", "potrf", 1024, s, 1.03},
           {"v100x1", "potrf", 2048, s, 2.87},
           {"a100x1", "potrf", 1024, s, 0.863},
           {"a100x1", "potrf", 1536, s, 1.243},
           {"a100x1", "potrf", 2048, s, 1.693},
           {"h200x1", "potrf", 1024, s, 0.41},
           {"mi300a", "potrf", 1024, s, 4.19},
           {"mi300a", "potrf", 2048, s, 8.99},
       }) {
    auto const platform = Platform::find(name);
    EXPECT_NEAR(milliseconds_of(platform, codelet, order, precision) / published, 1, 0.07)
        << name << " " << codelet << " " << order;
  }
}

TEST(PublishedPlatforms, AFactorizationWithoutPivotingIsNotSlowerThanOneWithPivoting) {
  EXPECT_LE(milliseconds_of(Platform::find("v100x1"), "getrf", 4096, detail::Precision::Single), 41);
  EXPECT_LE(milliseconds_of(Platform::find("a100x1"), "getrf", 4096, detail::Precision::Single), 44);
}

TEST(PublishedPlatforms, SmallTilesAndFactorizationsAreSlowerOnGpus) {
  for (char const* name : {"v100x1", "v100x2", "v100x4", "a100x1", "a100x4", "p100", "h200x1", "h200x8", "gh200"}) {
    auto const platform = Platform::find(name);
    for (auto const precision : {detail::Precision::Single, detail::Precision::Double}) {
      for (auto const* codelet : {"potrf", "getrf", "trsm", "trsm_ll", "trsm_ru"}) {
        double last = 0;
        for (double const b : {960, 1440, 1920, 2400, 2880}) {
          double const now = fraction(platform, codelet, b, precision);
          EXPECT_GT(now, last) << name << " " << codelet << " " << b;
          last = now;
        }
        EXPECT_LT(last, 0.75) << name << " " << codelet;
      }
      for (double const b : {960, 1920, 2880}) {
        EXPECT_LT(fraction(platform, "potrf", b, precision), fraction(platform, "trsm", b, precision)) << name << b;
        EXPECT_LT(fraction(platform, "getrf", b, precision), fraction(platform, "trsm", b, precision)) << name << b;
      }
    }
  }
}

TEST(PublishedPlatforms, OnACoreOnlyTheFactorizationOfSmallTilesIsSlow) {
  for (char const* name : {"xeon-disk", "h200x1", "gh200", "mi300a"}) {
    auto const platform = Platform::find(name);
    for (double const b : {960, 1920, 2880}) {
      for (auto const* codelet : {"potrf", "getrf", "trsm", "trsm_ll", "trsm_ru"}) {
        EXPECT_GE(fraction(platform, codelet, b, detail::Precision::Double, "cpu"), 0.74)
            << name << " " << codelet << " " << b;
        EXPECT_LE(fraction(platform, codelet, b, detail::Precision::Double, "cpu"), 1)
            << name << " " << codelet << " " << b;
      }
    }
  }
}

// Section VI of the Hierarchical paper: 59 TFlop/s are 60.5 % of the DGEMM peak of 64 nodes.
TEST(PublishedPlatforms, KeenelandHasTheDgemmPeakOfItsPaper) {
  auto const keeneland = Platform::find("keeneland");
  EXPECT_EQ(keeneland.workers(detail::WorkerKind::Cpu), 16U);
  EXPECT_EQ(keeneland.workers(detail::WorkerKind::Device), 3U);
  auto const rate = [&](double tile, char const* model) {
    return flops_of("gemm", tile) / milliseconds_of(keeneland, "gemm", tile, detail::Precision::Double, model) / 1e6;
  };
  EXPECT_NEAR(3 * rate(1536, "gpu") + 16 * rate(1536, "cpu"), 59000 / 0.605 / 64, 10);
  EXPECT_LT(rate(1536, "gpu"), 0.61 * 665.6);
  double before = 0;
  for (double const tile : {192, 384, 576, 768, 960, 1152, 1344, 1536}) {
    EXPECT_GT(rate(tile, "gpu"), before) << tile;
    before = rate(tile, "gpu");
  }
  // An M2090 at a tile of 960 sqrt(16/14) reaches the part of its peak that an M2070 reaches at 960.
  auto const m2070 = flops_of("gemm", 960) /
                     milliseconds_of(Platform::find("mirage"), "gemm", 960, detail::Precision::Double, "gpu2") / 1e6;
  EXPECT_NEAR(rate(960 * std::sqrt(16.0 / 14), "gpu") / 665.6, m2070 / 515.2, 0.005);
  // Only gemm runs on GPUs; cores are those of bunsen, with the same peak.
  auto const bunsen = Platform::find("bunsen");
  for (auto const* codelet : {"potrf", "trsm", "syrk", "getrf", "trsm_ll", "trsm_ru"}) {
    EXPECT_FALSE(keeneland.times(codelet, detail::Precision::Double, "gpu").has_value()) << codelet;
    EXPECT_EQ(keeneland.kernel_time(codelet, 1e8, detail::Precision::Double, "cpu"),
              bunsen.kernel_time(codelet, 1e8, detail::Precision::Double, "cpu"))
        << codelet;
  }
  EXPECT_EQ(keeneland.depth, bunsen.depth);
  ASSERT_TRUE(keeneland.network.has_value());
  EXPECT_EQ(keeneland.network->bandwidth, 40e9 / 8);
}

TEST(PublishedPlatforms, ANodeOfH200HasItsNetwork) {
  EXPECT_EQ(Platform::find("h200x8").network.value().bandwidth, 400e9 / 8);
  EXPECT_FALSE(Platform::find("h200x1").network.has_value());
}

// Table 1 of the DARTS paper: two buses for four GPUs.
TEST(PublishedPlatforms, TwoV100ShareTheBandwidthOfOne) {
  auto const platform = Platform::find("v100x4");
  auto const& machine = platform.machine;
  for (auto const& link : machine.links) {
    if (machine[link.from].kind != detail::NodeKind::Host) continue;
    EXPECT_EQ(machine.bandwidth_alone(link), 12e9);
    EXPECT_EQ(std::ranges::count_if(
                  machine.links, [&](detail::Link const& other) { return detail::Machine::share_a_bus(link, other); }),
              2)
        << machine[link.to].name;
  }
}

}  // namespace
}  // namespace granary
