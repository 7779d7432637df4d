// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/choose_blas.hpp"
#include "apps/common/probe_blas.hpp"

#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace granary::app {

using namespace detail;

namespace {

// Set for the new start: the library that was to be loaded, and the kernels that BLAS had chosen by itself.
constexpr char const* loaded_variable = "GRANARY_BLAS_LOADED";
constexpr char const* kernels_variable = "GRANARY_BLAS_KERNELS";
// Set for a child that only tries the library.
constexpr char const* probe_variable = "GRANARY_BLAS_PROBE";

bool is_set(char const* variable) { return std::getenv(variable) != nullptr; }

std::optional<std::string> blas_option(char* const* arguments) {
  constexpr std::string_view name = "--blas";
  std::optional<std::string> file;
  for (; *arguments != nullptr && std::string_view(*arguments) != "--"; ++arguments) {
    std::string_view const argument = *arguments;
    if (argument == name && arguments[1] != nullptr) file = *++arguments;
    if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
      file = argument.substr(name.size() + 1);
    }
  }
  return file;
}

// Returns only if this system cannot do it.
void start_again(char* const* arguments) {
  std::error_code error;
  auto const self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) ::execv(self.c_str(), arguments);
}

void refuse_if_wrong(std::string const& option, std::function<void()> const& probe) {
  auto const fault = fault_in_child(probe);
  if (!fault.empty()) throw InvalidArgument(fmt::format("{}: {}", option, fault));
}

// True if LD_PRELOAD names the library.
bool is_preloaded(BlasLibrary const& blas) {
  char const* const preload = std::getenv("LD_PRELOAD");
  auto const name = std::filesystem::path(blas.file).filename().string();
  return preload != nullptr && !name.empty() && std::string_view(preload).find(name) != std::string_view::npos;
}

// True if the process's dgemm_ is the library's.
bool uses(std::string const& file) {
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Close> const library(::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL));
  if (!library) throw InvalidArgument(fmt::format("--blas {}: {}", file, ::dlerror()));
  void* const dgemm = ::dlsym(library.get(), "dgemm_");
  if (dgemm == nullptr) throw InvalidArgument(fmt::format("--blas {}: the library has no function dgemm_", file));
  return dgemm == ::dlsym(RTLD_DEFAULT, "dgemm_");
}

void load(std::string const& file, char* const* arguments) {
  if (uses(file)) return;
  if (file.find_first_of(" :") != std::string::npos) {
    throw InvalidArgument(
        fmt::format("--blas {}: a blank or a colon separates the files of LD_PRELOAD; use a path without", file));
  }
  if (!is_set(loaded_variable)) {
    char const* const before = std::getenv("LD_PRELOAD");
    ::setenv("LD_PRELOAD", (before == nullptr ? file : file + ":" + before).c_str(), 1);
    ::setenv(loaded_variable, file.c_str(), 1);
    ::setenv(probe_variable, "1", 1);
    // Some libraries end the process already when they are loaded.
    refuse_if_wrong("--blas " + file, [&] { start_again(arguments); });
    ::unsetenv(probe_variable);
    start_again(arguments);
  }
  auto const used = find_blas_library();
  throw InvalidArgument(fmt::format("--blas {}: the process uses {} nevertheless", file,
                                    used.file.empty() ? "the BLAS that is part of it" : used.file));
}

}  // namespace

void choose_blas(char* const* arguments) {
  if (is_set(probe_variable)) report_blas();
  if (auto const file = blas_option(arguments)) load(*file, arguments);
  auto const blas = find_blas_library();
  auto const setting = faster_blas_setting(blas, processor_vector_units());
  if (setting && !is_set(setting->variable.c_str()) && !is_set(kernels_variable)) {
    ::setenv(setting->variable.c_str(), setting->value.c_str(), 1);
    ::setenv(kernels_variable, blas.kernels.c_str(), 1);
    start_again(arguments);
  }
  if (is_preloaded(blas) && !is_set(loaded_variable)) refuse_if_wrong("LD_PRELOAD of " + blas.file, report_blas);
}

std::string kernels_before_choice() {
  char const* const kernels = std::getenv(kernels_variable);
  return kernels == nullptr ? "" : kernels;
}

std::string describe_kernels(BlasLibrary const& blas) {
  if (blas.kernels.empty()) return blas.name + " does not tell its kernels";
  auto text = fmt::format("{} ({})", blas.kernels, name_of(blas.vectors()));
  auto const before = kernels_before_choice();
  if (!before.empty() && before != blas.kernels) {
    text += fmt::format(", chosen by granary; {} alone chooses {}", blas.name, before);
  } else if (auto const setting = faster_blas_setting(blas, processor_vector_units())) {
    auto const remedy = fmt::format("{}={}", setting->variable, setting->value);
    text += ", slower than this processor allows";
    text += before.empty() ? ": set " + remedy : ", and " + remedy + " changes nothing";
  }
  return text;
}

}  // namespace granary::app
