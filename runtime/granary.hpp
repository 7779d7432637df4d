// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Everything that an application needs except linear algebra, which is in <granary/linalg/...>.
#include <granary/core/base/error.hpp>
#include <granary/core/base/units.hpp>
#include <granary/runtime/config.hpp>
#include <granary/runtime/data.hpp>
#include <granary/runtime/runtime.hpp>
