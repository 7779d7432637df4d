// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The exceptions that granary throws, and how an exception of your own keeps its task (docs/services.md).
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/task_error.hpp>
