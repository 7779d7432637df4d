// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Kokkos' templates and their instantiations must be the same in all libraries of a program, even if one is compiled
// with hidden visibility.
#pragma GCC visibility push(default)
#include <Kokkos_Core.hpp>
#pragma GCC visibility pop
