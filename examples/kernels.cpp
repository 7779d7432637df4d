// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C = A B by tasks whose bodies call Kokkos Kernels.
#include <granary/granary.hpp>

#include <KokkosBlas3_gemm.hpp>

#include <cstdio>

// [body]
struct Gemm {
  template <class Exec, class A, class B, class C>
  void operator()(Exec const& exec, A a, B b, C c) const {
#if KOKKOS_VERSION >= 40100
    KokkosBlas::gemm(exec, "N", "N", 1.0, a, b, 1.0, c);  // on this instance
#else
    static_cast<void>(exec);
    KokkosBlas::gemm("N", "N", 1.0, a, b, 1.0, c);
#endif
  }
};
// [body]

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  std::size_t const n = 256;
  Matrix a("A", n, n), b("B", n, n), c("C", n, n);
  Kokkos::deep_copy(a, 1.0);
  Kokkos::deep_copy(b, 2.0);
  granary::Runtime runtime;
  auto const da = runtime.data(a), db = runtime.data(b), dc = runtime.data(c);
  for (int step = 0; step < 3; ++step) runtime.submit("gemm", Gemm{}, read(da), read(db), read_write(dc));
  runtime.wait();
  std::printf("C = %g everywhere\n", c(n - 1, 0));
  return c(n - 1, 0) == 6.0 * n ? 0 : 1;
}
