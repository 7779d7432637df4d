// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_start.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/setup/configure.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <optional>

#include "apps/common/choose_blas.hpp"
#include "apps/common/command_line.hpp"
#include "apps/common/parse_arguments.hpp"
#include "apps/common/print.hpp"
#include "apps/common/program.hpp"
#include "apps/common/version.hpp"
#include "describe.hpp"
#include "options.hpp"
#include "text.hpp"

namespace {

using namespace granary;
using namespace granary::app;
using namespace granary::detail;

// Returns nothing after printing help or versions on request; throws InvalidArgument.
std::optional<InfoOptions> parse_options(int argc, char const* const* argv) {
  InfoOptions options;
  std::string device_memory;
  std::string link_bandwidth;
  auto& runtime = options.runtime;
  CLI::App app("Shows granary's build and the machine: cores, memories, devices, links, policies.", "granary-info");
  app.add_option("--json", options.json, "write JSON to this file; -: to standard output instead of the text");
  app.add_flag("--measure", options.measure, "measure the links again, even if they are known");
  app.add_option("--cores-per-worker", runtime.cores_per_worker, cores_per_worker_help)
      ->transform(whole_number(1, 512));
  app.add_option("--devices", runtime.devices,
                 "all, none, numbers such as 0,2, or host:N for N emulated ones (default: all)");
  app.add_option("--device-memory", device_memory, "limit for each device's memory, e.g. 4GiB");
  app.add_option("--link-bandwidth", link_bandwidth,
                 "bandwidth of emulated devices' links in bytes per second, e.g. 12GB/s");
  app.add_option("--blas", options.blas, blas_option_help);
  app.add_option("--scratch", runtime.scratch, "directory whose disk is shown (default: TMPDIR or /var/tmp)");
  app.add_option(
      "--models", runtime.models,
      "directory of performance models, or off (default: GRANARY_MODELS, or else granary in the user's cache "
      "directory)");
  app.set_version_flag("--version", [] { return version_text(); });
  if (!parse_arguments(app, argc, argv)) return std::nullopt;
  if (!device_memory.empty()) runtime.device_memory = parse_memory(device_memory);
  if (!link_bandwidth.empty()) runtime.link_bytes_per_second = parse_rate(link_bandwidth);
  runtime = configure(runtime);
  return options;
}

void publish(InfoOptions const& options) {
  std::optional<Kokkos::ScopeGuard> kokkos;
  if (!kokkos_obstacle()) kokkos.emplace();
  auto const description = describe_machine(options);
  auto const json = description.dump(2) + "\n";
  if (options.json) write_text(*options.json, json);
  if (options.json && is_standard_output(*options.json)) return;
  fmt::print("{}", text_of(description));
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("granary-info",
                     [&](SignalWatch&) {
                       if (auto const options = parse_options(argc, argv)) publish(*options);
                     },
                     {.start = [argv] { choose_blas(argv); }});
}
