// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/units.hpp>
#include <granary/granary.hpp>

int main() { return granary::parse_bytes("4KiB") == 4096 ? 0 : 1; }
