// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>

int main(int argc, char** argv) { Kokkos::ScopeGuard const guard(argc, argv); }
