// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/runtime/config.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace granary::app {

/// Bytes per second of text such as "200MB/s", and a limit in bytes such as "512MiB". Throw InvalidArgument for what is
/// malformed or zero, for a rate without a unit, and for one below 1 kB/s.
[[nodiscard]] Bytes parse_rate(std::string text);
[[nodiscard]] Bytes parse_memory(std::string const& text);

/// What every program that factors can be asked for; what the command line does not say is absent, or empty where
/// Runtime has a default.
struct RunOptions {
  std::optional<std::string> output;
  std::optional<std::uint64_t> tile;
  std::int32_t inner_tile = 0;  ///< 0: tasks run as they are
  std::optional<std::string> json;
  std::optional<std::string> trace;
  std::optional<std::string> report;
  RuntimeOptions runtime;
  bool left_looking = false;
  bool single_precision = false;  ///< generated matrices only, as the next
  bool complex = false;
  bool check = false;
  bool quiet = false;
  double progress_seconds = 0;  ///< between lines of progress; 0: a line that changes, where stderr is a terminal
};

/// A program's command line: the options that all have, and those that it adds to app().
class CommandLine {
 public:
  CommandLine(std::string const& name, std::string const& description, RunOptions& options);

  [[nodiscard]] CLI::App& app() { return m_app; }
  /// After the program's own arguments, so that help lists these first. `check` says what --check does.
  void add_run_options(std::string const& check);
  /// Fills the options in. Prints help or versions and returns false where that is asked for; throws InvalidArgument.
  [[nodiscard]] bool parse(int argc, char const* const* argv);

 private:
  void add_device_options();

  RunOptions& m_options;
  CLI::App m_app;
  // What is read as text and turned into numbers after CLI11 has accepted the command line.
  std::string m_memory;
  std::string m_rate;
  std::string m_device_memory;
  std::string m_link_rate;
  double m_stall_seconds = 0;
};

}  // namespace granary::app
