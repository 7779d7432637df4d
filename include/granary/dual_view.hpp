// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A Kokkos::DualView as data (docs/data-places.md).
#include <granary/detail/runtime/api/dual_view.hpp>
