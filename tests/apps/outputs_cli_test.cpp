// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where programs may write: special files, links, files that another run writes, a standard output that cannot be
// written.
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include <granary/detail/core/base/partial_file.hpp>

#include "apps/cli_test.hpp"

namespace granary::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Outputs : public CliTest {
 protected:
  Outputs() : CliTest("granary-cholesky") {}

  void use(std::string const& program) { m_name = program; }
  [[nodiscard]] std::string read(std::string const& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Every program, with arguments that make it print.
  static std::vector<std::pair<std::string, std::vector<std::string>>> printing() {
    return {{"granary-cholesky", {"random:64"}},
            {"granary-cholesky", {"--help"}},
            {"granary-info", {}},
            {"granary-lu", {"general:64"}},
            {"granary-matrix", {"info", "A.h5"}},
            {"granary-models", {"list", "--directory", "."}},
            {"granary-simulate", {"--list"}},
            {"granary-simulate", {"--platform", "mirage", "--tiles", "4"}},
            {"granary-solve", {"random:64", "general:64x1", "--spd"}}};
  }
  void make_matrix() {
    use("granary-matrix");
    ASSERT_EQ(run({"generate", "spd", "64", "A.h5"}).status, 0);
  }
};

TEST_F(Outputs, SpecialFilesAreRefused) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  expect_refused({"random:64", "/dev/full"}, 2, "/dev/full is a device; a matrix is written to a regular file");
  expect_refused({"random:64", "/dev/null"}, 2, "/dev/null is a device");
  expect_refused({"random:64", "fifo"}, 2, "fifo is a FIFO");
  EXPECT_TRUE(fs::is_fifo(file("fifo")));
  ASSERT_EQ(::mkfifo(file("fifo.npy").c_str(), 0600), 0);
  use("granary-matrix");
  expect_refused({"generate", "spd", "64", "fifo.npy"}, 2, "fifo.npy is a FIFO");
}

TEST_F(Outputs, LinksInACircleAreRefused) {
  fs::create_symlink("a.h5", file("b.h5"));
  fs::create_symlink("b.h5", file("a.h5"));
  expect_refused({"random:64", "a.h5"}, 2, "Too many levels of symbolic links");
  expect_refused({"random:64", "--json", "a.h5"}, 2, "Too many levels of symbolic links");
  expect_refused({"a.h5"}, 2, "Too many levels of symbolic links");
  expect_refused({"random:64", "--scratch", "a.h5", "--memory", "10kB"}, 2, "");
  use("granary-simulate");
  expect_refused({"--platform", "mirage", "--csv", "a.h5"}, 2, "Too many levels of symbolic links");
}

TEST_F(Outputs, ALinkToNothingIsFollowed) {
  fs::create_directory(file("there"));
  fs::create_symlink("there/L.h5", file("L.h5"));
  EXPECT_EQ(run({"random:64", "L.h5"}).status, 0);
  EXPECT_TRUE(fs::is_symlink(file("L.h5")));
  EXPECT_TRUE(fs::is_regular_file(file("there/L.h5")));
}

TEST_F(Outputs, WhatAnotherRunWritesIsRefused) {
  std::optional<detail::PartialFile> another(file("L.h5"));
  expect_refused({"random:64", "L.h5"}, 2, "L.h5.partial: another run is writing it");
  another.reset();
  EXPECT_EQ(run({"random:64", "L.h5"}).status, 0);
}

TEST_F(Outputs, WhatADeadRunLeftIsNamedAndRemoved) {
  for (auto const& [program, arguments, output] :
       {std::tuple{"granary-cholesky", std::vector<std::string>{"random:64", "L.h5"}, "L.h5"},
        std::tuple{"granary-matrix", std::vector<std::string>{"generate", "spd", "64", "A.npy"}, "A.npy"},
        std::tuple{"granary-matrix", std::vector<std::string>{"convert", "hilbert:64", "A.mtx"}, "A.mtx"}}) {
    use(program);
    std::ofstream(file(output + std::string(".partial"))) << "half";
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr(output + std::string(".partial, left by a run that was killed")));
    EXPECT_FALSE(fs::exists(file(output + std::string(".partial"))));
  }
}

TEST_F(Outputs, JsonGoesToTheStandardOutputInsteadOfTheText) {
  for (auto const* name : {"-", "/dev/stdout"}) {
    auto const result = run({"random:64", "--json", name});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out).at("n"), 64);
    EXPECT_TRUE(nlohmann::json::parse(run({"random:64", "--quiet", "--json", name}).out).contains("seconds"));
  }
  use("granary-info");
  EXPECT_TRUE(nlohmann::json::parse(run({"--json", "/dev/stdout"}).out).is_object());
  use("granary-simulate");
  EXPECT_TRUE(nlohmann::json::parse(run({"--platform", "mirage", "--tiles", "4", "--json", "-"}).out).is_array());
  EXPECT_TRUE(m_directory.files().empty());
}

TEST_F(Outputs, TextsGoToSpecialFiles) {
  EXPECT_EQ(run({"random:64", "--json", "/dev/null"}).status, 0);
  auto const full = run({"random:64", "--json", "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write /dev/full at byte 0: No space left on device"));
}

TEST_F(Outputs, ATextReplacesAnOldOneOnlyWhenItIsComplete) {
  std::ofstream(file("out.json")) << "old";
  auto const full = run({"random:64", "--json", "out.json"}, {.file_size_limit = 100});
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_THAT(full.err, HasSubstr("out.json"));
  EXPECT_EQ(read("out.json"), "old");
  EXPECT_EQ(m_directory.files(), std::vector<std::string>{"out.json"});
}

TEST_F(Outputs, AStandardOutputThatIsFullIsAnError) {
  make_matrix();
  for (auto const& [program, arguments] : printing()) {
    use(program);
    auto const result = run(arguments, {.out = "/dev/full"});
    EXPECT_EQ(result.status, 1) << program;
    EXPECT_EQ(result.err, program + ": cannot write to the standard output: No space left on device\n");
  }
}

TEST_F(Outputs, AStandardOutputThatNobodyReadsEndsQuietly) {
  make_matrix();
  for (auto const& [program, arguments] : printing()) {
    use(program);
    auto const result = run(arguments, {.out_without_reader = true});
    EXPECT_EQ(result.status, 128 + SIGPIPE) << program;
    EXPECT_EQ(result.err, "") << program;
  }
}

TEST_F(Outputs, TooLittleSpaceIsSaidBeforeAnythingIsWritten) {
  auto const output = run({"random:1000", "L.h5"}, {.file_size_limit = 1 << 20});
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.err, ::testing::MatchesRegex(
                              "granary-cholesky: cannot write the output .*/L.h5: it needs .* MiB, but files are "
                              "limited to 1.0 MiB here \\(ulimit -f\\)\n"));
  auto const scratch =
      run({"random:1000", "--tile", "64", "--memory", "200KiB", "--scratch", "."}, {.file_size_limit = 1 << 20});
  EXPECT_EQ(scratch.status, 1);
  EXPECT_THAT(
      scratch.err,
      HasSubstr("cannot write the scratch file in . (--scratch): it needs 3.6 MiB, but files are limited to 1.0 MiB"));
  EXPECT_TRUE(m_directory.files().empty());
}

TEST_F(Outputs, PermissionsAreKept) {
  std::ofstream(file("L.h5")) << "old";
  fs::permissions(file("L.h5"), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(run({"random:64", "L.h5"}).status, 0);
  EXPECT_EQ(fs::status(file("L.h5")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace granary::testing
