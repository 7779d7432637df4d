// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <vector>

namespace granary::app {

using namespace detail;

namespace {

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

}  // namespace

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

}  // namespace granary::app
