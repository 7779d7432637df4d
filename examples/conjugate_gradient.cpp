// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conjugate gradients without a barrier, for one step of heat diffusion on a ring. Vectors are cut into parts. The dot
// products are reductions into scalars, from which small tasks compute alpha and beta, so all iterations are submitted
// before one wait. Plain Kokkos runs the same kernels on whole vectors. Argument: size of a part (default 262144).
#include <granary/granary.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

constexpr std::size_t parts = 8;
constexpr int iterations = 30;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Vectors {
  explicit Vectors(std::size_t n) : x("x", n), r("r", n), p("p", n), q("q", n) {
    for (std::size_t i = 0; i < n; ++i) r(i) = p(i) = static_cast<double>(i % 7);
    for (std::size_t i = 0; i < n; ++i) rr += r(i) * r(i);
  }
  Vector x, r, p, q;
  double rr = 0;
};

// The kernels, for an element i.
auto apply(auto left, auto p, auto right, auto q) {  // q = A p
  return [=, n = p.extent(0)](std::size_t i, double& pq) {
    q(i) = 5 * p(i) - 2 * (i > 0 ? p(i - 1) : left(n - 1)) - 2 * (i + 1 < n ? p(i + 1) : right(0));
    pq += p(i) * q(i);
  };
}
auto update(double alpha, auto p, auto q, auto x, auto r) {
  return [=](std::size_t i, double& rr) {
    x(i) += alpha * p(i);
    r(i) -= alpha * q(i);
    rr += r(i) * r(i);
  };
}

double sum(std::size_t n, auto const& kernel) {
  double result = 0;
  for (std::size_t i = 0; i < n; ++i) kernel(i, result);
  return result;
}

struct PlainLoops {  // bodies that run concurrently with any version of Kokkos
  static constexpr bool launches_kokkos_kernels = false;
};
struct Apply : PlainLoops {
  void operator()(auto const&, auto left, auto p, auto right, auto q, auto pq) const {
    pq() += sum(p.extent(0), apply(left, p, right, q));
  }
};
struct Alpha : PlainLoops {
  void operator()(auto const&, auto rr, auto pq, auto alpha) const { alpha() = rr() / std::exchange(pq(), 0); }
};
struct Update : PlainLoops {
  void operator()(auto const&, auto alpha, auto p, auto q, auto x, auto r, auto rr) const {
    rr() += sum(p.extent(0), update(alpha(), p, q, x, r));
  }
};
struct Beta : PlainLoops {
  void operator()(auto const&, auto next_rr, auto rr, auto beta) const {
    beta() = next_rr() / rr();
    rr() = std::exchange(next_rr(), 0);
  }
};
struct Direction : PlainLoops {
  void operator()(auto const&, auto beta, auto r, auto p) const {
    for (std::size_t i = 0; i < p.extent(0); ++i) p(i) = r(i) + beta() * p(i);
  }
};

void run_tasks(granary::Runtime& runtime, Vectors const& v) {
  auto const cut = [&](Vector const& w) { return runtime.partition(runtime.data(w), w.extent(0) / parts); };
  auto const x = cut(v.x), r = cut(v.r), p = cut(v.p), q = cut(v.q);
  auto rr = runtime.scalar("r r", v.rr), next_rr = runtime.scalar("next r r", 0.0), pq = runtime.scalar("p q", 0.0);
  auto alpha = runtime.scalar("alpha", 0.0), beta = runtime.scalar("beta", 0.0);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t b = 0; b < parts; ++b)
      runtime.submit("apply", Apply{}, read(p((b + parts - 1) % parts)), read(p(b)), read(p((b + 1) % parts)),
                     write(q(b)), reduce(pq, granary::Sum{}));
    runtime.submit("alpha", Alpha{}, read(rr), read_write(pq), write(alpha));
    for (std::size_t b = 0; b < parts; ++b)
      runtime.submit("update", Update{}, read(alpha), read(p(b)), read(q(b)), read_write(x(b)), read_write(r(b)),
                     reduce(next_rr, granary::Sum{}));
    runtime.submit("beta", Beta{}, read_write(next_rr), read_write(rr), write(beta));
    for (std::size_t b = 0; b < parts; ++b)
      runtime.submit("direction", Direction{}, read(beta), read(r(b)), read_write(p(b)));
  }
  runtime.wait();
}

void run_plain(Vectors const& v) {
  Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace> const all(0, v.x.extent(0));
  double rr = v.rr, next_rr = 0, pq = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    Kokkos::parallel_reduce("apply", all, apply(v.p, v.p, v.p, v.q), pq);
    Kokkos::parallel_reduce("update", all, update(rr / pq, v.p, v.q, v.x, v.r), next_rr);
    double const beta = next_rr / std::exchange(rr, next_rr);
    Kokkos::parallel_for("direction", all, [=](std::size_t i) { v.p(i) = v.r(i) + beta * v.p(i); });
  }
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::size_t const n = parts * (argc > 1 ? std::stoul(argv[1]) : 262144);
  Vectors const v(n), w(n);
  granary::Runtime runtime;
  Kokkos::Timer timer;
  run_tasks(runtime, v);
  double const time = timer.seconds();
  run_plain(w);
  double const plain = timer.seconds() - time;
  double error = 0;
  for (std::size_t i = 0; i < n; ++i) error += std::abs(v.x(i) - w.x(i)) / static_cast<double>(n);
  std::printf("mean difference %.1e; granary %.3f s, Kokkos %.3f s, ratio %.2f\n", error, time, plain, time / plain);
  return error < 1e-12 ? 0 : 1;
}
