// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/runtime/setup/options.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace granary::app {

inline constexpr char const* cores_per_worker_help =
    "cores of each CPU worker, with a Kokkos that has OpenMP: bodies and BLAS may use them all (default: 1)";

/// Parse a rate in bytes per second such as "200MB/s", and a memory limit such as "512MiB". Throw InvalidArgument if
/// the text is malformed or zero, or if a rate has no unit or is below 1 kB/s.
[[nodiscard]] Bytes parse_rate(std::string text);
[[nodiscard]] Bytes parse_memory(std::string const& text);

/// Options of every program that runs tasks. Options that the user does not set are absent, or empty if Runtime has a
/// default.
struct RunOptions {
  std::optional<std::string> output;
  std::optional<std::uint64_t> tile;       ///< absent, like the inner tile: the program chooses it
  std::optional<std::int32_t> inner_tile;  ///< 0: tasks have no finer graphs
  std::optional<std::string> blas;         ///< choose_blas has loaded it
  std::optional<std::string> json;
  std::optional<std::string> trace;
  std::optional<std::string> report;
  std::optional<std::string> save_schedule;
  std::vector<std::string> load;  ///< libraries that register policies
  RuntimeOptions runtime;
  bool left_looking = false;
  bool single_precision = false;  ///< generated matrices only, like the next one
  bool complex = false;
  bool check = false;
  bool quiet = false;
  double progress_seconds = 0;  ///< between progress lines; 0: one line that is redrawn, if stderr is a terminal
};

/// A program's command line: the common options, and those that the program adds to app().
class CommandLine {
 public:
  CommandLine(std::string const& name, std::string const& description, RunOptions& options);

  [[nodiscard]] CLI::App& app() { return m_app; }
  /// The options of all programs that run tasks. Call it after adding the program's own arguments, so that help lists
  /// these first.
  void add_common_options();
  /// These, and the options of factorizations; `check` describes --check.
  void add_run_options(std::string const& check);
  /// Sets the options. Returns false after printing help or versions on request; throws InvalidArgument.
  [[nodiscard]] bool parse(int argc, char const* const* argv);

 private:
  void add_device_options();

  RunOptions& m_options;
  CLI::App m_app;
  // Read as text, and parsed after CLI11 has accepted the command line.
  std::string m_grid;
  std::string m_tile;
  std::string m_inner_tile;
  std::string m_memory;
  std::string m_rate;
  std::string m_device_memory;
  std::string m_link_rate;
  double m_stall_seconds = 0;
};

}  // namespace granary::app
