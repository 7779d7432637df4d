// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <granary/core/base/error.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>

#include "version.hpp"

namespace granary::app {
namespace {

Bytes parse_rate(std::string text) {
  auto const whole = text;
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  Bytes const rate = parse_bytes(text);
  if (rate == 0) throw InvalidArgument("malformed rate '" + whole + "': write bytes per second, for example 200MB/s");
  return rate;
}

Bytes parse_memory(std::string const& text) {
  Bytes const memory = parse_bytes(text);
  if (memory == 0) throw InvalidArgument("malformed size '" + text + "': the memory limit must be above zero");
  return memory;
}

// What is read as text and turned into numbers after CLI11 has accepted the command line.
struct Texts {
  std::string memory;
  std::string rate;
};

void add_options(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("INPUT", options.input,
                 "file.h5[:/dataset], file.npy or random:N[:seed]; only the lower triangle is read")
      ->required();
  app.add_option("OUTPUT", options.output,
                 "HDF5 file that gets the factor as dataset L; without it the factor is dropped at the end");
  app.add_option("--memory", texts.memory,
                 "limit for tile data in memory, e.g. 512MiB or 150MB (default: half of what the process may use)");
  app.add_option("--tile", options.tile,
                 "order of the tiles (default: the input's chunks or 512, less where the memory is small)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{32768}));
  auto& runtime = options.runtime;
  app.add_option("--scheduler", runtime.scheduler, "scheduler (default: darts)");
  app.add_option("--eviction", runtime.eviction, "eviction policy (default: the one that goes with the scheduler)");
  app.add_option("--workers", runtime.workers, "worker threads (default: one per core that the process may use)")
      ->check(CLI::Range(1U, 1024U));
  app.add_option("--depth", runtime.depth, "tasks whose data are fetched ahead of the workers")
      ->capture_default_str()
      ->check(CLI::Range(1U, 100000U));
  app.add_option("--scratch", runtime.scratch,
                 "directory of temporary data (default: where OUTPUT is, or else TMPDIR or /var/tmp)");
  app.add_option("--disk-bandwidth", texts.rate, "slow the disk down to this many bytes per second, e.g. 200MB/s");
  app.add_flag("--left-looking", options.left_looking, "submit the tasks in left-looking order");
  app.add_flag("--float", options.single_precision, "random matrices: 32-bit elements instead of 64-bit ones");
  app.add_flag("--check", options.check, "measure the factor's residual, under the same memory limit");
  app.add_option("--json", options.json, "file that gets the summary as JSON");
  app.add_flag("--quiet", options.quiet, "print nothing but errors");
  app.set_version_flag("--version", [] { return version_text(); });
}

}  // namespace

std::optional<Options> parse_options(int argc, char const* const* argv) {
  Options options;
  Texts texts;
  CLI::App app(
      "Cholesky factorization A = L L^T of a symmetric positive definite matrix that may be larger than memory.",
      "granary-cholesky");
  add_options(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& request) {
    app.exit(request);
    return std::nullopt;
  } catch (CLI::ParseError const& error) {
    throw InvalidArgument(error.what());
  }
  auto& runtime = options.runtime;
  if (!texts.memory.empty()) runtime.host_memory = parse_memory(texts.memory);
  if (!texts.rate.empty()) runtime.disk_bytes_per_second = parse_rate(texts.rate);
  if (runtime.scratch.empty() && options.output) {
    auto const directory = std::filesystem::path(*options.output).parent_path().string();
    runtime.scratch = directory.empty() ? "." : directory;
  }
  return options;
}

}  // namespace granary::app
