// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A progress line, or calls of your own, while tasks run (docs/services.md).
#include <granary/detail/runtime/api/progress.hpp>
