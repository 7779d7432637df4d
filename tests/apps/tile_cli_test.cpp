// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tile and which inner tile the programs choose.
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli_test.hpp"

namespace granary {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;
using nlohmann::json;

class TileCli : public testing::CliTest {
 protected:
  TileCli() : CliTest("granary-cholesky") {}

  // The summary of a run on two workers; with the kept models if there are some.
  [[nodiscard]] json summary_of(std::string const& program, Arguments arguments) {
    for (auto const* more : {"--workers", "2", "--json", "out.json"}) arguments.emplace_back(more);
    m_name = program;
    auto const result = run(arguments, {.models = m_models});
    EXPECT_EQ(result.status, 0) << ::testing::PrintToString(arguments) << result.err;
    m_out = result.out;
    return result.status == 0 ? read_json("out.json") : json::object({{"tile", 0}});
  }
  [[nodiscard]] json factor(Arguments const& arguments) {
    Arguments all{"--devices", "none"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return summary_of("granary-cholesky", all);
  }
  void expect_tile(json const& summary, std::uint64_t tile, std::string const& chosen_by) const {
    EXPECT_EQ(summary.at("tile"), tile);
    EXPECT_EQ(summary.at("tile_chosen_by"), chosen_by);
  }

  // The file of the models of this machine and the programs' BLAS.
  [[nodiscard]] fs::path models_file() {
    m_models = file("models");
    if (!fs::exists(m_models)) static_cast<void>(factor({"random:10"}));
    return fs::directory_iterator(m_models)->path() / "models.json";
  }
  // In the file of models: tiles of 256 are by far the fastest, but for the factorization of one tile.
  void keep_speeds() {
    update_models(models_file(), [](MachineModels& models) {
      for (auto const& [tile, speed, potrf_speed] :
           {std::tuple{128, 1e8, 1e12}, std::tuple{256, 1e10, 1e8}, std::tuple{384, 1e8, 1e8}}) {
        for (auto const& [codelet, flops] :
             {std::pair{"gemm", 2.0}, std::pair{"syrk", 1.0}, std::pair{"trsm", 1.0}, std::pair{"potrf", 1.0 / 3}}) {
          models.kernels.push_back({.codelet = codelet,
                                    .variant = "d alone",
                                    .flops = SizeClass::of(flops * tile * tile * tile).least_flops(),
                                    .mean = 1 / (codelet == std::string("potrf") ? potrf_speed : speed),
                                    .samples = 1});
        }
      }
    });
  }
  // How many times of kernels alone the file of models has.
  [[nodiscard]] std::size_t kept(std::string const& variant) {
    auto const models = read_models(models_file());
    return static_cast<std::size_t>(
        std::ranges::count(models.value().kernels, variant, [](auto const& kernel) { return kernel.variant; }));
  }

  fs::path m_models;
  std::string m_out;
};

TEST_F(TileCli, WithoutSpeedsItIs512AsFarAsMemoryHolds) {
  for (Arguments const& choice : {Arguments{}, Arguments{"--tile", "auto", "--inner-tile", "auto"}}) {
    auto const with = [&](Arguments arguments) {
      arguments.insert(arguments.end(), choice.begin(), choice.end());
      return factor(arguments);
    };
    auto const usual = with({"random:600"});
    expect_tile(usual, 512, "memory");
    EXPECT_EQ(usual.at("inner_tile"), 0);
    EXPECT_THAT(m_out, HasSubstr("tile                  512\n"));
    expect_tile(with({"random:100"}), 100, "memory");
    expect_tile(with({"random:600", "--memory", "1MiB"}), 60, "memory");
    expect_tile(with({"random:600", "--memory", "63MiB"}), 496, "memory");
    expect_tile(with({"random:600", "--memory", "200KiB"}), 32, "memory");
  }
}

TEST_F(TileCli, TheOptionsAreTaken) {
  auto const summary = factor({"random:300", "--tile", "100", "--inner-tile", "50"});
  expect_tile(summary, 100, "option");
  EXPECT_EQ(summary.at("inner_tile"), 50);
  EXPECT_THAT(m_out, HasSubstr("tile                  100, inner tile 50\n"));
  EXPECT_EQ(factor({"random:300", "--tile", "100", "--inner-tile", "off"}).at("inner_tile"), 0);
  EXPECT_THAT(m_out, HasSubstr("tile                  100\n"));
  expect_tile(factor({"random:300", "--inner-tile", "60"}), 300, "memory");
}

TEST_F(TileCli, EightTilesOrMoreCutTheMatrixEvenly) {
  expect_tile(factor({"random:801", "--tile", "100"}), 89, "option");
  expect_tile(factor({"random:799", "--tile", "100"}), 100, "option");
  expect_tile(factor({"random:800", "--tile", "100"}), 100, "option");
  write_random_spd(file("A.h5"), 801, 100, 1, ScalarType::Float64);
  expect_tile(factor({"A.h5", "--tile", "100"}), 100, "option");
  expect_tile(factor({"A.h5", "--tile", "50"}), 48, "option");
  m_name = "granary-lu";
  expect_tile(summary_of("granary-lu", {"general:1000x801", "--tile", "100", "--devices", "none"}), 89, "option");
}

TEST_F(TileCli, OtherWordsAreRefused) {
  for (std::string const program : {"granary-cholesky", "granary-lu"}) {
    m_name = program;
    for (std::string const word : {"off", "AUTO", "automatic"})
      expect_refused({"random:100", "--tile", word}, 2,
                     "--tile: " + word + " is not auto or a whole number from 1 to 32768\n");
    for (std::string const word : {"0", "none", "Off"})
      expect_refused({"random:100", "--inner-tile", word}, 2,
                     "--inner-tile: " + word + " is not auto, off or a whole number from 1 to 32768\n");
  }
}

TEST_F(TileCli, SpeedsThatAreKeptDecide) {
  keep_speeds();
  auto const fastest = factor({"random:1000"});
  expect_tile(fastest, 256, "speeds");
  EXPECT_EQ(fastest.at("inner_tile"), 128);
  EXPECT_THAT(m_out, HasSubstr("tile                  256, inner tile 128, by the speeds of this machine's kernels\n"));
  auto const whole = factor({"random:1000", "--inner-tile", "off", "--check"});
  expect_tile(whole, 256, "speeds");
  EXPECT_EQ(whole.at("inner_tile"), 0);
  EXPECT_THAT(m_out, HasSubstr("tile                  256, by the speeds of this machine's kernels\n"));
  EXPECT_EQ(factor({"random:1000", "--inner-tile", "64", "--check"}).at("inner_tile"), 64);
  EXPECT_LT(read_json("out.json").at("residual"), 30);
  expect_tile(factor({"random:200", "--complex"}), 128, "speeds");
}

TEST_F(TileCli, TheOptionAndTheChunksOfTheInputComeBeforeSpeeds) {
  keep_speeds();
  write_random_spd(file("A.h5"), 600, 256, 1, ScalarType::Float64);
  write_random_spd(file("B.h5"), 600, 128, 1, ScalarType::Float64);
  write_random_spd(file("small.h5"), 600, 100, 1, ScalarType::Float64);
  auto const chunks = factor({"A.h5", "--check"});
  expect_tile(chunks, 256, "chunks");
  EXPECT_EQ(chunks.at("inner_tile"), 128);
  EXPECT_LT(chunks.at("residual"), 30);
  expect_tile(factor({"A.h5", "--inner-tile", "off"}), 256, "chunks");
  expect_tile(factor({"B.h5"}), 128, "chunks");
  expect_tile(factor({"A.h5", "--memory", "4MiB"}), 128, "chunks");
  expect_tile(factor({"small.h5"}), 256, "speeds");
  auto const option = factor({"B.h5", "--tile", "256"});
  expect_tile(option, 256, "option");
  EXPECT_EQ(option.at("inner_tile"), 128);
  // No speeds of this size are known.
  EXPECT_EQ(factor({"A.h5", "--tile", "300"}).at("inner_tile"), 0);
  auto const small = factor({"random:200", "--tile", "256"});
  expect_tile(small, 200, "option");
  EXPECT_EQ(small.at("inner_tile"), 0) << "the tile is not of 256";
}

TEST_F(TileCli, MemoryHolds24TilesOfASizeThatSpeedsChoose) {
  keep_speeds();
  expect_tile(factor({"random:1000", "--memory", "12MiB"}), 256, "speeds");
  expect_tile(factor({"random:1000", "--memory", "11MiB"}), 128, "speeds");
  expect_tile(factor({"random:1000", "--memory", "2MiB"}), 77, "memory");
}

TEST_F(TileCli, SpeedsAreOfOneKindOfElementAndOfCores) {
  keep_speeds();
  expect_tile(factor({"random:600", "--float"}), 512, "memory");
  expect_tile(summary_of("granary-cholesky", {"random:600", "--devices", "host:1", "--device-memory", "64MiB"}), 512,
              "memory");
  m_models.clear();
  expect_tile(factor({"random:600"}), 512, "memory");
}

TEST_F(TileCli, SpeedsDecideForLuWithoutPivoting) {
  keep_speeds();
  Arguments const whole{"random:600", "--no-pivoting", "--devices", "none", "--check"};
  auto const summary = summary_of("granary-lu", whole);
  expect_tile(summary, 256, "speeds");
  EXPECT_EQ(summary.at("inner_tile"), 0) << "finer graphs would not measure the growth";
  EXPECT_LT(summary.at("residual"), 30);
  auto finer = whole;
  finer.insert(finer.end(), {"--inner-tile", "128"});
  EXPECT_EQ(summary_of("granary-lu", finer).at("inner_tile"), 128);
  expect_tile(summary_of("granary-lu", {"general:600", "--devices", "none"}), 512, "memory");
}

TEST_F(TileCli, SpeedsDecideForSolvesByCholesky) {
  keep_speeds();
  Arguments const solve{"random:600", "general:600x3", "--devices", "none", "--check"};
  auto const with = [&](Arguments const& more) {
    auto all = solve;
    all.insert(all.end(), more.begin(), more.end());
    return summary_of("granary-solve", all);
  };
  auto const spd = with({"--spd"});
  expect_tile(spd, 256, "speeds");
  EXPECT_EQ(spd.at("inner_tile"), 128);
  EXPECT_LT(spd.at("residual"), 30);
  EXPECT_EQ(with({"--spd", "--inner-tile", "off"}).at("inner_tile"), 0);
  expect_tile(with({"--spd", "--tile", "100"}), 100, "option");
  expect_tile(with({"--spd", "--mixed"}), 512, "memory");
  expect_tile(with({"--tile", "auto", "--inner-tile", "auto"}), 512, "memory");
}

// A tile larger than the memory is refused after speeds were measured, so nothing is factored.
TEST_F(TileCli, SpeedsAreMeasuredForLargeMatricesOnly) {
  static_cast<void>(models_file());
  auto const plan = [&](Arguments arguments) {
    for (auto const* more : {"--tile", "8000", "--float", "--devices", "none", "--workers", "2"})
      arguments.emplace_back(more);
    auto const result = run(arguments, {.models = m_models});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("too small for tiles"));
  };
  Arguments const large{"random:9000", "--memory", "64MiB"};
  plan({"random:8191", "--memory", "64MiB"});
  plan({"random:9000", "--memory", "63MiB"});
  plan({"random:9000", "--memory", "64MiB", "--inner-tile", "off"});
  ::setenv("GRANARY_MEASURE_LINKS", "0", 1);
  plan(large);
  ::unsetenv("GRANARY_MEASURE_LINKS");
  EXPECT_EQ(kept("s alone"), 0U);
  plan(large);
  EXPECT_GT(kept("s alone"), 0U);
  EXPECT_EQ(kept("s alone") % 4, 0U) << "each size has four kernels";
  EXPECT_EQ(kept("d alone"), 0U);
  auto const written = fs::last_write_time(models_file());
  plan(large);
  EXPECT_EQ(fs::last_write_time(models_file()), written) << "measured once";
}

}  // namespace
}  // namespace granary
