// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/load_policies.hpp"

#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

namespace granary::app {

void add_load_option(CLI::App& app, std::vector<std::string>& libraries) {
  app.add_option("--load", libraries, "shared library that registers policies; may be repeated");
}

void load_policies(std::vector<std::string> const& libraries) {
  for (auto const& library : libraries) {
    // Its static objects register the policies.
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) continue;
    char const* const reason = dlerror();
    throw InvalidArgument(fmt::format("cannot load policies: {}", reason != nullptr ? reason : library));
  }
}

}  // namespace granary::app
