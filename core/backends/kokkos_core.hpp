// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Kokkos' templates and what is instantiated with its types are the same in all libraries of a program, also where one
// is compiled with hidden visibility.
#pragma GCC visibility push(default)
#include <Kokkos_Core.hpp>
#pragma GCC visibility pop
