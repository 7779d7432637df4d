// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The same decisions in virtual time, on machines that you describe (docs/simulation.md).
#include <granary/detail/auto/register_auto.hpp>
#include <granary/detail/core/policy/model_names.hpp>
#include <granary/detail/simulator/cluster/cluster_simulator.hpp>
#include <granary/detail/simulator/platform.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/simulator/simulator.hpp>
