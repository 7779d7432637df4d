// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Schedulers and eviction policies of your own, and the names of all (docs/policies.md).
#include <granary/detail/core/policy/eviction_policy.hpp>
#include <granary/detail/core/policy/model_names.hpp>
#include <granary/detail/core/policy/plan_board.hpp>
#include <granary/detail/core/policy/policy_set.hpp>
#include <granary/detail/core/policy/scheduler.hpp>
#include <granary/detail/core/policy/scheduler_extensions.hpp>
#include <granary/detail/core/policy/system_view.hpp>
#include <granary/detail/core/policy/task_slots.hpp>
#include <granary/detail/core/policy/task_table.hpp>
#include <granary/detail/policies/registry.hpp>
