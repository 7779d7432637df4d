// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/schedules/search/constraints/constraint_search.hpp>
#include <granary/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>

#include "apps/common/load_policies.hpp"
#include "apps/common/parse_arguments.hpp"
#include "apps/common/print.hpp"

namespace granary::app {

using namespace detail;

namespace {

constexpr double default_time = 60;

// Those that need no file, and variants that often do better.
std::vector<std::string> default_schedulers() {
  auto names = scheduler_names();
  std::erase(names, "static");
  for (auto const* const variant : {"heftp:look=let", "heftp:look=gb", "heteroprio:spoliation=pcept"})
    names.emplace_back(variant);
  return names;
}

// True if it is gecode.
bool check_method(std::string const& method, CLI::App const& app) {
  if (method == "anneal") return false;
  if (method != "gecode") throw InvalidArgument("unknown method '" + method + "': use anneal or gecode");
  if (!have_constraint_search()) {
    throw InvalidArgument("--method gecode: granary was built without Gecode; docs/install.md says how to add it");
  }
  for (auto const* const option : {"--start", "--load", "--seed"}) {
    if (app.count(option) > 0) throw InvalidArgument(std::string(option) + " is for --method anneal");
  }
  return true;
}

void check_output(Options const& options) {
  if (options.output.empty()) throw InvalidArgument("--output is required: the file for the schedule");
  if (is_standard_output(options.output)) return;
  if (options.output.find(':') != std::string::npos) {
    throw InvalidArgument("the output " + options.output +
                          " has a ':' in its name, where the option file of the scheduler static would end");
  }
  check_text_output(options.output, {});
  std::error_code error;
  bool const exists = std::filesystem::exists(options.output, error);
  auto const path = detail::follow_links(options.output);
  if (options.graph && path == detail::follow_links(*options.graph)) {
    throw InvalidArgument("the output " + options.output + " is the input graph");
  }
  bool const resumed = options.resume && path == detail::follow_links(*options.resume);
  if (exists && !resumed && !options.force && !detail::is_special_file(options.output)) {
    throw InvalidArgument("the output " + options.output + " exists; --force replaces it, --resume " + options.output +
                          " improves it");
  }
}

}  // namespace

std::optional<Options> parse_options(int argc, char const* const* argv) {
  Options options;
  std::string schedulers;
  std::string memory;
  std::string method = "anneal";
  CLI::App app("Computes a schedule of a task graph on a machine described by a file, for the scheduler static.",
               "granary-schedule");
  add_problem_options(app, options);
  app.add_option("--tiles", options.tiles, "tiles per row")->capture_default_str()->transform(whole_number(1, 4096));
  app.add_option("--tile", options.tile, "tile size")->capture_default_str()->transform(whole_number(1, 65536));
  add_algorithm_options(app, options);
  app.add_option("--gpus", options.gpus, "number of the platform's devices (default: all)")
      ->transform(whole_number(0, 100000));
  app.add_option("--cpus", options.cpus, "number of the platform's CPU workers (default: all)")
      ->transform(whole_number(0, 100000));
  app.add_option("--memory", memory,
                 "memory of each device: a size such as 512MiB, or a fraction of the working set that the devices "
                 "share (default: the platform's)");
  app.add_option("--method", method,
                 "anneal, or gecode: a constraint solver for small graphs, without transfers, if granary was built "
                 "with it")
      ->capture_default_str();
  app.add_option("--start", schedulers,
                 "anneal: schedulers whose best schedule is the first one, separated by commas (default: all that are "
                 "registered, and variants)");
  add_load_option(app, options.load);
  app.add_option("--resume", options.resume,
                 "start from this schedule if it is better; gecode: look for a shorter one");
  app.add_option("--time", options.time, fmt::format("seconds for the search (default: {:.0f})", default_time));
  app.add_option("--evaluations", options.evaluations,
                 "schedules that the search looks at, or gecode's nodes, instead of a time: the result is repeatable")
      ->transform(whole_number(1));
  app.add_option("--seed", options.seed, "anneal: of the search's random numbers")
      ->capture_default_str()
      ->transform(whole_number(0));
  app.add_option("--bound-paths", options.bound_paths, "limit of the paths that the bound takes into account")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  app.add_option("--output", options.output, "write the schedule to this file");
  app.add_flag("--force", options.force, "overwrite an existing file");
  app.add_flag("--quiet", options.quiet, "no progress line");
  app.set_version_flag("--version", "granary-schedule " GRANARY_VERSION_STRING);
  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  load_policies(options.load);
  check_problem_options(options);
  if (options.platform.empty())
    throw InvalidArgument("--platform is required; granary-simulate --list shows the shipped ones");
  options.gecode = check_method(method, app);
  if (!options.gecode)
    options.schedulers = schedulers.empty() ? default_schedulers() : parse_names(schedulers, "schedulers");
  for (auto const& scheduler : options.schedulers) static_cast<void>(make_scheduler(scheduler));
  if (!memory.empty()) {
    auto const values = parse_memory(memory);
    if (values.size() != 1) throw InvalidArgument("--memory '" + memory + "' is a list; one value is needed");
    options.memory = values.front();
  }
  if (options.time && options.evaluations) throw InvalidArgument("give either --time or --evaluations");
  if (options.time && !(*options.time > 0 && *options.time <= 1e7)) {
    throw InvalidArgument(fmt::format("--time is {}; it must be more than 0 and at most 1e7 seconds", *options.time));
  }
  if (!options.time && !options.evaluations) options.time = default_time;
  check_output(options);
  return options;
}

}  // namespace granary::app
