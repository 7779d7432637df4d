// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = A x, three times, on cores and devices: the same body runs everywhere. The argument selects devices: all, 0,1 or
// host:N for N emulated ones (default: host:2), whose memories together do not hold A.
#include <granary/granary.hpp>

#include <cstdio>
#include <exception>
#include <vector>

namespace {

// [body]
struct Multiply {
  template <class Exec, class A, class X, class Y>
  void operator()(Exec const& exec, A a, X x, Y y) const {
    Kokkos::parallel_for(
        "multiply", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)), KOKKOS_LAMBDA(int i) {
          double sum = 0;
          for (std::size_t j = 0; j < a.extent(1); ++j) sum += a(i, j) * x(j);
          y(i) = sum;
        });
  }
};
// [body]

constexpr std::size_t n = 1024;
constexpr std::size_t block = 128;
constexpr int steps = 3;

void print(granary::Runtime const& runtime) {
  using granary::format_bytes;
  auto tasks = steps * n / block;
  for (auto const& device : runtime.figures().devices) {
    tasks -= device.tasks;
    std::printf("%s (%s): %llu tasks, %s of %s used\n", device.name.c_str(), device.description.c_str(),
                static_cast<unsigned long long>(device.tasks), format_bytes(device.peak).c_str(),
                format_bytes(device.limit).c_str());
  }
  auto const traffic = runtime.figures().device_traffic;
  std::printf("cores: %zu tasks\nmoved to devices %s, back %s, between devices %s\n", tasks,
              format_bytes(traffic.from_host).c_str(), format_bytes(traffic.to_host).c_str(),
              format_bytes(traffic.between).c_str());
}

int multiply(std::string const& devices) {
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a("A", n, n);
  Kokkos::View<double*, Kokkos::HostSpace> x("x", n), y("y", n);
  Kokkos::deep_copy(a, 0.5);
  Kokkos::deep_copy(x, 2.0);

  // [tasks]
  using namespace granary::literals;
  bool const emulated = devices.starts_with("host:");
  granary::Runtime runtime({.devices = devices, .device_memory = emulated ? 2_MiB : 0});
  auto dx = runtime.data(x);
  std::vector<granary::Data<decltype(a)>> rows;
  std::vector<granary::Data<decltype(y)>> results;
  for (std::size_t first = 0; first < n; first += block) {
    auto const range = std::pair(first, first + block);
    rows.push_back(runtime.data(decltype(a)(Kokkos::subview(a, range, Kokkos::ALL))));
    results.push_back(runtime.data(decltype(y)(Kokkos::subview(y, range))));
  }
  for (int step = 0; step < steps; ++step) {
    for (std::size_t b = 0; b < rows.size(); ++b) {
      runtime.submit({.name = "multiply", .flops = 2.0 * block * n}, Multiply{}, read(rows[b]), read(dx),
                     write(results[b]));
    }
  }
  runtime.wait();
  // [tasks]

  print(runtime);
  for (std::size_t i = 0; i < n; ++i) {
    if (y(i) == static_cast<double>(n)) continue;
    std::printf("y(%zu) is %g, not %zu\n", i, y(i), n);
    return 1;
  }
  std::printf("y = %zu everywhere\n", n);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    return multiply(argc > 1 ? argv[1] : "host:2");
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
