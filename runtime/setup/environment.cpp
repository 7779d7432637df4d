// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/environment.hpp>

#include <granary/detail/runtime/setup/options.hpp>

#include <charconv>
#include <cstdlib>

namespace granary {

std::string environment_variable(char const* name) {
  char const* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string models_directory() {
  if (auto named = environment_variable("GRANARY_MODELS"); !named.empty()) return named;
  auto cache = environment_variable("XDG_CACHE_HOME");
  if (!cache.starts_with('/')) {  // the specification says to ignore relative paths
    auto const home = environment_variable("HOME");
    if (home.empty()) return models_off;
    cache = home + "/.cache";
  }
  return cache + "/granary";
}

bool is_in_environment(std::string const& name) { return std::getenv(name.c_str()) != nullptr; }

unsigned openmp_threads() {
  auto const text = environment_variable("OMP_NUM_THREADS");
  unsigned count = 0;
  return std::from_chars(text.data(), text.data() + text.size(), count).ec == std::errc{} ? count : 0;
}

}  // namespace granary
