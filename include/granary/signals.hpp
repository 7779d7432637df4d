// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Signals end a run in order (docs/services.md).
#include <granary/detail/core/base/signal_watch.hpp>
