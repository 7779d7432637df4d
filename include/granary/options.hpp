// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The options of a Runtime, without the Runtime: RuntimeOptions and units of bytes (docs/library.md).
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/runtime/setup/options.hpp>
