// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

namespace granary::app {

/// Whether this process's GEMM, TRSM and POTRF compute a small example right with 32-bit integers. A library with
/// 64-bit integers fails: behind each number it finds ones. It may also end the process: call this in a child.
[[nodiscard]] bool blas_is_right();

/// Whether `probe`, called in a child process, ends it as report_blas does if BLAS is right. The child prints nothing,
/// and is ended after a minute. True if no child can be started, or if `probe` returns.
[[nodiscard]] bool child_finds_blas_right(std::function<void()> const& probe);

/// Ends a child of child_finds_blas_right with the result of blas_is_right.
[[noreturn]] void report_blas();

}  // namespace granary::app
