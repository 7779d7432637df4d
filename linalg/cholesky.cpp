// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/cholesky.hpp>

#include <array>

namespace granary {
namespace {

// Emits one task per call, on tiles of the lower form.
template <class T>
class CholeskyEmitter {
 public:
  CholeskyEmitter(Submitter& submitter, CholeskyCodelets const& codelets, TiledMatrix<T> const& a,
                  CholeskyOptions const& options)
      : m_submitter(submitter),
        m_codelets(codelets),
        m_a(a),
        m_grid(a.grid()),
        m_priorities(a.grid().count(), options.times),
        m_prioritised(options.priorities) {}

  // A(k,k) := L(k,k)
  void potrf(std::uint64_t k) {
    double const n = size(k);
    emit(m_codelets.potrf, std::array{rw(k, k)}, m_priorities.potrf(k), n * n * n / 3, call(0, k, 0, m_grid.first(k)));
  }
  // A(i,k) := A(i,k) L(k,k)^-T
  void trsm(std::uint64_t i, std::uint64_t k) {
    emit(m_codelets.trsm, std::array{r(k, k), rw(i, k)}, m_priorities.trsm(i, k), size(i) * size(k) * size(k),
         call(i, k, 0));
  }
  // A(i,i) := A(i,i) - A(i,k) A(i,k)^T
  void syrk(std::uint64_t i, std::uint64_t k) {
    emit(m_codelets.syrk, std::array{r(i, k), rw(i, i)}, m_priorities.syrk(i, k), size(i) * (size(i) + 1) * size(k),
         call(0, i, k));
  }
  // A(i,j) := A(i,j) - A(i,k) A(j,k)^T
  void gemm(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    emit(m_codelets.gemm, std::array{r(i, k), r(j, k), rw(i, j)}, m_priorities.gemm(i, j, k),
         2 * size(i) * size(j) * size(k), call(i, j, k));
  }

 private:
  [[nodiscard]] double size(std::uint64_t i) const { return static_cast<double>(m_grid.size(i)); }
  [[nodiscard]] Access r(std::uint64_t i, std::uint64_t j) const { return {m_a.lower(i, j), AccessMode::Read}; }
  [[nodiscard]] Access rw(std::uint64_t i, std::uint64_t j) const { return {m_a.lower(i, j), AccessMode::ReadWrite}; }

  [[nodiscard]] TileCall call(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::uint64_t first = 0) const {
    auto const order = [&](std::uint64_t tile) { return static_cast<std::int32_t>(m_grid.size(tile)); };
    auto const leading = static_cast<std::int32_t>(m_a.leading());
    return {order(i), order(j), order(k), leading, leading, leading, m_a.lower_layout(), first};
  }
  void emit(CodeletId codelet, std::span<Access const> accesses, std::int64_t priority, double flops,
            TileCall const& call) {
    m_submitter.submit({codelet, accesses, m_prioritised ? priority : 0, flops}, Parameters(call));
  }

  Submitter& m_submitter;
  CholeskyCodelets const& m_codelets;
  TiledMatrix<T> const& m_a;
  TileGrid m_grid;
  CholeskyPriorities m_priorities;
  bool m_prioritised;
};

template <class T>
void right_looking(CholeskyEmitter<T>& emit, std::uint64_t count) {
  for (std::uint64_t k = 0; k < count; ++k) {
    emit.potrf(k);
    for (std::uint64_t i = k + 1; i < count; ++i) emit.trsm(i, k);
    for (std::uint64_t j = k + 1; j < count; ++j) {
      emit.syrk(j, k);
      for (std::uint64_t i = j + 1; i < count; ++i) emit.gemm(i, j, k);
    }
  }
}

template <class T>
void left_looking(CholeskyEmitter<T>& emit, std::uint64_t count) {
  for (std::uint64_t j = 0; j < count; ++j) {
    for (std::uint64_t k = 0; k < j; ++k) emit.syrk(j, k);
    emit.potrf(j);
    for (std::uint64_t i = j + 1; i < count; ++i) {
      for (std::uint64_t k = 0; k < j; ++k) emit.gemm(i, j, k);
      emit.trsm(i, j);
    }
  }
}

}  // namespace

template <class T>
void potrf(Submitter& submitter, CholeskyCodelets const& codelets, TiledMatrix<T> const& a,
           CholeskyOptions const& options) {
  CholeskyEmitter<T> emit(submitter, codelets, a, options);
  if (options.order == CholeskyOrder::RightLooking) {
    right_looking(emit, a.grid().count());
  } else {
    left_looking(emit, a.grid().count());
  }
}

template void potrf(Submitter&, CholeskyCodelets const&, TiledMatrix<float> const&, CholeskyOptions const&);
template void potrf(Submitter&, CholeskyCodelets const&, TiledMatrix<double> const&, CholeskyOptions const&);

}  // namespace granary
