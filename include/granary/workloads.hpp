// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Task graphs for the simulator, bounds of their time, and the search for schedules (docs/simulation.md).
#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/bounds/longest_path.hpp>
#include <granary/detail/bounds/transfer_bounds.hpp>
#include <granary/detail/core/policy/model_names.hpp>
#include <granary/detail/schedules/search/annealing.hpp>
#include <granary/detail/schedules/search/list_problem.hpp>
#include <granary/detail/schedules/search/list_schedule.hpp>
#include <granary/detail/workloads/assembly_tree.hpp>
#include <granary/detail/workloads/growing_cholesky.hpp>
#include <granary/detail/workloads/priorities.hpp>
#include <granary/detail/workloads/random_dag.hpp>
#include <granary/detail/workloads/random_layers.hpp>
#include <granary/detail/workloads/sliced_stencil.hpp>
#include <granary/detail/workloads/stencil.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>
#include <granary/detail/workloads/tiled_gemm.hpp>
#include <granary/detail/workloads/tiled_lu.hpp>
#include <granary/detail/workloads/workload.hpp>
