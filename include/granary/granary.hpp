// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Everything that an application needs except linear algebra, which is in <granary/linalg.hpp>.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/api/runtime.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/version.hpp>
