// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <granary/core/base/error.hpp>
#include <granary/core/base/partial_file.hpp>
#include <granary/policies/registry.hpp>
#include <granary/trace/html_report.hpp>
#include <granary/trace/trace_file.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>

#include "apps/common/print.hpp"
#include "make_workload.hpp"

#include "apps/common/parse_arguments.hpp"

namespace granary::app {
namespace {

namespace fs = std::filesystem;

// What is read as text and turned into values after CLI11 has accepted the command line.
struct Texts {
  std::map<std::string, std::string> lists{{"tiles", ""}, {"tile", ""}, {"memory", ""},
                                           {"gpus", ""},  {"cpus", ""}, {"depth", ""}};
  std::vector<std::string> sweeps;
  std::string schedulers = "darts";
  std::string evictions;
  std::string precision = "s";
  std::string charge = "none";
};

void add_problem(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--platform", options.platform, "a shipped platform's name, or a file: docs/platforms.md");
  app.add_option("--algorithm", options.algorithm, fmt::format("one of {}", fmt::join(algorithm_names(), ", ")))
      ->capture_default_str();
  app.add_option("--graph", options.graph, "task graph to schedule, JSON: docs/simulate.md (means --algorithm graph)");
  app.add_option("--tiles", texts.lists["tiles"],
                 "tiles in a row; a list such as 8,16 or FIRST:LAST:STEP (default: 20)");
  app.add_option("--tile", texts.lists["tile"], "order of the tiles, or a list (default: 960)");
  app.add_option("--inner-tile", options.inner_tile,
                 "cholesky, lu: order of the sub-tiles of tasks that may run as finer graphs on several cores, "
                 "docs/hierarchical.md (default: none)")
      ->transform(whole_number(0));
  app.add_option("--precision", texts.precision, "s or d")->capture_default_str();
  app.add_option("--iterations", options.iterations, "stencil: iterations")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--dimensions", options.dimensions, "stencil: 2 or 3")
      ->capture_default_str()
      ->transform(whole_number(2, 3));
  app.add_option("--levels", options.levels, "tree: levels")->capture_default_str()->transform(whole_number(1, 16));
  app.add_option("--graph-seed", options.graph_seed, "random, tree: which graph")
      ->capture_default_str()
      ->transform(whole_number(0));
}

void add_run(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--scheduler", texts.schedulers, "schedulers, as NAME or NAME:KEY=VALUE:..., separated by commas")
      ->capture_default_str();
  app.add_option("--eviction", texts.evictions,
                 "eviction policies, likewise (default: the one that goes with the scheduler)");
  app.add_option("--memory", texts.lists["memory"],
                 "memory of each device, or a list: sizes such as 512MiB, or fractions of the working set, which the "
                 "devices share (default: the platform's)");
  app.add_option("--gpus", texts.lists["gpus"], "how many of the platform's devices, or a list (default: all)");
  app.add_option("--cpus", texts.lists["cpus"], "how many of the platform's CPU workers, or a list (default: all)");
  app.add_option("--depth", texts.lists["depth"],
                 "tasks whose data are fetched ahead of the workers, or a list (default: the platform's, or else 4)");
  app.add_option("--max-live-tasks", options.max_live_tasks,
                 "let tasks be submitted only while fewer of them have not ended, as in a real run (default: all tasks "
                 "are there from the beginning)")
      ->transform(whole_number(1));
  app.add_option("--sweep", texts.sweeps, "KEY=VALUES for tiles, tile, memory, gpus, cpus or depth, say tiles=8:32:4");
  app.add_option("--seeds", options.seeds, "runs of each configuration with seeds 0, 1, ...; medians are shown")
      ->capture_default_str()
      ->transform(whole_number(1, 10000));
  app.add_option("--jitter", options.jitter,
                 "kernels take a random factor in [1-X, 1+X] of their times, X below 1 (default: the platform's)");
  app.add_option("--estimator-error", options.estimator_error,
                 "schedulers believe kernel times that are wrong by up to this part, below 1")
      ->capture_default_str();
  app.add_option("--charge-decisions", texts.charge, "virtual time of decisions: none, measured, or a time per task")
      ->capture_default_str();
  app.add_flag("!--no-bounds", options.bounds,
               "do not compute the upper bound, which takes long for very large graphs");
}

void add_output(CLI::App& app, Options& options) {
  app.add_option("--csv", options.csv, "file that gets the runs as CSV; - for standard output, instead of the table");
  app.add_option("--json", options.json,
                 "file that gets the runs as JSON; - for standard output, instead of the table");
  app.add_option("--order", options.order, "file that gets the order of execution as CSV, of a single run");
  app.add_option("--trace", options.trace,
                 "file that gets what happened in a single run: .json for Perfetto, .paje for ViTE, docs/trace.md");
  app.add_option("--report", options.report, "file that gets a page of HTML that shows a single run, docs/report.md");
  app.add_option("--save-graph", options.save_graph, "file that gets the task graph as JSON, of a single problem");
  app.add_flag("--force", options.force, "write over files that exist");
  app.add_option(
         "--priorities", options.priorities,
         "bottom-level; for --algorithm cholesky also library: those of granary's own factorization, and starpu: "
         "those of StarPU's example")
      ->capture_default_str()
      ->check(CLI::IsMember({"bottom-level", "library", "starpu"}));
  app.add_option("--load", options.load, "shared library whose policies register themselves; may be repeated");
  app.add_flag("--list", options.list, "print the known platforms, algorithms, schedulers and eviction policies");
  app.set_version_flag("--version", "granary-simulate " GRANARY_VERSION);
}

void apply_sweeps(Texts& texts) {
  for (auto const& sweep : texts.sweeps) {
    auto const equals = sweep.find('=');
    auto const list = texts.lists.find(sweep.substr(0, equals));
    if (equals == std::string::npos || list == texts.lists.end()) {
      throw InvalidArgument("malformed sweep '" + sweep +
                            "': write KEY=VALUES with KEY one of cpus, depth, gpus, memory, tile, tiles");
    }
    if (!list->second.empty()) throw InvalidArgument("the values of " + list->first + " are stated twice");
    list->second = sweep.substr(equals + 1);
    if (list->second.empty()) throw InvalidArgument("the sweep '" + sweep + "' has no values");
  }
}

void set_counts(std::string const& text, char const* what, std::uint32_t least,
                std::vector<std::optional<std::uint32_t>>& values) {
  if (text.empty()) return;
  values.clear();
  for (auto const count : parse_counts(text, what, least, 100000))
    values.emplace_back(static_cast<std::uint32_t>(count));
}

void take_texts(Options& options, Texts& texts) {
  apply_sweeps(texts);
  auto& lists = texts.lists;
  if (!lists["tiles"].empty()) options.tiles = parse_counts(lists["tiles"], "number of tiles", 1, 4096);
  if (!lists["tile"].empty()) options.tile = parse_counts(lists["tile"], "order of tiles", 1, 65536);
  if (!lists["memory"].empty()) options.memory = parse_memory(lists["memory"]);
  set_counts(lists["gpus"], "number of devices", 0, options.gpus);
  set_counts(lists["cpus"], "number of CPU workers", 0, options.cpus);
  set_counts(lists["depth"], "depth", 1, options.depth);
  options.schedulers = parse_names(texts.schedulers, "schedulers");
  if (!texts.evictions.empty()) options.evictions = parse_names(texts.evictions, "eviction policies");
  if (texts.precision != "s" && texts.precision != "d") {
    throw InvalidArgument("unknown precision '" + texts.precision + "': it is s or d");
  }
  options.single_precision = texts.precision == "s";
  options.charge_decisions = parse_decision_cost(texts.charge);
}

void check_names(Options& options) {
  if (options.graph) options.algorithm = "graph";
  check_algorithm(options.algorithm);
  if (options.algorithm == "graph" && !options.graph) {
    throw InvalidArgument("the algorithm graph needs a file: --graph FILE");
  }
  for (auto const& scheduler : options.schedulers) static_cast<void>(make_scheduler(scheduler));
  for (auto const& eviction : options.evictions) static_cast<void>(make_eviction(eviction));
  if (options.priorities != "bottom-level" && options.algorithm != "cholesky") {
    throw InvalidArgument("--priorities " + options.priorities + " is for --algorithm cholesky, not " +
                          options.algorithm);
  }
  bool const factorization = options.algorithm.starts_with("cholesky") || options.algorithm.starts_with("lu");
  if (options.inner_tile != 0 && !factorization) {
    throw InvalidArgument("--inner-tile is for Cholesky and LU factorizations, not " + options.algorithm);
  }
  // A task that is shared ends before the times of one worker allow.
  if (options.inner_tile != 0) options.bounds = false;
  auto const check_share = [](char const* option, double value) {
    if (!(value >= 0 && value < 1))
      throw InvalidArgument(fmt::format("{} is {}, not from 0 to below 1", option, value));
  };
  check_share("--estimator-error", options.estimator_error);
  if (options.jitter) check_share("--jitter", *options.jitter);
}

// Its static objects register its policies.
void load_policies(std::string const& library) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    char const* const reason = dlerror();
    throw InvalidArgument(fmt::format("cannot load policies: {}", reason != nullptr ? reason : library));
  }
}

void check_output(std::string const& path, bool force) {
  std::error_code error;
  check_text_output(path, {});
  if (fs::exists(path, error) && !detail::is_special_file(path) && !force)
    throw InvalidArgument("the output " + path + " exists; --force replaces it");
}

void check_outputs(Options const& options) {
  std::vector<std::string> outputs;
  for (auto const& output :
       {options.csv, options.json, options.order, options.trace, options.report, options.save_graph}) {
    if (!output) continue;
    bool const printed = is_standard_output(*output);
    if (!printed) check_output(*output, options.force);
    auto const path = printed ? "-" : detail::follow_links(*output);
    if (std::ranges::find(outputs, path) != outputs.end()) {
      throw InvalidArgument("two outputs cannot both be written to " + *output);
    }
    if (options.graph && path == detail::follow_links(*options.graph)) {
      throw InvalidArgument("the output " + *output + " is the input graph");
    }
    outputs.push_back(path);
  }
  auto const runs = options.combinations() * options.seeds;
  if (options.order && runs > 1) {
    throw InvalidArgument(fmt::format("--order writes the order of one run, but {} are asked for", runs));
  }
  if (options.trace) static_cast<void>(trace_format(*options.trace));
  if (options.trace && runs > 1) {
    throw InvalidArgument(fmt::format("--trace writes what happened in one run, but {} are asked for", runs));
  }
  if (options.report) check_report_path(*options.report);
  if (options.report && runs > 1) {
    throw InvalidArgument(fmt::format("--report shows one run, but {} are asked for", runs));
  }
  if (options.save_graph && options.tiles.size() * options.tile.size() > 1) {
    throw InvalidArgument("--save-graph writes one graph, but several sizes are asked for");
  }
}

}  // namespace

bool Options::prints_table() const {
  return std::ranges::none_of(std::array{&csv, &json, &order, &save_graph},
                              [](auto const* file) { return *file && is_standard_output(**file); });
}

std::size_t Options::combinations() const {
  return tiles.size() * tile.size() * schedulers.size() * std::max<std::size_t>(evictions.size(), 1) * memory.size() *
         gpus.size() * cpus.size() * depth.size();
}

std::optional<Options> parse_options(int argc, char const* const* argv) {
  Options options;
  Texts texts;
  CLI::App app("Simulates task graphs on machines described by files, with the planner and policies of real runs.",
               "granary-simulate");
  add_problem(app, options, texts);
  add_run(app, options, texts);
  add_output(app, options);
  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  if (options.list) return options;
  for (auto const& library : options.load) load_policies(library);
  take_texts(options, texts);
  check_names(options);
  if (options.platform.empty()) throw InvalidArgument("--platform is required; --list shows the shipped ones");
  check_outputs(options);
  return options;
}

}  // namespace granary::app
