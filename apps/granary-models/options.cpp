// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/options.hpp>
#include <granary/version.hpp>

#include <CLI/CLI.hpp>

#include "apps/common/parse_arguments.hpp"

namespace granary::app {

using namespace detail;

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

}  // namespace granary::app
