// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/engine.hpp>

#include <string>

namespace granary::detail {

/// True if a Kokkos Tools library was loaded (KOKKOS_TOOLS_LIBS). Kokkos must be initialised.
[[nodiscard]] GRANARY_EXPORT bool tools_listen();

/// Reports the backends' work to Kokkos Tools from now on: each kernel as a region `granary::CODELET` of the thread
/// that runs or launches it, each copy as a section `granary::FROM -> TO`. Only one thread at a time calls the tool.
/// Regions of several threads overlap, as tools that keep them per thread expect.
GRANARY_EXPORT void show_to_tools(EngineBackends& backends, Machine const& machine);

/// Passes a property of the run to the tools, as metadata.
GRANARY_EXPORT void tell_tools(std::string const& key, std::string const& value);

}  // namespace granary::detail
