// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/not_positive_definite.hpp>
#include <granary/linalg/tile_call.hpp>
#include <granary/linalg/tiles/blas3.hpp>

namespace granary::tiles {
namespace {

using detail::flops_of;
using detail::input_tile;
using detail::output_tile;
using detail::parameters_of;
using detail::read;
using detail::read_write;
using detail::tile_codelet;
using detail::TileShape;

// The operands of a task, in the order of its accesses; each operation uses the flags that it has.
template <class Scalar>
struct Call {
  TileShape a, b;
  Scalar alpha, beta;
  Side side = Side::Left;
  Uplo uplo = Uplo::Lower;
  Op op_a = Op::NoTrans, op_b = Op::NoTrans;
  Diag diag = Diag::NonUnit;
};

// Of GEMM and the like, with three tiles.
template <class Scalar>
struct Call3 : Call<Scalar> {
  TileShape c;
};

template <class T>
void run_gemm(KernelCall const& call) {
  auto const& p = parameters_of<Call3<T>>(call);
  kernels::gemm(p.op_a, p.op_b, p.alpha, input_tile<T>(call, 0, p.a), input_tile<T>(call, 1, p.b), p.beta,
                output_tile<T>(call, 2, p.c));
}

template <class T>
void run_herk(KernelCall const& call) {
  auto const& p = parameters_of<Call<RealOf<T>>>(call);
  kernels::herk(p.uplo, p.op_a, p.alpha, input_tile<T>(call, 0, p.a), p.beta, output_tile<T>(call, 1, p.b));
}

template <class T>
void run_syrk(KernelCall const& call) {
  auto const& p = parameters_of<Call<T>>(call);
  kernels::syrk(p.uplo, p.op_a, p.alpha, input_tile<T>(call, 0, p.a), p.beta, output_tile<T>(call, 1, p.b));
}

template <class T>
void run_hemm(KernelCall const& call) {
  auto const& p = parameters_of<Call3<T>>(call);
  kernels::hemm(p.side, p.uplo, p.alpha, input_tile<T>(call, 0, p.a), input_tile<T>(call, 1, p.b), p.beta,
                output_tile<T>(call, 2, p.c));
}

template <class T>
void run_trsm(KernelCall const& call) {
  auto const& p = parameters_of<Call<T>>(call);
  kernels::trsm(p.side, p.uplo, p.op_a, p.diag, p.alpha, input_tile<T>(call, 0, p.a), output_tile<T>(call, 1, p.b));
}

template <class T>
void run_trmm(KernelCall const& call) {
  auto const& p = parameters_of<Call<T>>(call);
  kernels::trmm(p.side, p.uplo, p.op_a, p.diag, p.alpha, input_tile<T>(call, 0, p.a), output_tile<T>(call, 1, p.b));
}

struct PotrfCall {
  TileShape a;
  Uplo uplo = Uplo::Lower;
  std::uint64_t first = 0;
};

template <class T>
void run_potrf(KernelCall const& call) {
  auto const& p = parameters_of<PotrfCall>(call);
  int const minor = kernels::potrf(p.uplo, output_tile<T>(call, 0, p.a));
  if (minor > 0) throw NotPositiveDefinite(p.first + static_cast<std::uint64_t>(minor));
}

template <class T>
Codelet const gemm_codelet = tile_codelet<T>("gemm", run_gemm<T>);
template <class T>
Codelet const herk_codelet = tile_codelet<T>(is_complex<T> ? "herk" : "syrk", run_herk<T>);
template <class T>
Codelet const syrk_codelet = tile_codelet<T>("syrk", run_syrk<T>);
template <class T>
Codelet const hemm_codelet = tile_codelet<T>(is_complex<T> ? "hemm" : "symm", run_hemm<T>);
template <class T>
Codelet const trsm_codelet = tile_codelet<T>("trsm", run_trsm<T>);
// The two of an LU factorization have names of their own, as in the DARTS paper: their speeds differ on devices.
template <class T>
Codelet const trsm_ll_codelet = tile_codelet<T>("trsm_ll", run_trsm<T>);
template <class T>
Codelet const trsm_ru_codelet = tile_codelet<T>("trsm_ru", run_trsm<T>);
template <class T>
Codelet const trmm_codelet = tile_codelet<T>("trmm", run_trmm<T>);
template <class T>
Codelet const potrf_codelet = tile_codelet<T>("potrf", run_potrf<T>);

// Entries of C that its task updates, times the inner dimension.
double volume(TileRef const& c, std::int32_t inner) {
  return static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(inner);
}
double triangle_volume(TileRef const& a, Op op, TileRef const& c) {
  auto const n = static_cast<double>(c.rows);
  return n * (n + 1) / 2 * static_cast<double>(op == Op::NoTrans ? a.cols : a.rows);
}

}  // namespace

template <class T>
void gemm(TaskEmitter& tasks, Op op_a, Op op_b, T alpha, TileRef const& a, TileRef const& b, T beta, TileRef const& c,
          std::int64_t priority) {
  Call3<T> call{{a, b, alpha, beta, {}, {}, op_a, op_b}, c};
  tasks.emit(gemm_codelet<T>, {read(a), read(b), beta == T(0) ? detail::write(c) : read_write(c)}, priority,
             flops_of<T>(volume(c, op_a == Op::NoTrans ? a.cols : a.rows)), call);
}

template <class T>
void herk(TaskEmitter& tasks, Uplo uplo, Op op, RealOf<T> alpha, TileRef const& a, RealOf<T> beta, TileRef const& c,
          std::int64_t priority) {
  Call<RealOf<T>> call{a, c, alpha, beta, {}, uplo, op};
  tasks.emit(herk_codelet<T>, {read(a), read_write(c)}, priority, flops_of<T>(triangle_volume(a, op, c)), call);
}

template <class T>
void syrk(TaskEmitter& tasks, Uplo uplo, Op op, T alpha, TileRef const& a, T beta, TileRef const& c,
          std::int64_t priority) {
  Call<T> call{a, c, alpha, beta, {}, uplo, op};
  tasks.emit(syrk_codelet<T>, {read(a), read_write(c)}, priority, flops_of<T>(triangle_volume(a, op, c)), call);
}

template <class T>
void hemm(TaskEmitter& tasks, Side side, Uplo uplo, T alpha, TileRef const& a, TileRef const& b, T beta,
          TileRef const& c, std::int64_t priority) {
  Call3<T> call{{a, b, alpha, beta, side, uplo}, c};
  tasks.emit(hemm_codelet<T>, {read(a), read(b), beta == T(0) ? detail::write(c) : read_write(c)}, priority,
             flops_of<T>(volume(c, a.rows)), call);
}

template <class T>
void trsm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, TileRef const& a, TileRef const& b,
          std::int64_t priority) {
  Call<T> call{a, b, alpha, T(0), side, uplo, op, {}, diag};
  auto const& codelet = op != Op::NoTrans                                    ? trsm_codelet<T>
                        : side == Side::Left && uplo == Uplo::Lower          ? trsm_ll_codelet<T>
                        : side == Side::Right && uplo == Uplo::Upper         ? trsm_ru_codelet<T>
                                                                             : trsm_codelet<T>;
  tasks.emit(codelet, {read(a), read_write(b)}, priority, flops_of<T>(volume(b, a.rows) / 2), call);
}

template <class T>
void trmm(TaskEmitter& tasks, Side side, Uplo uplo, Op op, Diag diag, T alpha, TileRef const& a, TileRef const& b,
          std::int64_t priority) {
  Call<T> call{a, b, alpha, T(0), side, uplo, op, {}, diag};
  tasks.emit(trmm_codelet<T>, {read(a), read_write(b)}, priority, flops_of<T>(volume(b, a.rows) / 2), call);
}

template <class T>
void potrf(TaskEmitter& tasks, Uplo uplo, TileRef const& a, std::uint64_t first, std::int64_t priority) {
  double const n = a.rows;
  tasks.emit(potrf_codelet<T>, {read_write(a)}, priority, flops_of<T>(n * n * n / 6), PotrfCall{a, uplo, first});
}

#define GRANARY_INSTANTIATE(T)                                                                                        \
  template void gemm(TaskEmitter&, Op, Op, T, TileRef const&, TileRef const&, T, TileRef const&, std::int64_t);       \
  template void herk<T>(TaskEmitter&, Uplo, Op, RealOf<T>, TileRef const&, RealOf<T>, TileRef const&, std::int64_t);  \
  template void syrk(TaskEmitter&, Uplo, Op, T, TileRef const&, T, TileRef const&, std::int64_t);                     \
  template void hemm(TaskEmitter&, Side, Uplo, T, TileRef const&, TileRef const&, T, TileRef const&, std::int64_t);   \
  template void trsm(TaskEmitter&, Side, Uplo, Op, Diag, T, TileRef const&, TileRef const&, std::int64_t);            \
  template void trmm(TaskEmitter&, Side, Uplo, Op, Diag, T, TileRef const&, TileRef const&, std::int64_t);            \
  template void potrf<T>(TaskEmitter&, Uplo, TileRef const&, std::uint64_t, std::int64_t);
GRANARY_INSTANTIATE(float)
GRANARY_INSTANTIATE(double)
GRANARY_INSTANTIATE(Kokkos::complex<float>)
GRANARY_INSTANTIATE(Kokkos::complex<double>)
#undef GRANARY_INSTANTIATE

}  // namespace granary::tiles
