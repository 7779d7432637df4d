// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One runtime per process of MPI (docs/hpc-nodes.md).
#include <granary/detail/mpi/runtime.hpp>
