// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The runtime of the vendor that granary is built for, whose functions have the same names but for the prefix:
/// GRANARY_GPU(Malloc) is cudaMalloc or hipMalloc. Empty in a build for neither.
#if defined(GRANARY_HAVE_CUDA)
#include <cuda_runtime_api.h>
#define GRANARY_GPU(name) cuda##name
static_assert(CUDART_VERSION >= 12000, "granary needs CUDA 12 or newer");
#elif defined(GRANARY_HAVE_HIP)
#include <hip/hip_runtime_api.h>
#define GRANARY_GPU(name) hip##name
#endif
