// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/model_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "apps/child.hpp"

namespace granary {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::ChildResult;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TemporaryDirectory;

class ModelsCli : public ::testing::Test {
 protected:
  [[nodiscard]] std::string directory() const { return (m_directory.path() / "models").string(); }
  [[nodiscard]] fs::path file(std::string const& machine) const {
    return fs::path(directory()) / machine / "models.json";
  }
  [[nodiscard]] ChildResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--directory", directory()});
    return testing::run_child(GRANARY_BIN_DIR "/granary-models", arguments, {.directory = m_directory.path()});
  }
  [[nodiscard]] std::string output(std::vector<std::string> const& arguments) const {
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  void expect_refused(std::vector<std::string> const& arguments, std::string const& part, int status = 2) const {
    auto const result = run(arguments);
    EXPECT_EQ(result.status, status);
    EXPECT_THAT(result.err, AllOf(StartsWith("granary-models: "), HasSubstr(part)));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  void make_models(std::string const& machine) const {
    update_models(file(machine), [](MachineModels& models) {
      models = {"node", "a cpu", 12, {}, {}};
      models.kernels = {{"gemm", "d", WorkerKind::Cpu, 1048576, 1e-10, 41},
                        {"gemm", "s", WorkerKind::Device, 1048576, 1e-12, 5},
                        {"pack", "", WorkerKind::Cpu, 0, 2.5e-3, 1}};
      models.links = {{"memory", "disk /scratch", 1.5e9, Duration(90'000)}};
    });
  }

  TemporaryDirectory m_directory;
};

TEST_F(ModelsCli, ShowsATableOfWhatIsKnown) {
  make_models("other");
  auto const all = output({"show", "--machine", "other"});
  EXPECT_THAT(all, StartsWith("node: a cpu, 12 cores\n"));
  EXPECT_THAT(all, ::testing::ContainsRegex("gemm +d +cpu +1.049e\\+06 +41 +105 us +10.00\n"));
  EXPECT_THAT(all, ::testing::ContainsRegex("gemm +s +device +1.049e\\+06 +5 +1.05 us +1000.00\n"));
  EXPECT_THAT(all, ::testing::ContainsRegex("pack +- +cpu +- +1 +2.5 ms +-\n"));
  EXPECT_THAT(all, HasSubstr("memory -> disk /scratch: 1.500 GB/s, latency 90 us\n"));
  EXPECT_THAT(output({"show", "pack", "--machine", "other"}), AllOf(HasSubstr("pack"), Not(HasSubstr("gemm"))));
  expect_refused({"show", "syrk", "--machine", "other"}, "unknown codelet 'syrk'; known: gemm, pack");
}

TEST_F(ModelsCli, ListsTheMachines) {
  EXPECT_EQ(output({"list"}), "no models in " + directory() + "\n");
  make_models("a");
  make_models("b");
  std::ofstream(file("b")) << "no models";
  auto const list = output({"list"});
  EXPECT_THAT(list, StartsWith("a\n  " + file("a").string() + "\n  3 kernels, 1 links\nb\n"));
  EXPECT_THAT(list, HasSubstr("file of performance models " + file("b").string() + ":"));
}

TEST_F(ModelsCli, ErasesACodeletOrEverything) {
  make_models("a");
  EXPECT_EQ(output({"erase", "--codelet", "gemm", "--machine", "a"}), "erased 2 of 3 models: gemm\n");
  EXPECT_EQ(read_models(file("a"))->kernels.size(), 1U);
  EXPECT_EQ(read_models(file("a"))->links.size(), 1U);
  expect_refused({"erase", "--codelet", "gemm", "--machine", "a"}, "unknown codelet 'gemm'; known: pack");
  std::ofstream(file("a")) << "damaged";
  expect_refused({"erase", "--codelet", "pack", "--machine", "a"}, file("a").string());
  expect_refused({"show", "--machine", "a"}, file("a").string());
  EXPECT_EQ(output({"erase", "--all", "--machine", "a"}), "erased " + file("a").string() + "\n");
  EXPECT_FALSE(fs::exists(file("a").parent_path()));
  EXPECT_EQ(output({"erase", "--all", "--machine", "a"}), "no models of a in " + directory() + "\n");
}

TEST_F(ModelsCli, RefusesWhatItCannotDo) {
  expect_refused({}, "subcommand");
  expect_refused({"paint"}, "subcommand");
  expect_refused({"erase"}, "--codelet NAME or --all");
  expect_refused({"erase", "--all", "--codelet", "x"}, "excludes");
  expect_refused({"show", "--machine", "../x"}, "'../x'");
  expect_refused({"show", "--machine", ""}, "the value of --machine is empty");
  expect_refused({"list", "--directory", ""}, "the value of --directory is empty");
  expect_refused({"erase", "--codelet", ""}, "the value of --codelet is empty");
  auto const off = testing::run_child(GRANARY_BIN_DIR "/granary-models", {"list"});  // GRANARY_MODELS is off
  EXPECT_EQ(off.status, 2);
  EXPECT_THAT(off.err, HasSubstr("--directory"));
}

TEST_F(ModelsCli, AFactorizationLeavesItsModels) {
  auto const result = testing::run_child(GRANARY_BIN_DIR "/granary-cholesky",
                                         {"random:512", "--tile", "128", "--float", "--quiet", "--workers", "1"},
                                         {.directory = m_directory.path(), .models = directory()});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const shown = output({"show", "gemm"});
  EXPECT_THAT(shown, ::testing::ContainsRegex("gemm +s +cpu "));
  EXPECT_THAT(output({"list"}), HasSubstr("(this machine)"));
}

}  // namespace
}  // namespace granary
