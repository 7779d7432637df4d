// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/text_file.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/linalg/runtime/tile_choice.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include "unit/linalg/api.hpp"

namespace granary::tile_choice_test {

using namespace detail;

namespace {

namespace fs = std::filesystem;

constexpr int sizes[] = {128, 192, 256, 384, 512, 768, 1024};
constexpr double per_task = 15e-6;

// The speeds at which the kernels of a tile take these times.
KernelSpeeds taking(int tile, double gemm, double syrk, double trsm, double potrf) {
  double const cube = static_cast<double>(tile) * tile * tile;
  return {.tile = tile, .gemm = 2 * cube / gemm, .syrk = cube / syrk, .trsm = cube / trsm, .potrf = cube / 3 / potrf};
}

// The same speed for all kernels of a tile.
std::vector<KernelSpeeds> speeds_of(std::function<double(int)> const& speed) {
  std::vector<KernelSpeeds> all;
  for (int const tile : sizes) all.push_back({tile, speed(tile), speed(tile), speed(tile), speed(tile)});
  return all;
}

std::vector<KernelSpeeds> equal_speeds() {
  return speeds_of([](int) { return 3e10; });
}

std::vector<KernelSpeeds> rising_speeds() {
  return speeds_of([](int tile) { return 3e10 * tile / (tile + 200.0); });
}

TEST(FastestTile, WithEqualSpeedsFewTilesForManyWorkersAreSmall) {
  auto const speeds = equal_speeds();
  EXPECT_EQ(fastest_tile(speeds, 2048, 16).tile, 128U);
  EXPECT_GT(fastest_tile(speeds, 100000, 16).tile, 128U) << "each task costs time";
}

TEST(FastestTile, WithRisingSpeedsALargeMatrixHasLargeTiles) {
  auto const speeds = rising_speeds();
  EXPECT_EQ(fastest_tile(speeds, 100000, 16).tile, 1024U);
  EXPECT_LT(fastest_tile(speeds, 4096, 16).tile, 512U);
  EXPECT_LE(fastest_tile(speeds, 8192, 64).tile, fastest_tile(speeds, 8192, 4).tile);
}

TEST(FastestTile, TheTimeIsTheBoundOfListScheduling) {
  // Three tile rows: ten tasks, seven of them on the longest chain.
  std::vector const speeds{taking(512, 4e-3, 3e-3, 2e-3, 1e-3)};
  double const work = 3 * 1e-3 + 3 * (2e-3 + 3e-3) + 4e-3 + 10 * per_task;
  double const path = 3 * 1e-3 + 2 * (2e-3 + 3e-3) + 7 * per_task;
  auto const on_four = fastest_tile(speeds, 1536, 4);
  EXPECT_EQ(on_four.tile, 512U);
  EXPECT_EQ(on_four.inner_tile, 0);
  EXPECT_NEAR(on_four.seconds, work / 4 + 0.75 * path, 1e-12);
  EXPECT_NEAR(on_four.seconds, 15.36625e-3, 1e-12);
  EXPECT_NEAR(fastest_tile(speeds, 1536, 1).seconds, work, 1e-12);
  EXPECT_NEAR(fastest_tile(speeds, 1536, 0).seconds, work, 1e-12) << "as one worker";
  EXPECT_NEAR(fastest_tile(speeds, 100, 4).seconds, 1e-3 + per_task, 1e-12) << "at least one tile";
}

TEST(FastestTile, OfTilesThatAreAlikeTheSmallestIsTaken) {
  // On one worker, with the same flops: the time is that of the work.
  auto const choice = [](double more) {
    std::vector const speeds{taking(512, more, more, more, more), taking(1024, 1, 1, 1, 1)};
    return fastest_tile(speeds, 512, 1).tile;
  };
  EXPECT_EQ(choice(1), 512U);
  EXPECT_EQ(choice(1.019), 512U);
  EXPECT_EQ(choice(1.021), 1024U);
}

TEST(FastestTile, AFinerGraphShortensTheChain) {
  // One tile; its finer graph has two tile rows, and all its tasks are on the longest chain.
  std::vector const speeds{taking(256, 4e-4, 3e-4, 2e-4, 1e-4), taking(512, 4e-3, 3e-3, 2e-3, 1e-3)};
  double const whole = 1e-3 + per_task;
  double const finer = 2 * 1e-4 + 2e-4 + 3e-4 + 4 * per_task;
  TileRange const alone{512, 512};
  auto const choice = fastest_tile(speeds, 512, 4, alone);
  EXPECT_EQ(choice.tile, 512U);
  EXPECT_EQ(choice.inner_tile, 256);
  EXPECT_NEAR(choice.seconds, whole / 4 + 0.75 * finer, 1e-12);
  auto const without = fastest_tile(speeds, 512, 4, alone, {0, 0});
  EXPECT_EQ(without.inner_tile, 0);
  EXPECT_NEAR(without.seconds, whole, 1e-12);
}

TEST(FastestTile, OnlySizesInTheRangesAreChosen) {
  for (auto const& speeds : {equal_speeds(), rising_speeds()}) {
    for (auto const n : {1000UL, 10000UL, 100000UL}) {
      auto const choice = fastest_tile(speeds, n, 16, {200, 400}, {129, 200});
      EXPECT_TRUE(choice.tile == 256 || choice.tile == 384) << choice.tile;
      EXPECT_TRUE(choice.inner_tile == 0 || choice.inner_tile == 192) << choice.inner_tile;
      EXPECT_EQ(fastest_tile(speeds, n, 16, {.most = 128}).tile, 128U);
      EXPECT_EQ(fastest_tile(speeds, n, 16, {.least = 1024}).tile, 1024U);
      EXPECT_EQ(fastest_tile(speeds, n, 16, {500, 511}).tile, 0U);
      EXPECT_EQ(fastest_tile(speeds, n, 16, {512, 511}).tile, 0U);
    }
  }
}

TEST(FastestTile, WithoutSpeedsThereIsNone) {
  auto const choice = fastest_tile({}, 10000, 16);
  EXPECT_EQ(choice.tile, 0U);
  EXPECT_EQ(choice.inner_tile, 0);
}

TEST(FastestTile, AnInnerTileIsAtMostHalfTheTile) {
  bool any = false;
  for (auto const& speeds : {equal_speeds(), rising_speeds()}) {
    for (auto const n : {100UL, 1000UL, 3000UL, 10000UL, 100000UL}) {
      for (unsigned const workers : {1U, 2U, 16U, 128U}) {
        for (auto const least : {1UL, 1024UL}) {
          auto const choice = fastest_tile(speeds, n, workers, {.least = least});
          EXPECT_LE(2 * static_cast<std::uint64_t>(choice.inner_tile), choice.tile);
          EXPECT_TRUE(workers > 1 || choice.inner_tile == 0);
          any = any || choice.inner_tile > 0;
        }
      }
    }
  }
  EXPECT_TRUE(any);
}

TEST(FastestTile, AnInnerTileThatGainsLittleIsNotUsed) {
  // The longest chain takes a small part of the time.
  EXPECT_EQ(fastest_tile(equal_speeds(), 1000000, 2).inner_tile, 0);
}

class TileSpeeds : public testing::Files {
 protected:
  // In the file: the time of each kernel, in seconds per flop, with tiles of these sizes.
  void keep(std::vector<int> const& tiles, std::string const& variant, double seconds_per_flop) const {
    update_models(models, [&](MachineModels& kept) {
      for (int const tile : tiles) {
        for (auto const& [codelet, flops] :
             {std::pair{"gemm", 2.0}, std::pair{"syrk", 1.0}, std::pair{"trsm", 1.0}, std::pair{"potrf", 1.0 / 3}}) {
          kept.kernels.push_back({.codelet = codelet,
                                  .variant = variant,
                                  .flops = SizeClass::of(flops * tile * tile * tile).least_flops(),
                                  .mean = seconds_per_flop,
                                  .samples = 1});
        }
      }
    });
  }
  [[nodiscard]] std::vector<int> known(ScalarType type) const {
    std::vector<int> tiles;
    for (auto const& speeds : tile_speeds(models, type, false)) tiles.push_back(speeds.tile);
    return tiles;
  }

  fs::path models = directory() / "machine" / "models.json";
};

TEST_F(TileSpeeds, AreUnknownWithoutAFile) {
  EXPECT_TRUE(tile_speeds(models, ScalarType::Float64, false).empty());
  EXPECT_FALSE(fs::exists(models.parent_path()));
}

TEST_F(TileSpeeds, AreMeasuredOnceAndKept) {
  CopyModel const link{"memory", "disk /scratch", 1.5e9, Duration(90'000)};
  KernelModel const other{.codelet = "gemm", .variant = "s", .flops = 1048576, .mean = 1e-10, .samples = 41};
  update_models(models, [&](MachineModels& kept) {
    kept.links = {link};
    kept.kernels = {other};
  });
  auto const measured = tile_speeds(models, ScalarType::Float32, true);
  ASSERT_FALSE(measured.empty());
  EXPECT_TRUE(std::ranges::is_sorted(measured, std::less<>(), &KernelSpeeds::tile));
  EXPECT_EQ(measured.front().tile, 128);
  for (bool const measure : {false, true}) {
    for (auto const type : {ScalarType::Float32, ScalarType::Complex64}) {
      auto const kept = tile_speeds(models, type, measure);
      ASSERT_EQ(kept.size(), measured.size());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_EQ(kept[i].tile, measured[i].tile);
        for (auto const speed : {&KernelSpeeds::gemm, &KernelSpeeds::syrk, &KernelSpeeds::trsm, &KernelSpeeds::potrf}) {
          EXPECT_GT(measured[i].*speed, 0);
          EXPECT_DOUBLE_EQ(kept[i].*speed, measured[i].*speed);
        }
      }
    }
  }
  EXPECT_TRUE(known(ScalarType::Float64).empty()) << "the other precision";
  EXPECT_TRUE(known(ScalarType::Complex128).empty());
  auto const file = read_models(models);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->host, identify_machine().host);
  EXPECT_NE(file->link(link.from, link.to), nullptr) << "the rest of the file stays";
  EXPECT_EQ(file->kernels.size(), 1 + 4 * measured.size());
  EXPECT_EQ(file->kernels.front().variant, other.variant);
}

TEST_F(TileSpeeds, AreThoseOfTheFile) {
  keep({512, 128}, "d alone", 1e-10);
  for (auto const type : {ScalarType::Float64, ScalarType::Complex128}) {
    auto const speeds = tile_speeds(models, type, true);
    ASSERT_EQ(speeds.size(), 2U) << "what is known is not measured";
    EXPECT_EQ(speeds[0].tile, 128);
    EXPECT_EQ(speeds[1].tile, 512);
    for (auto const& of : speeds) {
      for (double const speed : {of.gemm, of.syrk, of.trsm, of.potrf}) EXPECT_DOUBLE_EQ(speed, 1e10);
    }
  }
  EXPECT_TRUE(known(ScalarType::Float32).empty());
}

TEST_F(TileSpeeds, OfRunsAndOfOtherSizesDoNotCount) {
  keep({128, 256}, "d", 1e-10);
  keep({100, 300}, "d alone", 1e-10);
  EXPECT_TRUE(known(ScalarType::Float64).empty());
}

TEST_F(TileSpeeds, ASizeNeedsAllKernels) {
  keep({128, 256}, "d alone", 1e-10);
  update_models(models, [](MachineModels& kept) {
    std::erase_if(kept.kernels, [](KernelModel const& kernel) {
      return kernel.codelet == "trsm" && kernel.flops == SizeClass::of(128.0 * 128 * 128).least_flops();
    });
  });
  EXPECT_EQ(known(ScalarType::Float64), std::vector{256});
}

TEST_F(TileSpeeds, ADamagedFileIsLeftAsItIs) {
  fs::create_directories(models.parent_path());
  for (std::string const content : {"{\"format\": 1, \"kern", "{\"format\": 2}", ""}) {
    std::ofstream(models) << content;
    for (bool const measure : {false, true}) EXPECT_TRUE(tile_speeds(models, ScalarType::Float32, measure).empty());
    EXPECT_EQ(read_text_file(models), content);
  }
}

TEST_F(TileSpeeds, AFolderThatCannotBeMadeIsNoError) {
  std::ofstream(models.parent_path()) << "a file where a folder should be";
  for (bool const measure : {false, true}) EXPECT_TRUE(tile_speeds(models, ScalarType::Float32, measure).empty());
  EXPECT_FALSE(fs::exists(models));
}

}  // namespace
}  // namespace granary::tile_choice_test
