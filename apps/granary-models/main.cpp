// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>
#include <granary/detail/runtime/setup/options.hpp>
#include <granary/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/common/choose_blas.hpp"
#include "apps/common/parse_arguments.hpp"
#include "apps/common/program.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

enum class Action { List, Show, Erase };

struct Options {
  Action action = Action::List;
  std::string directory;               ///< of the models of all machines
  std::string machine;                 ///< the id of one
  std::optional<std::string> codelet;  ///< for show and erase
  bool all = false;                    ///< for erase
};

// Returns nothing after printing help or the version on request; throws InvalidArgument.
std::optional<Options> parse_options(int argc, char const* const* argv) {
  Options options;
  CLI::App app("Shows and erases the performance models of runs on this machine.", "granary-models");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "granary " GRANARY_VERSION_STRING);
  app.add_option("--directory", options.directory,
                 "directory of the models (default: GRANARY_MODELS, or else granary in the user's cache directory)");
  app.add_option("--machine", options.machine, "another machine's id, as list prints it (default: this machine)");
  auto* list = app.add_subcommand("list", "the machines with models, and their files");
  auto* show = app.add_subcommand("show", "a table of the models of one machine");
  show->add_option("CODELET", options.codelet, "only this codelet");
  auto* erase = app.add_subcommand("erase", "erase models of one machine");
  auto* name = erase->add_option("--codelet", options.codelet, "only the models of this codelet");
  erase->add_flag("--all", options.all, "all models and link speeds")->excludes(name);
  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  options.action = list->parsed() ? Action::List : show->parsed() ? Action::Show : Action::Erase;
  if (erase->parsed() && !options.codelet && !options.all) {
    throw InvalidArgument("erase needs --codelet NAME or --all");
  }
  if (options.directory.empty()) options.directory = models_directory();
  if (options.directory == models_off) {
    throw InvalidArgument("performance models are off: name their directory with --directory");
  }
  if (options.machine.empty()) options.machine = identify_machine().id();
  if (options.machine.find('/') != std::string::npos || options.machine.starts_with(".")) {
    throw InvalidArgument("'" + options.machine +
                          "' is not the id of a machine; granary-models list prints the known ids");
  }
  return options;
}

std::string format_time(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string nothing_known(Options const& options) {
  return fmt::format("no models of {} in {}\n", options.machine, options.directory);
}

void check_codelet(MachineModels const& models, std::string const& codelet) {
  std::set<std::string> known;
  for (auto const& model : models.kernels) known.insert(model.codelet);
  if (known.contains(codelet)) return;
  throw InvalidArgument(fmt::format("unknown codelet '{}'; known: {}", codelet,
                                    known.empty() ? std::string("none") : fmt::format("{}", fmt::join(known, ", "))));
}

std::string row(KernelModel const& model) {
  bool const states_flops = model.flops > 0;
  return fmt::format("{:<20} {:<8} {:<7} {:>11} {:>9} {:>11} {:>10}\n", model.codelet,
                     model.variant.empty() ? "-" : model.variant, name_of(model.kind),
                     states_flops ? fmt::format("{:.3e}", model.flops) : "-", model.samples,
                     format_time(states_flops ? model.mean * model.flops : model.mean),
                     states_flops ? fmt::format("{:.2f}", 1e-9 / model.mean) : "-");
}

// The machines that have a file of models, one per line; damaged files are marked.
std::string list_machines(Options const& options) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto const& entry : std::filesystem::directory_iterator(options.directory, error)) {
    auto const file = models_file(options.directory, entry.path().filename());
    if (std::filesystem::exists(file, error)) files.push_back(file);
  }
  std::ranges::sort(files);
  std::string text;
  for (auto const& file : files) {
    auto const id = file.parent_path().filename().string();
    std::string known;
    try {
      auto const models = read_models(file).value_or(MachineModels{});
      known = fmt::format("{} kernels, {} links", models.kernels.size(), models.links.size());
    } catch (Error const& damaged) {
      known = damaged.what();
    }
    text += fmt::format("{}{}\n  {}\n  {}\n", id, id == options.machine ? " (this machine)" : "", file.string(), known);
  }
  return text.empty() ? fmt::format("no models in {}\n", options.directory) : text;
}

// A table of the machine's models and links. Throws InvalidArgument for an unknown codelet, with the known ones, and
// DataError for a damaged file.
std::string show_models(Options const& options) {
  auto const models = read_models(models_file(options.directory, options.machine));
  if (!models) return nothing_known(options);
  if (options.codelet) check_codelet(*models, *options.codelet);
  auto text = fmt::format("{}: {}, {} cores\n", models->host, models->cpu, models->cores);
  text += fmt::format("{:<20} {:<8} {:<7} {:>11} {:>9} {:>11} {:>10}\n", "codelet", "variant", "worker", "flops from",
                      "samples", "mean time", "GFlop/s");
  for (auto const& model : models->kernels) {
    if (!options.codelet || model.codelet == *options.codelet) text += row(model);
  }
  if (options.codelet) return text;
  for (auto const& link : models->links) {
    text += fmt::format("{} -> {}: {:.3f} GB/s, latency {}\n", link.from, link.to, link.bytes_per_second / 1e9,
                        format_time(seconds(link.latency)));
  }
  return text;
}

// Erases models, and returns a message about them. Throws like `show_models`; --all also erases a damaged file.
std::string erase_models(Options const& options) {
  auto const file = models_file(options.directory, options.machine);
  if (options.all) {
    std::error_code error;
    bool const erased = std::filesystem::remove(file, error);
    if (error) throw Error("cannot erase " + file.string() + ": " + error.message());
    if (!erased) return nothing_known(options);
    std::filesystem::remove(file.string() + ".lock", error);
    std::filesystem::remove(file.parent_path(), error);  // stays if it holds other files
    return fmt::format("erased {}\n", file.string());
  }
  auto const models = read_models(file);
  if (!models) return nothing_known(options);
  check_codelet(*models, *options.codelet);
  std::size_t erased = 0;
  update_models(file, [&](MachineModels& stored) {
    erased = std::erase_if(stored.kernels, [&](KernelModel const& model) { return model.codelet == *options.codelet; });
  });
  return fmt::format("erased {} of {} models: {}\n", erased, models->kernels.size(), *options.codelet);
}

std::string perform(Options const& options) {
  switch (options.action) {
    case Action::List:
      return list_machines(options);
    case Action::Show:
      return show_models(options);
    case Action::Erase:
      break;
  }
  return erase_models(options);
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_program("granary-models",
                          [&](SignalWatch&) {
                            if (auto const options = parse_options(argc, argv))
                              fmt::print("{}", printable_lines(perform(*options)));
                          },
                          {.start = [argv] { app::choose_blas(argv); }});
}
