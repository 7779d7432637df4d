// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/generators/spd_generator.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "apps/child.hpp"

namespace granary {
namespace {

using ::testing::AnyOf;
using testing::ChildResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TemporaryDirectory;

std::string const program = GRANARY_BIN_DIR "/granary-cholesky";

class CholeskyCli : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory.path() / name).string(); }
  ChildResult run(std::vector<std::string> const& arguments, testing::ChildOptions options = {}) const {
    options.directory = m_directory.path();
    return testing::run_child(program, arguments, options);
  }
  [[nodiscard]] std::string python(std::string const& script) const {
    auto const result = testing::run_child(GRANARY_PYTHON, {"-c", script}, {.directory = m_directory.path()});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  static bool have_h5py() {
    static bool const have = testing::run_child(GRANARY_PYTHON, {"-c", "import h5py, numpy"}).status == 0;
    return have;
  }
  [[nodiscard]] nlohmann::json read_json(std::string const& name) const {
    return nlohmann::json::parse(std::ifstream(file(name)));
  }
  void make_matrix(std::string const& name, std::uint64_t n, std::uint64_t tile,
                   ScalarType type = ScalarType::Float64) const {
    write_random_spd(file(name), n, tile, 1, type);
  }
  // One sentence, this status, and no new file.
  void expect_refused(std::vector<std::string> const& arguments, int status, std::string const& part) const {
    auto const before = m_directory.files();
    auto const result = run(arguments);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, StartsWith("granary-cholesky: "));
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(m_directory.files(), before);
  }

  TemporaryDirectory m_directory;
};

TEST_F(CholeskyCli, FactorsAFileLargerThanItsMemory) {
  make_matrix("A.h5", 600, 64);
  auto const result = run({"A.h5", "L.h5", "--memory", "512KiB", "--tile", "64", "--check", "--json", "out.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("n = 600, double"));
  EXPECT_THAT(m_directory.files(), ElementsAre("A.h5", "L.h5", "out.json"));
  auto const json = read_json("out.json");
  EXPECT_LT(json.at("residual"), 1);
  EXPECT_LE(json.at("memory_peak_bytes"), 524288);
  EXPECT_EQ(json.at("tasks"), 10 * 11 * 12 / 6);
  // Tiles at the edge are padded: at least the triangle is moved.
  EXPECT_GE(json.at("bytes_read"), json.at("compulsory_bytes"));
  EXPECT_GE(json.at("bytes_written"), json.at("compulsory_bytes"));
  EXPECT_EQ(json.at("least_bytes_read"), std::max(json.at("io_bound_bytes"), json.at("compulsory_bytes")));
  EXPECT_THAT(result.out, HasSubstr(" times the lower bound\n"));
  EXPECT_THAT(result.out, HasSubstr(" to read, as much to write\n"));
}

TEST_F(CholeskyCli, UpdatesInTheOrderOfTheScheduler) {
  for (auto const* scheduler : {"planned", "darts"}) {
    auto const result = run({"random:400", "--commuting", "--tile", "32", "--memory", "100KiB", "--scheduler",
                             scheduler, "--check", "--json", std::string(scheduler) + ".json"});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_LT(read_json(std::string(scheduler) + ".json").at("residual"), 30);
  }
}

TEST_F(CholeskyCli, BoundsOnTheDiskConcernFilesOnly) {
  make_matrix("A.h5", 100, 50);
  auto const dropped = run({"A.h5", "--tile", "50"});
  ASSERT_EQ(dropped.status, 0) << dropped.err;
  EXPECT_THAT(dropped.out, HasSubstr(" times the lower bound\n"));
  EXPECT_THAT(dropped.out, HasSubstr(" to read\n"));
  auto const generated = run({"random:100", "L.h5", "--tile", "50", "--json", "out.json"});
  ASSERT_EQ(generated.status, 0) << generated.err;
  EXPECT_THAT(generated.out, HasSubstr("read from disk        0 B\n"));
  EXPECT_THAT(generated.out, Not(HasSubstr("compulsory")));
  EXPECT_THAT(generated.out, Not(HasSubstr("bound")));
  EXPECT_FALSE(read_json("out.json").contains("least_bytes_read"));
}

TEST_F(CholeskyCli, AnOutputIsNamedAsTheHdf5FileThatItIs) {
  for (std::string const name : {"L.npy", "L.mtx", "L.xyz"}) {
    expect_refused(
        {"random:100", name}, 2,
        "the output " + name +
            " is an HDF5 file: its name must end in .h5 or .hdf5 (granary-matrix convert converts it to .npy)");
  }
  for (std::string const name : {"L.h5:/foo", "L.h5:L"}) {
    expect_refused({"random:100", name}, 2,
                   "name the output without a dataset: it will hold dataset L; write L.h5 instead of " + name);
  }
  expect_refused({"random:100", "U.h5:/foo", "--upper"}, 2, "it will hold dataset U");
  for (std::string const name : {"L.hdf5", "a.b/L", "L"}) {
    std::filesystem::create_directory(file("a.b"));
    EXPECT_EQ(run({"random:10", name, "--quiet"}).status, 0) << name;
  }
}

TEST_F(CholeskyCli, AMisspeltGeneratedMatrixIsNoMissingFile) {
  expect_refused({"rndom:100"}, 2, "'rndom:100' is not a generated matrix; the known ones are random:, general:, spd:");
  expect_refused({"A:/data"}, 2, "cannot open A: No such file or directory");
}

TEST_F(CholeskyCli, RefusedVariablesAreNamed) {
  for (auto const& [name, value, part] :
       {std::array{"GRANARY_SCRATCH", "/nonexist", "cannot use scratch directory '/nonexist'"},
        std::array{"GRANARY_SCHEDULER", "abc", "unknown scheduler 'abc'"}}) {
    ::setenv(name, value, 1);
    expect_refused({"random:100"}, 2, std::string(name) + ": " + part);
    ::unsetenv(name);
  }
}

TEST_F(CholeskyCli, WritesTheStableKeysOfTheSummary) {
  ASSERT_EQ(run({"random:100", "--json", "out.json", "--quiet"}).status, 0);
  auto const json = read_json("out.json");
  for (auto const* key : {"n",
                          "tile",
                          "inner_tile",
                          "tile_chosen_by",
                          "precision",
                          "workers",
                          "scheduler",
                          "eviction",
                          "memory_limit_bytes",
                          "memory_peak_bytes",
                          "seconds",
                          "gflops",
                          "bytes_read",
                          "bytes_written",
                          "io_bound_bytes",
                          "io_bound_nonsymmetric_bytes",
                          "compulsory_bytes",
                          "tasks",
                          "booked_bytes_peak",
                          "submission_sleeps",
                          "wait_seconds",
                          "blocked_seconds",
                          "decision_seconds"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_FALSE(json.contains("residual"));
  EXPECT_EQ(json.at("precision"), "double");
}

// The second run knows the kernels' times from the start. Each takes many times as long as the simulation of so few
// tasks beside it.
TEST_F(CholeskyCli, TheSummarySaysWhichSchedulerWasChosen) {
  auto const models = file("models");
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto const result = run({"random:2400", "--tile", "120", "--scheduler", "auto:tasks=300", "--json", "out.json"},
                            {.models = models});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("auto:tasks=300 with auto"));
    auto const json = read_json("out.json");
    EXPECT_EQ(json.at("scheduler"), "auto:tasks=300");
    ASSERT_TRUE(json.contains("chosen"));
    EXPECT_THAT(result.out, HasSubstr("chosen                " + json.at("chosen").get<std::string>() + "\n"));
    // A second choice, which a slow machine makes, estimates what is left.
    EXPECT_THAT(json.at("chosen").get<std::string>(),
                AnyOf(HasSubstr(" s, limited by the "), HasSubstr(" s for the rest, limited by the ")));
  }
  auto const named = run({"random:300", "--scheduler", "eager", "--json", "out.json"});
  EXPECT_EQ(named.status, 0);
  EXPECT_FALSE(read_json("out.json").contains("chosen"));
  EXPECT_THAT(named.out, Not(HasSubstr("chosen")));
}

TEST_F(CholeskyCli, QuietAndWithoutATerminalItPrintsNothing) {
  auto const result = run({"random:300", "L.h5", "--quiet"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(CholeskyCli, EveryPolicyFactorsUnderATightLimit) {
  for (auto const* scheduler : {"eager", "prio", "darts"}) {
    for (auto const* eviction : {"lru", "luf"}) {
      for (auto const* depth : {"1", "16"}) {
        auto const result = run({"random:500", "L.h5", "--tile", "50", "--memory", "100KB", "--check", "--json",
                                 "out.json", "--scheduler", scheduler, "--eviction", eviction, "--depth", depth});
        ASSERT_EQ(result.status, 0) << scheduler << " " << eviction << ": " << result.err;
        EXPECT_LT(read_json("out.json").at("residual"), 1);
      }
    }
  }
}

TEST_F(CholeskyCli, RaggedAndTinyMatricesInBothPrecisions) {
  for (auto const* input : {"random:1", "random:2", "random:63", "random:64", "random:65:9", "random:200"}) {
    for (bool const single : {false, true}) {
      std::vector<std::string> arguments{input, "L.h5", "--tile", "64", "--check", "--json", "out.json"};
      if (single) arguments.emplace_back("--float");
      auto const result = run(arguments);
      ASSERT_EQ(result.status, 0) << input << ": " << result.err;
      EXPECT_LT(read_json("out.json").at("residual"), 30) << input;
    }
  }
}

TEST_F(CholeskyCli, WithoutOutputTheFactorIsCheckedToo) {
  ASSERT_EQ(run({"random:300", "--tile", "32", "--memory", "100KB", "--check", "--left-looking", "--json", "out.json"})
                .status,
            0);
  EXPECT_LT(read_json("out.json").at("residual"), 1);
  EXPECT_THAT(m_directory.files(), ElementsAre("out.json"));
}

TEST_F(CholeskyCli, TheLeastMemoryThatTheMessageNamesIsEnough) {
  for (auto const* input : {"random:50", "random:120", "random:500"}) {
    for (bool const check : {false, true}) {
      std::vector<std::string> arguments{input, "L.h5", "--tile", "60", "--memory", "1"};
      if (check) arguments.emplace_back("--check");
      auto const refused = run(arguments);
      ASSERT_EQ(refused.status, 2);
      auto const start = refused.err.find("(--memory ") + 10;
      arguments[5] = refused.err.substr(start, refused.err.find(')', start) - start);
      auto const result = run(arguments);
      EXPECT_EQ(result.status, 0) << input << " with " << arguments[5] << ": " << result.err;
      arguments[5] = std::to_string(std::stoull(arguments[5]) - 1);
      EXPECT_EQ(run(arguments).status, 2);
    }
  }
}

TEST_F(CholeskyCli, RefusesBadInputs) {
  make_matrix("A.h5", 64, 32);
  std::ofstream(file("text.h5")) << "no matrix";
  expect_refused({}, 2, "INPUT");
  expect_refused({"missing.h5", "L.h5"}, 2, "missing.h5");
  expect_refused({"text.h5", "L.h5"}, 2, "neither");
  expect_refused({"A.h5:/B", "L.h5"}, 2, "/A");
  expect_refused({"random:0"}, 2, "random:0");
  expect_refused({"random:10x"}, 2, "random:10x");
  expect_refused({"random:10:"}, 2, "random:10:");
  expect_refused({"A.h5", "L.h5", "--float"}, 2, "--float");
  std::filesystem::resize_file(file("A.h5"), 9000);
  expect_refused({"A.h5", "L.h5"}, 2, "A.h5");
}

TEST_F(CholeskyCli, RefusesBadOptions) {
  expect_refused({"random:100", "--scheduler", "magic"}, 2, "darts");
  expect_refused({"random:100", "--eviction", "magic"}, 2, "lru");
  expect_refused({"random:100", "--memory", "lots"}, 2, "lots");
  expect_refused({"random:100", "--memory", "0"}, 2, "above zero");
  expect_refused({"random:100", "--disk-bandwidth", "quick"}, 2, "quick");
  expect_refused({"random:100", "--memory", "32mb"}, 2, "case matters");
  expect_refused({"random:100", "--memory", "32"}, 2, "; was a unit forgotten?");
  for (auto const* rate : {"0", "100", "1000000", "100B/s", "0.9kB/s", "100/s", "fast", "200mb/s"}) {
    expect_refused({"random:100", "--disk-bandwidth", rate}, 2,
                   "malformed rate '" + std::string(rate) +
                       "': write a number and a unit (case matters), at least 1kB/s, for example 200MB/s");
  }
  expect_refused({"random:100", "--tile", "0"}, 2, "--tile");
  expect_refused({"random:100", "--tile", "many"}, 2, "--tile");
  expect_refused({"random:100", "--devices", "none", "--workers", "0"}, 2, "0 workers");
  expect_refused({"random:100", "--workers", "-1"}, 2, "--workers");
  expect_refused({"random:100", "--depth", "0"}, 2, "--depth");
  expect_refused({"random:100", "--scratch", "/no/such/place"}, 2, "/no/such/place");
  expect_refused({"random:100", "--unknown"}, 2, "--unknown");
  expect_refused({"random:100", "/no/such/place/L.h5"}, 2, "/no/such/place");
  expect_refused({"random:100", "--json", "/no/such/place/out.json"}, 2, "/no/such/place");
  expect_refused({"random:100", "L.h5", "--json", "L.h5"}, 2, "L.h5");
}

TEST_F(CholeskyCli, RefusesValuesThatAreEmpty) {
  for (std::string const option :
       {"--memory",  "--tile",           "--inner-tile",   "--scheduler",      "--eviction",      "--workers",
        "--devices", "--device-memory",  "--device-lanes", "--link-bandwidth", "--depth",         "--max-live-tasks",
        "--scratch", "--disk-bandwidth", "--json",         "--progress",       "--stall-timeout", "--trace",
        "--report",  "--trace-events",   "--booking"}) {
    expect_refused({"random:100", option, ""}, 2, "the value of " + option + " is empty");
    expect_refused({"random:100", option + "=", "--quiet"}, 2, "the value of " + option + " is empty");
  }
  expect_refused({""}, 2, "the value of INPUT is empty");
  expect_refused({"random:100", ""}, 2, "the value of OUTPUT is empty");
}

TEST_F(CholeskyCli, RefusesAnUnknownBookingPolicy) {
  expect_refused({"random:100", "--booking", "theirs"}, 2,
                 "unknown booking 'theirs'; there are none, ours and paper, with :bold, :factor or :safe behind them");
  EXPECT_EQ(run({"random:100", "--booking", "none", "--quiet"}).status, 0);
}

TEST_F(CholeskyCli, NumbersThatAreRefusedAreShownWithTheirRange) {
  std::vector<std::pair<std::string, std::string>> const options{
      {"--max-live-tasks", "a whole number from 1 to 2^64 - 1"},
      {"--trace-events", "a whole number from 1 to 2^64 - 1"},
      {"--tile", "auto or a whole number from 1 to 32768"},
      {"--inner-tile", "auto, off or a whole number from 1 to 32768"},
      {"--workers", "a whole number from 0 to 1024"},
      {"--depth", "a whole number from 1 to 100000"},
      {"--device-lanes", "a whole number from 1 to 64"}};
  for (auto const& [option, range] : options) {
    for (std::string const value : {"-1", "1.5", "0x10", "many", "Auto", "99999999999999999999"}) {
      expect_refused({"random:100", option, value}, 2, option + ": " + value + " is not " + range + "\n");
    }
  }
}

TEST_F(CholeskyCli, NumbersAreDecimal) {
  ASSERT_EQ(run({"random:100", "--depth", "010", "--json", "out.json"}).status, 0);
  EXPECT_EQ(read_json("out.json").at("depth"), 10);
}

TEST_F(CholeskyCli, RefusesItsInputAsOutputAndLeavesItAlone) {
  make_matrix("A.h5", 64, 32);
  std::filesystem::create_symlink("A.h5", file("link.h5"));
  auto const size = std::filesystem::file_size(file("A.h5"));
  expect_refused({"A.h5", "A.h5"}, 2, "same file");
  expect_refused({"A.h5", "./A.h5"}, 2, "same file");
  expect_refused({"link.h5", "A.h5"}, 2, "same file");
  expect_refused({"A.h5", "--json", "A.h5"}, 2, "same file");
  EXPECT_EQ(std::filesystem::file_size(file("A.h5")), size);
}

TEST_F(CholeskyCli, ReplacesAnOldOutputOnlyOnSuccess) {
  std::ofstream(file("L.h5")) << "old";
  expect_refused({"random:100", "L.h5", "--memory", "1"}, 2, "too small");
  EXPECT_EQ(std::filesystem::file_size(file("L.h5")), 3U);
  EXPECT_EQ(run({"random:100", "L.h5"}).status, 0);
  EXPECT_GT(std::filesystem::file_size(file("L.h5")), 3U);
}

TEST_F(CholeskyCli, NamesTheVersionsOfWhatItIsBuiltOn) {
  auto const result = run({"--version"});
  EXPECT_EQ(result.status, 0);
  for (auto const* part : {"granary ", "Kokkos ", "Kokkos Kernels", "BLAS", "HDF5 ", "backends"})
    EXPECT_THAT(result.out, HasSubstr(part));
  EXPECT_EQ(run({"--help"}).status, 0);
}

TEST_F(CholeskyCli, ASignalLeavesNothingBehind) {
  for (auto const& [signal, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    for (int after : {0, 20, 300}) {
      // 4 MB/s and 36 MB: far longer than the signal takes.
      auto const result =
          run({"random:3000", "L.h5", "--tile", "128", "--memory", "1MiB", "--disk-bandwidth", "4MB/s"},
              {.signal = signal, .signal_when = "L.h5.partial", .signal_after = std::chrono::milliseconds(after)});
      EXPECT_EQ(result.status, status) << result.err;
      EXPECT_THAT(result.err, StartsWith("granary-cholesky: interrupted"));
      EXPECT_THAT(m_directory.files(), ElementsAre());
    }
  }
}

TEST_F(CholeskyCli, AFullDiskLeavesNothingBehind) {
  auto const output = run({"random:1000", "L.h5"}, {.file_size_limit = 1 << 20});
  EXPECT_EQ(output.status, 1) << output.err;
  EXPECT_THAT(output.err, HasSubstr("L.h5"));
  EXPECT_THAT(m_directory.files(), ElementsAre());
  auto const scratch = run({"random:1000", "--tile", "64", "--memory", "200KiB"}, {.file_size_limit = 1 << 20});
  EXPECT_EQ(scratch.status, 1) << scratch.err;
  EXPECT_THAT(scratch.err, StartsWith("granary-cholesky: "));
  EXPECT_THAT(m_directory.files(), ElementsAre());
}

TEST_F(CholeskyCli, KeepsItsMemoryLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  make_matrix("A.h5", 4096, 256);
  Bytes const limit = 16_MiB;
  auto const start = run({"random:1", "--tile", "256", "--quiet"}).peak_kibibytes;
  for (auto const* tile : {"256", "200"}) {
    auto const result = run({"A.h5", "L.h5", "--tile", tile, "--memory", std::to_string(limit), "--workers", "2",
                             "--quiet", "--json", "out.json"});
    ASSERT_EQ(result.status, 0) << result.err;
    auto const over = static_cast<double>(result.peak_kibibytes - start) * 1024 - static_cast<double>(limit);
    EXPECT_LE(over, static_cast<double>(64_MiB + 2 * 256 * 256 * 8)) << "tiles of " << tile;
    EXPECT_LE(read_json("out.json").at("memory_peak_bytes"), limit);
  }
}

}  // namespace
}  // namespace granary
