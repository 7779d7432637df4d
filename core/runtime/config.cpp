// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/runtime/config.hpp>

#include <granary/core/backends/discover.hpp>
#include <granary/core/base/error.hpp>
#include <granary/policies/registry.hpp>

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace granary {

namespace {

constexpr unsigned most_workers = 1024;

// The variable's value; empty when it is not set.
std::string variable(char const* name) {
  char const* value = std::getenv(name);
  return value != nullptr ? value : "";
}

unsigned parse_workers(std::string const& text) {
  unsigned workers = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (error != std::errc{} || end != text.data() + text.size() || workers == 0) {
    throw InvalidArgument("GRANARY_WORKERS is '" + text + "'; a number of workers of at least 1 is needed");
  }
  return workers;
}

Bytes parse_memory(std::string const& text) {
  try {
    return parse_bytes(text);
  } catch (InvalidArgument const& error) {
    throw InvalidArgument("GRANARY_MEMORY: " + std::string(error.what()));
  }
}

void check_directory(std::string const& directory) {
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw InvalidArgument("cannot use scratch directory '" + directory + "': " + std::strerror(errno));
  }
}

}  // namespace

std::string models_directory() {
  if (auto named = variable("GRANARY_MODELS"); !named.empty()) return named;
  auto cache = variable("XDG_CACHE_HOME");
  if (!cache.starts_with('/')) {  // the specification says to ignore relative ones
    auto const home = variable("HOME");
    if (home.empty()) return models_off;
    cache = home + "/.cache";
  }
  return cache + "/granary";
}

RuntimeOptions configure(RuntimeOptions options) {
  if (options.scheduler.empty()) options.scheduler = variable("GRANARY_SCHEDULER");
  if (options.scheduler.empty()) options.scheduler = "darts";
  if (options.eviction.empty()) options.eviction = variable("GRANARY_EVICTION");
  if (options.eviction.empty()) options.eviction = default_eviction(options.scheduler);
  if (auto const text = variable("GRANARY_WORKERS"); !options.workers && !text.empty())
    options.workers = parse_workers(text);
  if (auto const text = variable("GRANARY_MEMORY"); options.host_memory == 0 && !text.empty())
    options.host_memory = parse_memory(text);
  if (variable("GRANARY_BIND") == "0") options.bind_workers = false;
  if (options.models.empty()) options.models = models_directory();
  if (variable("GRANARY_MEASURE_LINKS") == "0") options.measure_links = false;
  if (!options.workers || options.host_memory == 0) {
    auto const host = discover_host();
    if (!options.workers) options.workers = static_cast<unsigned>(host.cores.size());
    if (options.host_memory == 0) options.host_memory = host.memory / 2;
  }
  if (*options.workers > most_workers) {
    throw InvalidArgument(std::to_string(*options.workers) + " workers are more than " + std::to_string(most_workers));
  }
  if (options.depth == 0) throw InvalidArgument("a depth of 0 leaves nothing to run; it must be at least 1");
  if (options.scratch.empty()) options.scratch = variable("GRANARY_SCRATCH");
  if (!options.scratch.empty()) check_directory(options.scratch);
  if (options.scratch.empty()) options.scratch = variable("TMPDIR");
  if (options.scratch.empty()) options.scratch = "/var/tmp";
  return options;
}

}  // namespace granary
