// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "apps/child.hpp"

namespace granary::testing {

/// A program in a temporary directory.
class CliTest : public ::testing::Test {
 protected:
  explicit CliTest(std::string name) : m_name(std::move(name)) {}

  ChildResult run(std::vector<std::string> const& arguments, ChildOptions options = {}) const {
    options.directory = m_directory.path();
    return run_child(GRANARY_BIN_DIR "/" + m_name, arguments, options);
  }
  // Runs Python with numpy as np and h5py; returns its output.
  std::string python(std::string const& script) const {
    auto const result =
        run_child(GRANARY_PYTHON, {"-c", "import h5py, numpy as np\n" + script}, {.directory = m_directory.path()});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  static bool have_h5py() {
    static bool const have = run_child(GRANARY_PYTHON, {"-c", "import h5py, numpy"}).status == 0;
    return have;
  }
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory.path() / name).string(); }
  [[nodiscard]] nlohmann::json read_json(std::string const& name) const {
    return nlohmann::json::parse(std::ifstream(file(name)));
  }
  // One sentence, this status, and no new file.
  void expect_refused(std::vector<std::string> const& arguments, int status, std::string const& part) const {
    auto const before = m_directory.files();
    auto const result = run(arguments);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, ::testing::StartsWith(m_name + ": "));
    EXPECT_THAT(result.err, ::testing::HasSubstr(part));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(m_directory.files(), before);
  }
  // With a limit of one byte the message has the minimum. A run with the minimum completes; with a byte less it does
  // not.
  void expect_least_memory_is_exact(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--memory", "1"});
    auto const refused = run(arguments);
    ASSERT_EQ(refused.status, 2) << refused.err;
    auto const start = refused.err.find("(--memory ") + 10;
    auto const least = refused.err.substr(start, refused.err.find(')', start) - start);
    arguments.back() = least;
    auto const result = run(arguments);
    EXPECT_EQ(result.status, 0) << arguments[0] << " with " << least << ": " << result.err;
    arguments.back() = std::to_string(std::stoull(least) - 1);
    EXPECT_EQ(run(arguments).status, 2) << arguments[0] << " with " << arguments.back();
  }
  // 4 MB/s: far longer than the signal takes.
  void expect_signal_leaves_nothing(std::vector<std::string> arguments, std::string const& output) const {
    arguments.insert(arguments.end(), {"--disk-bandwidth", "4MB/s"});
    auto const before = m_directory.files();
    for (int after : {0, 200}) {
      auto const result =
          run(arguments,
              {.signal = SIGINT, .signal_when = output + ".partial", .signal_after = std::chrono::milliseconds(after)});
      EXPECT_EQ(result.status, 130) << result.err;
      EXPECT_THAT(result.err, ::testing::StartsWith(m_name + ": interrupted"));
      EXPECT_EQ(m_directory.files(), before);
    }
  }
  // The child's resident memory above that of `nothing`, a run on a tiny matrix, is the limit and at most 68 MiB.
  void expect_limit_kept(std::vector<std::string> const& nothing, std::vector<std::string> arguments,
                         long limit) const {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    auto const start = run(nothing).peak_kibibytes;
    arguments.insert(arguments.end(),
                     {"--memory", std::to_string(limit), "--workers", "2", "--quiet", "--json", "out.json"});
    auto const result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_LE((result.peak_kibibytes - start) * 1024 - limit, 68L << 20);
    EXPECT_LE(read_json("out.json").at("memory_peak_bytes"), limit);
  }

  std::string m_name;
  TemporaryDirectory m_directory;
};

}  // namespace granary::testing
