// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Data whose values differ in size (docs/library.md).
#include <granary/detail/runtime/api/varying.hpp>
