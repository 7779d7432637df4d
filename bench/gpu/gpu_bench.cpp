// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors or inverts a matrix in host memory with granary's Runtime and optionally with the vendor's solver; checks
// every result and prints one line of JSON with the best of each. bench/gpu/gpu.py makes a CSV of such lines.
#include "bench/gpu/vendor_solver.hpp"
#include "bench/support/measure.hpp"

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/kokkos_start.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/linalg.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;
using bench::Operation;

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Vector = std::vector<double>;

std::map<std::string, Operation> const operations{
    {"potrf", Operation::Potrf}, {"getrf", Operation::Getrf}, {"potri", Operation::Potri}};
std::string const& name_of(Operation operation) {
  return std::ranges::find(operations, operation, &std::pair<std::string const, Operation>::second)->first;
}

struct Case {
  Operation operation = Operation::Potrf;
  std::uint64_t n = 0;
  std::string precision = "double";
  std::uint64_t tile = 2048;
  int repeats = 3;
  bool vendor = false;
  RuntimeOptions runtime;
};

// Calls body(first, last, sum) for parts of the columns on all threads; returns the sum of the sums.
Vector over_columns(std::uint64_t n, std::function<void(std::uint64_t, std::uint64_t, Vector&)> const& body) {
  std::uint64_t const threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<Vector> sums(threads, Vector(n));
  std::vector<std::thread> running;
  for (std::uint64_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] { body(n * t / threads, n * (t + 1) / threads, sums[t]); });
  }
  for (auto& thread : running) thread.join();
  for (std::uint64_t t = 1; t < threads; ++t) {
    std::transform(sums[0].begin(), sums[0].end(), sums[t].begin(), sums[0].begin(), std::plus<>());
  }
  return sums[0];
}

double probe(std::uint64_t i) { return 2 * unit_at(2, i, 0) - 1; }

// Fills A: symmetric positive definite, or uniform in [-1, 1]. Returns A x.
template <class T>
Vector fill(Matrix<T> const& a, bool symmetric) {
  auto const n = a.extent(0);
  return over_columns(n, [&](std::uint64_t first, std::uint64_t last, Vector& sum) {
    for (auto j = first; j < last; ++j) {
      for (std::uint64_t i = 0; i < n; ++i) {
        a(i, j) = static_cast<T>(symmetric ? spd_entry(n, 1, i, j) : 2 * unit_at(1, i, j) - 1);
        sum[i] += static_cast<double>(a(i, j)) * probe(j);
      }
    }
  });
}

// The product of the left factor (with unit diagonal for LU) and x.
template <class T>
Vector times_lower(Matrix<T> const& a, Vector const& x, bool unit) {
  auto const n = a.extent(0);
  return over_columns(n, [&](std::uint64_t first, std::uint64_t last, Vector& sum) {
    for (auto j = first; j < last; ++j) {
      sum[j] += (unit ? 1.0 : static_cast<double>(a(j, j))) * x[j];
      for (auto i = j + 1; i < n; ++i) sum[i] += static_cast<double>(a(i, j)) * x[j];
    }
  });
}

// The product of the right factor, L^T or U, and the probe.
template <class T>
Vector times_right(Matrix<T> const& a, bool lower_transposed) {
  auto const n = a.extent(0);
  return over_columns(n, [&](std::uint64_t first, std::uint64_t last, Vector& sum) {
    for (auto j = first; j < last; ++j) {
      if (lower_transposed) {
        for (auto i = j; i < n; ++i) sum[j] += static_cast<double>(a(i, j)) * probe(i);
      } else {
        for (std::uint64_t i = 0; i <= j; ++i) sum[i] += static_cast<double>(a(i, j)) * probe(j);
      }
    }
  });
}

double largest_of(Vector const& x) {
  double largest = 0;
  for (double const entry : x) {
    if (!(std::abs(entry) <= largest)) largest = std::abs(entry);  // keeps a NaN
  }
  return largest;
}

// |found - product| / |product| with largest elements, in units of n times the precision's epsilon.
template <class T>
double difference(Vector const& found, Vector const& product) {
  Vector rest(found.size());
  std::transform(found.begin(), found.end(), product.begin(), rest.begin(), std::minus<>());
  return largest_of(rest) / (largest_of(product) * static_cast<double>(product.size()) *
                             static_cast<double>(std::numeric_limits<T>::epsilon()));
}

// Of P A x and L (R x).
template <class T>
double residual_of_factors(Matrix<T> const& factors, Vector product, Pivots const* pivots) {
  if (pivots != nullptr) {
    for (std::uint64_t k = 0; k < pivots->size(); ++k) std::swap(product[k], product[(*pivots)[k]]);
  }
  return difference<T>(times_lower(factors, times_right(factors, pivots == nullptr), pivots != nullptr), product);
}

// Of x and A (X x), where X is the inverse, in the lower triangle.
template <class T>
double residual_of_inverse(Matrix<T> const& inverse) {
  auto const n = inverse.extent(0);
  Vector x(n);
  for (std::uint64_t i = 0; i < n; ++i) x[i] = probe(i);
  auto const y = over_columns(n, [&](std::uint64_t first, std::uint64_t last, Vector& sum) {
    for (auto j = first; j < last; ++j) {
      sum[j] += static_cast<double>(inverse(j, j)) * x[j];
      for (auto i = j + 1; i < n; ++i) {
        sum[i] += static_cast<double>(inverse(i, j)) * x[j];
        sum[j] += static_cast<double>(inverse(i, j)) * x[i];
      }
    }
  });
  auto const found = over_columns(n, [&](std::uint64_t first, std::uint64_t last, Vector& sum) {
    for (auto j = first; j < last; ++j) {
      for (std::uint64_t i = 0; i < n; ++i) {
        sum[i] += static_cast<double>(static_cast<T>(spd_entry(n, 1, i, j))) * y[j];
      }
    }
  });
  return difference<T>(found, x);
}

// Bytes per second from and to pinned memory on the vendor's first device.
nlohmann::ordered_json link_speeds(DeviceApi& api) {
  constexpr Bytes bytes = 256_MiB;
  auto* const device = api.allocate(0, bytes);
  auto* const host = api.allocate_pinned(bytes);
  auto const stream = api.make_stream(0);
  auto const first = api.make_event(0), last = api.make_event(0);
  auto const speed = [&](DeviceCopy const& copy) {
    double best = 0;
    for (int r = 0; r < 5; ++r) {
      api.record(*first, *stream);
      api.copy(*stream, copy);
      api.record(*last, *stream);
      while (!api.done(*last)) std::this_thread::yield();
      best = std::max(best, static_cast<double>(bytes) / seconds(api.elapsed(*first, *last)));
    }
    return best;
  };
  nlohmann::ordered_json const speeds{
      {"to_device_bytes_per_second", speed({.destination = device, .source = host, .line = bytes})},
      {"to_host_bytes_per_second", speed({.destination = host,
                                          .source = device,
                                          .line = bytes,
                                          .direction = DeviceCopy::Direction::ToHost,
                                          .source_device = 0})}};
  api.free_pinned(host);
  api.free(0, device);
  return speeds;
}

template <class T>
nlohmann::ordered_json measure_granary(Case const& bench, Matrix<T> const& a) {
  double best = std::numeric_limits<double>::infinity();
  double worst_residual = 0;
  nlohmann::ordered_json line;
  Runtime runtime(bench.runtime);
  auto const pinned = runtime.session().pin(reinterpret_cast<std::byte*>(a.data()), a.span() * sizeof(T));
  for (int r = 0; r < bench.repeats; ++r) {
    auto const product = fill(a, bench.operation != Operation::Getrf);
    if (bench.operation == Operation::Potri) potrf(runtime, Uplo::Lower, a, bench.tile);
    auto const before = runtime.figures().device_traffic;
    Pivots pivots(TileGrid{});
    auto const seconds = bench::seconds_of([&] {
      switch (bench.operation) {
        case Operation::Potrf:
          return potrf(runtime, Uplo::Lower, a, bench.tile);
        case Operation::Getrf:
          return getrf(runtime, a, pivots, bench.tile);
        case Operation::Potri:
          return potri(runtime, Uplo::Lower, a, bench.tile);
      }
    });
    auto const after = runtime.figures().device_traffic;
    auto const found = bench.operation == Operation::Potri
                           ? residual_of_inverse(a)
                           : residual_of_factors(a, product, bench.operation == Operation::Getrf ? &pivots : nullptr);
    if (!(found <= worst_residual)) worst_residual = found;
    if (seconds >= best) continue;
    best = seconds;
    line["from_host_bytes"] = after.from_host - before.from_host;
    line["to_host_bytes"] = after.to_host - before.to_host;
    line["between_bytes"] = after.between - before.between;
  }
  line["seconds"] = best;
  line["residual"] = worst_residual;
  auto const devices = runtime.figures().devices;
  line["devices"] = devices.size();
  line["device"] = devices.empty() ? std::string("none") : devices.front().description;
  line["device_limit_bytes"] = devices.empty() ? 0 : devices.front().limit;
  line["device_peak_bytes"] = devices.empty() ? 0 : devices.front().peak;
  line["lanes"] = runtime.options().device_lanes;
  line["cpu_workers"] = runtime.options().workers.value_or(0);
  return line;
}

template <class T>
nlohmann::ordered_json measure_vendor(Case const& bench, Matrix<T> const& a) {
  auto const api = make_vendor_api();
  bool const pinned = api && api->pin(reinterpret_cast<std::byte*>(a.data()), a.span() * sizeof(T));
  auto const n = static_cast<std::int64_t>(bench.n);
  bench::VendorTimes best{.solver = std::numeric_limits<double>::infinity()};
  for (int r = 0; r < bench.repeats; ++r) {
    fill(a, bench.operation != Operation::Getrf);
    auto const times = bench::vendor_times(bench.operation, n, a.data());
    if (times.solver < best.solver) best = times;
  }
  if (pinned) api->unpin(reinterpret_cast<std::byte*>(a.data()));
  return {{"vendor_to_device_seconds", best.to_device},
          {"vendor_solver_seconds", best.solver},
          {"vendor_to_host_seconds", best.to_host}};
}

template <class T>
int measure(Case const& bench) {
  Matrix<T> const a(Kokkos::view_alloc("A", Kokkos::WithoutInitializing), bench.n, bench.n);
  double const cube = static_cast<double>(bench.n) * static_cast<double>(bench.n) * static_cast<double>(bench.n);
  nlohmann::ordered_json line{{"operation", name_of(bench.operation)},
                              {"n", bench.n},
                              {"precision", bench.precision},
                              {"tile", bench.tile},
                              {"scheduler", bench.runtime.scheduler},
                              {"matrix_bytes", a.span() * sizeof(T)},
                              {"flops", cube * (bench.operation == Operation::Potrf ? 1.0 / 3 : 2.0 / 3)}};
  line.update(measure_granary(bench, a));
  if (auto const api = make_vendor_api(); api && api->devices() > 0) line.update(link_speeds(*api));
  if (bench.vendor) line.update(measure_vendor(bench, a));
  std::printf("%s\n", line.dump().c_str());
  // Backward stable algorithms stay far below this.
  if (line["residual"].get<double>() < 30) return 0;
  std::fprintf(stderr, "gpu_bench: the residual is %g n eps\n", line["residual"].get<double>());
  return 1;
}

int list_devices() {
  std::string problem;
  auto const api = make_vendor_api(&problem);
  for (int d = 0; api && d < api->devices(); ++d) {
    auto const found = api->properties(d);
    nlohmann::ordered_json const line{{"device", d},
                                      {"name", found.name},
                                      {"architecture", found.architecture},
                                      {"runtime", api->name()},
                                      {"memory_bytes", found.memory},
                                      {"free_bytes", found.free}};
    std::printf("%s\n", line.dump().c_str());
  }
  if (api && api->devices() > 0) return 0;
  std::fprintf(stderr, "gpu_bench: no device: %s\n", problem.empty() ? "the runtime finds none" : problem.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  granary::bench::warn_on_standard_error();
  Case bench;
  std::string operation = "potrf", memory;
  bool list = false;
  bench.runtime.workers = 0;
  bench.runtime.scheduler = "darts";
  CLI::App app("Factors or inverts a matrix in host memory on devices; one line of JSON.");
  app.add_flag("--list", list, "print the devices, one per line, and exit; status 1 without any");
  app.add_option("--operation", operation, "potrf, getrf, or potri, whose factorization is not timed")
      ->check(CLI::IsMember(operations));
  app.add_option("--n", bench.n, "order of the matrix")->check(CLI::Range(1, 1 << 20));
  app.add_option("--precision", bench.precision)->check(CLI::IsMember({"double", "float"}));
  app.add_option("--tile", bench.tile)->check(CLI::Range(1, 32768));
  app.add_option("--repeat", bench.repeats)->check(CLI::Range(1, 1000));
  app.add_flag("--vendor", bench.vendor, "compare with the vendor's solver");
  app.add_option("--scheduler", bench.runtime.scheduler);
  app.add_option("--workers", bench.runtime.workers, "CPU workers (default: 0)");
  app.add_option("--devices", bench.runtime.devices);
  app.add_option("--device-memory", memory);
  app.add_option("--device-lanes", bench.runtime.device_lanes);
  CLI11_PARSE(app, argc, argv);
  try {
    if (list) return list_devices();
    bench.operation = operations.at(operation);
    if (bench.n == 0) throw InvalidArgument("--n is missing");
    if (!memory.empty()) bench.runtime.device_memory = parse_bytes(memory);
    if (auto const obstacle = kokkos_obstacle()) throw DeviceError(*obstacle);
    Kokkos::ScopeGuard const kokkos;
    return bench.precision == "float" ? measure<float>(bench) : measure<double>(bench);
  } catch (InvalidArgument const& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 2;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
