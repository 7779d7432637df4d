// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/engine.hpp>

#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// Whether a Kokkos Tools library was loaded (KOKKOS_TOOLS_LIBS). Kokkos must be initialised.
[[nodiscard]] bool tools_listen();

/// Lets Kokkos Tools see what the backends do from now on: each kernel as a region `granary::CODELET` of the thread
/// that runs or launches it, each copy as a section `granary::FROM -> TO`. Calls of the tool are made one at a time;
/// regions of several threads overlap, as tools that keep them by thread expect.
void show_to_tools(EngineBackends& backends, Machine const& machine);

/// A fact of the run, as metadata.
void tell_tools(std::string const& key, std::string const& value);

}  // namespace granary

#pragma GCC visibility pop
