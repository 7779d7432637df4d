// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <string>

namespace granary {

/// The variable's value; empty when it is not set.
[[nodiscard]] GRANARY_EXPORT std::string environment_variable(char const* name);

/// The default of RuntimeOptions::models: GRANARY_MODELS; $XDG_CACHE_HOME/granary; $HOME/.cache/granary if that
/// variable is not an absolute path; "off" if there is no home directory.
[[nodiscard]] GRANARY_EXPORT std::string models_directory();

/// OMP_NUM_THREADS, of the outermost level; 0 if it is not set.
[[nodiscard]] GRANARY_EXPORT unsigned openmp_threads();

/// True if the variable is set, to whatever value.
[[nodiscard]] GRANARY_EXPORT bool is_in_environment(std::string const& variable);

}  // namespace granary
