// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/cholesky_codelets.hpp>
#include <granary/linalg/not_positive_definite.hpp>
#include <granary/linalg/tile_call.hpp>

#include <type_traits>

namespace granary {
namespace {

using detail::input_tile;
using detail::output_tile;
using detail::parameters_of;

template <class T>
void run_potrf(KernelCall const& call) {
  auto const& p = parameters_of<TileCall>(call);
  int const minor = kernels::potrf(Uplo::Lower, output_tile<T>(call, 0, p.n, p.n, p.ldc, p.layout));
  if (minor > 0) throw NotPositiveDefinite(p.first + static_cast<std::uint64_t>(minor));
}

template <class T>
void run_trsm(KernelCall const& call) {
  auto const& p = parameters_of<TileCall>(call);
  kernels::trsm(Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, T(1),
                input_tile<T>(call, 0, p.n, p.n, p.lda, p.layout), output_tile<T>(call, 1, p.m, p.n, p.ldc, p.layout));
}

template <class T>
void run_syrk(KernelCall const& call) {
  auto const& p = parameters_of<TileCall>(call);
  kernels::syrk(Uplo::Lower, Op::NoTrans, T(-1), input_tile<T>(call, 0, p.n, p.k, p.lda, p.layout), T(1),
                output_tile<T>(call, 1, p.n, p.n, p.ldc, p.layout));
}

template <class T>
void run_gemm(KernelCall const& call) {
  auto const& p = parameters_of<TileCall>(call);
  kernels::gemm(Op::NoTrans, Op::Trans, T(-1), input_tile<T>(call, 0, p.m, p.k, p.lda, p.layout),
                input_tile<T>(call, 1, p.n, p.k, p.ldb, p.layout), T(1),
                output_tile<T>(call, 2, p.m, p.n, p.ldc, p.layout));
}

}  // namespace

template <class T>
CholeskyCodelets add_cholesky_codelets(Submitter& submitter) {
  auto const add = [&](char const* name, Kernel kernel) {
    return submitter.add_codelet({.name = name,
                                  .kernels = {kernel, nullptr},
                                  .launches_kokkos_kernels = false,
                                  .variant = std::is_same_v<T, float> ? "s" : "d"});
  };
  return {add("potrf", run_potrf<T>), add("trsm", run_trsm<T>), add("syrk", run_syrk<T>), add("gemm", run_gemm<T>)};
}

template CholeskyCodelets add_cholesky_codelets<float>(Submitter&);
template CholeskyCodelets add_cholesky_codelets<double>(Submitter&);

}  // namespace granary
