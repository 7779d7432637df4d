// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

namespace granary::app {

/// True if this process's GEMM, TRSM and POTRF compute a small example right with 32-bit integers. A library with
/// 64-bit integers fails: behind each number it finds ones. It may also end the process: call this in a child.
[[nodiscard]] bool blas_is_right();

/// The fault of BLAS in a child process, where `probe` runs: the end of a sentence after its name. Empty if `probe`
/// ends the child as report_blas does if BLAS is right; if no child can be started; and if `probe` returns. The child
/// prints nothing, and is ended after a minute.
[[nodiscard]] std::string fault_in_child(std::function<void()> const& probe);

/// Ends a child of fault_in_child with the result of blas_is_right.
[[noreturn]] void report_blas();

}  // namespace granary::app
