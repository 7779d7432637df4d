// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shortest paths between all vertices of a graph (blocked Floyd-Warshall), with a matrix of distances larger than the
// memory limit. Each block is a temporary, each update of a block a task; blocks that do not fit go to a scratch file.
// The distances are compared with the results of the triple loop in Kokkos, in memory.
// Arguments: blocks along an edge of the matrix (default 8), vertices of a block (default 128).
#include <granary/granary.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

// The length of the edge from i to j: an integer, so that all sums are exact.
double edge(std::size_t i, std::size_t j) {
  return i == j ? 0 : static_cast<double>((i * 2654435761u ^ j * 2246822519u) % 100003);
}

// Lets the paths of `out` pass through each vertex k: from i to k in `left`, from k to j in `right`.
template <class Left, class Right, class Out>
void shorten(Left left, Right right, Out out) {
  for (std::size_t k = 0; k < right.extent(0); ++k) {
    for (std::size_t i = 0; i < out.extent(0); ++i) {
      double const to_k = left(i, k);
      for (std::size_t j = 0; j < out.extent(1); ++j) out(i, j) = std::min(out(i, j), to_k + right(k, j));
    }
  }
}

// Bodies with plain loops: with any version of Kokkos they run concurrently.
struct PlainLoops {
  static constexpr bool launches_kokkos_kernels = false;
};
struct Diagonal : PlainLoops {
  void operator()(auto const&, auto d) const { shorten(d, d, d); }
};
struct Row : PlainLoops {
  void operator()(auto const&, auto diagonal, auto d) const { shorten(diagonal, d, d); }
};
struct Column : PlainLoops {
  void operator()(auto const&, auto diagonal, auto d) const { shorten(d, diagonal, d); }
};
struct Rest : PlainLoops {
  void operator()(auto const&, auto left, auto right, auto d) const { shorten(left, right, d); }
};

struct Fill {
  static constexpr bool launches_kokkos_kernels = false;
  std::size_t row, column;  // of the first element
  void operator()(auto const&, auto d) const {
    for (std::size_t i = 0; i < d.extent(0); ++i)
      for (std::size_t j = 0; j < d.extent(1); ++j) d(i, j) = edge(row + i, column + j);
  }
};
struct CountDifferent : PlainLoops {
  void operator()(auto const&, auto d, auto expected, auto count) const {
    for (std::size_t i = 0; i < d.extent(0); ++i)
      for (std::size_t j = 0; j < d.extent(1); ++j) count() += d(i, j) != expected(i, j);
  }
};

auto run_plain(std::size_t n) {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> d("distances", n, n);
  Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace> const rows(0, n);
  Kokkos::parallel_for("fill", rows, [=](std::size_t i) {
    for (std::size_t j = 0; j < n; ++j) d(i, j) = edge(i, j);
  });
  for (std::size_t k = 0; k < n; ++k) {
    Kokkos::parallel_for("shorten", rows, [=](std::size_t i) {
      double const to_k = d(i, k);
      for (std::size_t j = 0; j < n; ++j) d(i, j) = std::min(d(i, j), to_k + d(k, j));
    });
  }
  return d;
}

int compare(std::size_t blocks, std::size_t b) {
  Kokkos::Timer timer;
  auto const expected = run_plain(blocks * b);
  double const plain_time = timer.seconds();

  granary::Runtime runtime({.host_memory = expected.size() * sizeof(double) / 2});
  timer.reset();
  std::vector<std::vector<granary::Temporary<decltype(expected)>>> d(blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    for (std::size_t j = 0; j < blocks; ++j) {
      d[i].push_back(runtime.temporary<double>("d(" + std::to_string(i) + "," + std::to_string(j) + ")", b, b));
      runtime.submit("fill", Fill{i * b, j * b}, write(d[i][j]));
    }
  }
  for (std::size_t k = 0; k < blocks; ++k) {
    runtime.submit("diagonal", Diagonal{}, read_write(d[k][k]));
    for (std::size_t i = 0; i < blocks; ++i) {
      if (i == k) continue;
      runtime.submit("row", Row{}, read(d[k][k]), read_write(d[k][i]));
      runtime.submit("column", Column{}, read(d[k][k]), read_write(d[i][k]));
    }
    for (std::size_t i = 0; i < blocks; ++i)
      for (std::size_t j = 0; j < blocks; ++j)
        if (i != k && j != k) runtime.submit("rest", Rest{}, read(d[i][k]), read(d[k][j]), read_write(d[i][j]));
  }
  runtime.wait();
  double const time = timer.seconds();
  auto wrong = runtime.scalar<std::size_t>("wrong");
  for (std::size_t i = 0; i < blocks; ++i) {
    for (std::size_t j = 0; j < blocks; ++j) {
      auto const part = Kokkos::subview(expected, std::pair(i * b, (i + 1) * b), std::pair(j * b, (j + 1) * b));
      runtime.submit("count", CountDifferent{}, read(d[i][j]), read(runtime.data(part)), reduce(wrong, granary::Sum{}));
    }
  }
  std::printf("%zu distances differ; granary with %s of scratch traffic %.3f s, plain Kokkos %.3f s, ratio %.2f\n",
              wrong.get(),
              granary::format_bytes(runtime.figures().bytes_written + runtime.figures().bytes_read).c_str(), time,
              plain_time, time / plain_time);
  return wrong.get() == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return compare(argc > 1 ? std::stoul(argv[1]) : 8, argc > 2 ? std::stoul(argv[2]) : 128);
}
