// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace granary::testing {

struct ChildResult {
  int status = -1;  ///< exit status; 128 + number for a child that died of a signal
  std::string out;
  std::string err;
  long peak_kibibytes = 0;  ///< resident memory
};

struct ChildOptions {
  std::filesystem::path directory = ".";
  int signal = 0;  ///< sent once `signal_when` appears in the directory, and `signal_after` has passed since
  std::string signal_when = {};  ///< part of a file's name; empty: from the start
  std::chrono::milliseconds signal_after{0};
  /// Before that signal, SIGUSR1 repeatedly for at least this long, and until the child has answered.
  std::chrono::milliseconds flood{0};
  /// Time limit for a child that received a signal: then it is killed, and its status is 137. Far longer than any
  /// needs.
  std::chrono::milliseconds deadline{30000};
  std::filesystem::path models = {};           ///< directory of performance models; empty: off
  std::optional<rlim_t> file_size_limit = {};  ///< RLIMIT_FSIZE, to simulate a full disk
  std::filesystem::path out = {};              ///< file for the standard output instead of ChildResult::out
  bool out_without_reader = false;             ///< the standard output is a pipe without a reader
  bool err_is_stuck = false;                   ///< the standard error is a full pipe that is not read
};

/// Runs a program with these arguments to its end.
ChildResult run_child(std::string const& program, std::vector<std::string> const& arguments,
                      ChildOptions const& options = {});

/// A temporary directory that is removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory const&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;
  ~TemporaryDirectory();

  [[nodiscard]] std::filesystem::path const& path() const { return m_path; }
  /// The names of its files, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::filesystem::path m_path;
};

}  // namespace granary::testing
