// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/blas_library.hpp>

#include <string>

namespace granary::app {

/// Of the option that choose_blas reads, for a program's help.
inline constexpr char const* blas_option_help =
    "BLAS library to use in place of the linked one: a file, or a name such as libblis.so.4";

/// Call it first in main, before threads, MPI or Kokkos start. BLAS is loaded and has chosen its kernels before main,
/// so the program starts itself again, with its arguments, where another start is faster:
/// - `--blas FILE` among the arguments: with this library in place of the linked one (LD_PRELOAD);
/// - the library has faster kernels for this processor (faster_blas_setting), and the user did not choose any.
/// Each at most once: variables of the environment remember it. A library of `--blas` or LD_PRELOAD is tried first, in
/// a child process. Throws InvalidArgument if FILE cannot be loaded, has no dgemm_, or is not used after that, and if
/// the library's GEMM, TRSM or POTRF is wrong or crashes, as with 64-bit integers.
void choose_blas(char* const* arguments);

/// The kernels that the library had chosen by itself; empty if this program did not choose others.
[[nodiscard]] std::string kernels_before_choice();

/// One line for users: which library, its kernels, and who chose them.
[[nodiscard]] std::string describe_kernels(detail::BlasLibrary const& blas);

}  // namespace granary::app
