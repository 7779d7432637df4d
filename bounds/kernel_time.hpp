// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <functional>
#include <optional>

namespace granary::detail {

/// The time of a codelet's kernel of `flops` operations on a worker; empty if it cannot run there. Called once for each
/// worker and each pair of codelet and operations.
using KernelTime = std::function<std::optional<Duration>(Codelet const& codelet, double flops, Worker const& worker)>;

}  // namespace granary::detail
