// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/linalg/data/tile_grid.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/trace_file.hpp>
#include <granary/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "apps/common/load_policies.hpp"
#include "apps/common/parse_arguments.hpp"
#include "apps/common/print.hpp"

namespace granary::app {

using namespace detail;

namespace {

namespace fs = std::filesystem;

// Read as text, and parsed after CLI11 has accepted the command line.
struct Texts {
  std::map<std::string, std::string> lists{{"tiles", ""}, {"n", ""},    {"tile", ""}, {"memory", ""},
                                           {"gpus", ""},  {"cpus", ""}, {"depth", ""}};
  std::vector<std::string> sweeps;
  std::string schedulers = "auto";
  std::string evictions;
  std::string charge = "none";
  std::optional<std::string> grid;
  std::vector<std::string> slow_workers;
  std::string booking = "ours";
  std::string booking_sleep;
  std::string booking_wakeup;
};

void add_problem(CLI::App& app, Options& options, Texts& texts) {
  add_problem_options(app, options);
  app.add_option("--tiles", texts.lists["tiles"],
                 "tiles per row; a list such as 8,16 or FIRST:LAST:STEP (default: 20)");
  app.add_option("--n", texts.lists["n"],
                 "cholesky, lu, gemm: order of the matrix, or a list, in place of --tiles; it is cut as in a run with "
                 "that --tile: tiles of the last row and column may be smaller");
  app.add_option("--tile", texts.lists["tile"], "tile size, or a list (default: 960)");
  add_algorithm_options(app, options);
}

void add_run(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--scheduler", texts.schedulers, "schedulers, as NAME or NAME:KEY=VALUE:..., separated by commas")
      ->capture_default_str();
  app.add_option("--eviction", texts.evictions, "eviction policies, likewise (default: the scheduler's own)");
  app.add_option(
      "--memory", texts.lists["memory"],
      "memory of each device, or a list: sizes such as 512MiB, or fractions of the working set, shared by the "
      "devices (default: the platform's)");
  app.add_option("--gpus", texts.lists["gpus"], "number of the platform's devices, or a list (default: all)");
  app.add_option("--gpu-workers", options.gpu_workers,
                 "workers per device, which share its speed and its memory, as the streams of a GPU do")
      ->capture_default_str()
      ->transform(whole_number(1, 256));
  app.add_option("--cpus", texts.lists["cpus"], "number of the platform's CPU workers, or a list (default: all)");
  app.add_option("--processes", options.processes,
                 "simulate this many processes, each on a machine like the platform and with that memory, which own "
                 "the tiles cyclically and send values to each other")
      ->transform(whole_number(1, Distribution::most_processes));
  app.add_option("--grid", texts.grid,
                 "ROWSxCOLUMNS: the grid of processes (default: as square as their number allows)");
  app.add_option("--network", options.network,
                 "BANDWIDTH[:LATENCY] of each process' connection to the others, such as 5GB/s:2us (default: the "
                 "platform's)");
  app.add_flag("--half-duplex", options.half_duplex, "both directions between two memories share one bandwidth");
  app.add_option(
      "--depth", texts.lists["depth"],
      "number of tasks per worker group whose data are prefetched, or a list (default: the platform's, or else 4)");
  app.add_option("--max-live-tasks", options.booking.max_live_tasks,
                 "limit of submitted tasks that have not ended, as in a real run (default: no limit)")
      ->transform(whole_number(1));
  app.add_option("--booking", texts.booking,
                 "memory booked by submitted tasks, for which submission sleeps: ours, paper, or none, which also "
                 "lifts --max-live-tasks; of data that grow, :bold (the present size), :factor or :safe")
      ->capture_default_str();
  app.add_option("--booking-sleep", texts.booking_sleep,
                 "submission sleeps while more bytes are booked, such as 20GB (default: the memory of the host without "
                 "room for write-backs and for one task)");
  app.add_option("--booking-wakeup", texts.booking_wakeup,
                 "it wakes when at most so many are (default: nine tenths of --booking-sleep)");
  app.add_option("--sweep", texts.sweeps,
                 "KEY=VALUES for tiles, n, tile, memory, gpus, cpus or depth, e.g. tiles=8:32:4");
  app.add_option("--seeds", options.seeds, "runs of each configuration with seeds 0, 1, ...; medians are shown")
      ->capture_default_str()
      ->transform(whole_number(1, 10000));
  app.add_option("--jitter", options.jitter,
                 "kernel times are multiplied by a random factor in [1-X, 1+X], X below 1 (default: the platform's)");
  app.add_option("--estimator-error", options.estimator_error,
                 "schedulers' estimates of kernel times are wrong by up to this fraction, below 1")
      ->capture_default_str();
  app.add_option(
         "--truth-error", options.truth_error,
         "true kernel times differ from the schedulers' estimates by a factor per codelet and kind of worker in "
         "[1-X, 1+X], X below 1, and one for all that keeps the area bound")
      ->capture_default_str();
  app.add_option("--truth-seeds", options.truth_seeds,
                 "number of true times that are drawn; each is run with all seeds, and medians are shown")
      ->capture_default_str()
      ->transform(whole_number(1, 10000));
  app.add_option("--slow-worker", texts.slow_workers,
                 "NAME:FACTOR:SECONDS: from SECONDS on, kernels take FACTOR times as long on the worker of that name; "
                 "may be repeated");
  app.add_option("--charge-decisions", texts.charge,
                 "virtual time of scheduling decisions: none, measured, or a time per task")
      ->capture_default_str();
  app.add_flag("--transfers-by-priority", options.transfers_by_priority,
               "of the transfers that wait for a link, start first the one for which the most urgent task waits");
  app.add_flag("!--no-bounds", options.bounds, "do not compute the upper bound, which is slow for very large graphs");
  app.add_option("--bound-paths", options.bound_paths, "limit of the paths that the upper bound takes into account")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
}

void add_output(CLI::App& app, Options& options) {
  app.add_option("--csv", options.csv,
                 "write the runs as CSV to this file; -: to standard output instead of the table");
  app.add_option("--json", options.json,
                 "write the runs as JSON to this file; -: to standard output instead of the table");
  app.add_option("--order", options.order, "write the order of execution of a single run as CSV to this file");
  app.add_option("--trace", options.trace,
                 "write a trace of a single run to this file: .json for Perfetto (docs/trace.md)");
  app.add_option("--report", options.report, "write a report of a single run to this .html file (docs/report.md)");
  app.add_option("--save-graph", options.save_graph, "write the task graph of a single problem as JSON to this file");
  app.add_option("--save-schedule", options.save_schedule,
                 "write which worker ran which tasks of a single run as JSON to this file (docs/schedules.md)");
  app.add_flag("--force", options.force, "overwrite existing files");
  app.add_option(
         "--priorities", options.priorities,
         "bottom-level; for --algorithm cholesky also library: those of granary's own factorization, and starpu: "
         "those of StarPU's example; none: all are equal")
      ->capture_default_str()
      ->check(CLI::IsMember({"bottom-level", "library", "starpu", "none"}));
  add_load_option(app, options.load);
  app.add_flag("--list", options.list, "print the known platforms, algorithms, schedulers and eviction policies");
  app.set_version_flag("--version", "granary-simulate " GRANARY_VERSION_STRING);
}

void apply_sweeps(Texts& texts) {
  for (auto const& sweep : texts.sweeps) {
    auto const equals = sweep.find('=');
    auto const list = texts.lists.find(sweep.substr(0, equals));
    if (equals == std::string::npos || list == texts.lists.end()) {
      throw InvalidArgument("malformed sweep '" + sweep +
                            "': write KEY=VALUES with KEY one of cpus, depth, gpus, memory, n, tile, tiles");
    }
    if (!list->second.empty()) throw InvalidArgument("the values of " + list->first + " are given twice");
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

void take_booking(BookingOptions& booking, Texts const& texts) {
  auto const named = booking_named(texts.booking);
  booking.policy = named.policy;
  booking.estimate = named.estimate;
  auto const take = [&](char const* option, std::string const& text, Bytes& threshold) {
    if (text.empty()) return;
    threshold = parse_bytes(text);
    if (threshold == 0) throw InvalidArgument(fmt::format("{} is {}; it must be above zero", option, text));
    if (booking.policy == BookingOptions::Policy::None)
      throw InvalidArgument(fmt::format("{} is for submission that sleeps, not for --booking none", option));
  };
  take("--booking-sleep", texts.booking_sleep, booking.sleep);
  take("--booking-wakeup", texts.booking_wakeup, booking.wakeup);
  if (booking.sleep == 0 || booking.wakeup <= booking.sleep) return;
  throw InvalidArgument(
      fmt::format("--booking-wakeup {} is above --booking-sleep {}", texts.booking_wakeup, texts.booking_sleep));
}

void take_texts(Options& options, Texts& texts) {
  apply_sweeps(texts);
  auto& lists = texts.lists;
  if (!lists["tiles"].empty()) options.tiles = parse_counts(lists["tiles"], "number of tiles", 1, 4096);
  if (!lists["n"].empty()) options.n = parse_counts(lists["n"], "order of the matrix", 1, 1000000000);
  if (!lists["n"].empty() && !lists["tiles"].empty()) throw InvalidArgument("--n and --tiles both give the size");
  if (!lists["tile"].empty()) options.tile = parse_counts(lists["tile"], "order of tiles", 1, 65536);
  if (!lists["memory"].empty()) options.memory = parse_memory(lists["memory"]);
  set_counts(lists["gpus"], "number of devices", 0, options.gpus);
  set_counts(lists["cpus"], "number of CPU workers", 0, options.cpus);
  set_counts(lists["depth"], "depth", 0, options.depth);
  options.schedulers = parse_names(texts.schedulers, "schedulers");
  if (!texts.evictions.empty()) options.evictions = parse_names(texts.evictions, "eviction policies");
  options.charge_decisions = parse_decision_cost(texts.charge);
  take_booking(options.booking, texts);
  if (texts.grid) options.grid = parse_grid(*texts.grid);
  for (auto const& slow : texts.slow_workers) options.slow_workers.push_back(parse_slow_worker(slow));
}

void check_processes(Options& options) {
  if (options.grid && !options.processes) options.processes = options.grid->processes();
  if (!options.processes) {
    if (options.network) throw InvalidArgument("--network needs --processes or --grid");
    return;
  }
  if (!options.grid) options.grid = Distribution::for_processes(*options.processes);
  if (options.grid->processes() != *options.processes) {
    throw InvalidArgument(fmt::format("--grid {}x{} has {} processes, not {}", options.grid->rows(),
                                      options.grid->columns(), options.grid->processes(), *options.processes));
  }
  auto const refuse = [](bool given, char const* option) {
    if (given) throw InvalidArgument(fmt::format("{} is for one process, not for --processes", option));
  };
  refuse(options.graph.has_value(), "--graph");
  refuse(options.order.has_value(), "--order");
  refuse(options.save_schedule.has_value(), "--save-schedule");
  refuse(!options.slow_workers.empty(), "--slow-worker");
}

void check_names(Options& options) {
  check_problem_options(options);
  for (auto const& scheduler : options.schedulers) static_cast<void>(make_scheduler(scheduler));
  for (auto const& scheduler : options.schedulers) {
    for (auto const& eviction : options.evictions) static_cast<void>(make_policies(scheduler, eviction));
  }
  if (options.priorities != "bottom-level" && options.priorities != "none" && options.algorithm != "cholesky") {
    throw InvalidArgument("--priorities " + options.priorities + " is for --algorithm cholesky, not " +
                          options.algorithm);
  }
  // A shared task may end earlier than the times of one worker allow.
  if (options.inner_tile != 0) options.bounds = false;
  auto const check_share = [](char const* option, double value) {
    if (!(value >= 0 && value < 1))
      throw InvalidArgument(fmt::format("{} is {}; it must be at least 0 and below 1", option, value));
  };
  check_share("--estimator-error", options.estimator_error);
  check_share("--truth-error", options.truth_error);
  if (options.jitter) check_share("--jitter", *options.jitter);
}

void check_output(std::string const& path, bool force) {
  std::error_code error;
  check_text_output(path, {});
  if (fs::exists(path, error) && !detail::is_special_file(path) && !force)
    throw InvalidArgument("the output " + path + " exists; --force replaces it");
}

void check_outputs(Options const& options) {
  std::vector<std::string> outputs;
  for (auto const& output : {options.csv, options.json, options.order, options.trace, options.report,
                             options.save_graph, options.save_schedule}) {
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
  auto const runs = options.combinations() * options.seeds * options.truth_seeds;
  if (options.trace) static_cast<void>(detail::trace_format(*options.trace));
  if (options.report) check_report_path(*options.report);
  auto const needs_one_run = [&](std::optional<std::string> const& file, char const* option) {
    if (file && runs > 1)
      throw InvalidArgument(fmt::format("{} needs a single run, but {} were requested", option, runs));
  };
  needs_one_run(options.order, "--order");
  needs_one_run(options.trace, "--trace");
  needs_one_run(options.report, "--report");
  needs_one_run(options.save_schedule, "--save-schedule");
  if (options.save_graph && options.sizes().size() > 1) {
    throw InvalidArgument("--save-graph needs a single problem size, but several were requested");
  }
}

}  // namespace

bool Options::prints_table() const {
  return std::ranges::none_of(std::array{&csv, &json, &order, &save_graph, &save_schedule},
                              [](auto const* file) { return *file && is_standard_output(**file); });
}

std::vector<ProblemSize> Options::sizes() const {
  std::vector<ProblemSize> sizes;
  for (auto const count : n.empty() ? tiles : n) {
    for (auto const most : tile) {
      auto const even = n.empty() ? most : even_tile(count, most);
      sizes.push_back(n.empty() ? ProblemSize{count, most} : ProblemSize{(count + even - 1) / even, even, count});
    }
  }
  return sizes;
}

std::size_t Options::combinations() const {
  return sizes().size() * schedulers.size() * std::max<std::size_t>(evictions.size(), 1) * memory.size() * gpus.size() *
         cpus.size() * depth.size();
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
  load_policies(options.load);
  take_texts(options, texts);
  check_names(options);
  check_processes(options);
  if (options.platform.empty()) throw InvalidArgument("--platform is required; --list shows the shipped ones");
  check_outputs(options);
  return options;
}

}  // namespace granary::app
