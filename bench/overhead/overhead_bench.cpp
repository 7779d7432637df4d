// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cost of an empty task: wall time from the first submission to the end of wait, per task.
#include <granary/detail/core/backends/core_groups.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/host_copy_backend.hpp>
#include <granary/detail/core/backends/host_workers.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/policies/registry.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include "bench/support/measure.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;

struct Setup {
  std::unique_ptr<Engine> engine;
  CodeletId nothing;
  CodeletId gate;
  std::vector<DataId> data;
};

std::atomic<bool> gate_open{true};

Setup make_setup(std::string const& scheduler, unsigned workers, std::size_t data) {
  Machine machine;
  auto const host = machine.add_node({"host", NodeKind::Host, 1_MiB, 1});
  for (unsigned w = 0; w < workers; ++w) machine.add_worker({"core", host, WorkerKind::Cpu});
  Setup setup;
  setup.engine = std::make_unique<Engine>(
      Topology(machine), make_policies(scheduler, scheduler == "darts" ? "luf" : "lru"),
      std::make_unique<PerformanceModels>(),
      EngineBackends{std::make_shared<HostWorkers>(workers, divide_cores(discover_host().cores, {}, 1)), {}},
      EngineOptions{});
  Codelet nothing{.name = "nothing", .launches_kokkos_kernels = false};
  nothing.kernels[0] = [](KernelCall const&) {};
  setup.nothing = setup.engine->add_codelet(nothing);
  Codelet gate{.name = "gate", .launches_kokkos_kernels = false};
  gate.kernels[0] = [](KernelCall const&) { gate_open.wait(false); };
  setup.gate = setup.engine->add_codelet(gate);
  static double elements[1];
  for (std::size_t i = 0; i < data; ++i) {
    setup.data.push_back(setup.engine->add_data(
        {.name = "x", .bytes = 8, .origin = host, .home = host, .origin_is_home = true, .in_place = true},
        {reinterpret_cast<std::byte*>(elements), reinterpret_cast<std::byte*>(elements), {}}, nullptr));
  }
  return setup;
}

struct Shape {
  std::string name;
  std::size_t data;
  std::function<std::size_t(Setup&)> submit;  // returns the number of tasks
};

void emit(Setup& setup, std::initializer_list<Access> accesses, std::int64_t priority = 0) {
  setup.engine->submit({setup.nothing, std::span(accesses.begin(), accesses.size()), priority, 0}, Parameters{});
}

Shape independent(std::size_t tasks) {
  return {"independent", tasks, [=](Setup& setup) {
            for (auto const x : setup.data) emit(setup, {{x, AccessMode::ReadWrite}});
            return tasks;
          }};
}

// Each task reads its left and upper neighbours and updates its own datum.
Shape wavefront(std::size_t n) {
  return {"wavefront", n * n, [=](Setup& setup) {
            auto const at = [&](std::size_t i, std::size_t j) { return setup.data[i * n + j]; };
            for (std::size_t i = 0; i < n; ++i) {
              for (std::size_t j = 0; j < n; ++j) {
                Access const own{at(i, j), AccessMode::ReadWrite};
                if (i > 0 && j > 0) {
                  emit(setup, {{at(i - 1, j), AccessMode::Read}, {at(i, j - 1), AccessMode::Read}, own});
                } else if (i + j == 0) {
                  emit(setup, {own});
                } else {
                  emit(setup, {{i > 0 ? at(i - 1, j) : at(i, j - 1), AccessMode::Read}, own});
                }
              }
            }
            return n * n;
          }};
}

std::size_t cholesky_tasks(std::size_t n) { return n * (n + 1) * (n + 2) / 6; }

// The graph of a right-looking tiled Cholesky factorization of n x n tiles.
Shape cholesky(std::size_t n) {
  return {"cholesky", n * (n + 1) / 2, [=](Setup& setup) {
            auto const at = [&](std::size_t i, std::size_t j) { return setup.data[i * (i + 1) / 2 + j]; };
            for (std::size_t k = 0; k < n; ++k) {
              emit(setup, {{at(k, k), AccessMode::ReadWrite}});
              for (std::size_t i = k + 1; i < n; ++i)
                emit(setup, {{at(k, k), AccessMode::Read}, {at(i, k), AccessMode::ReadWrite}});
              for (std::size_t i = k + 1; i < n; ++i) {
                for (std::size_t j = k + 1; j < i; ++j) {
                  emit(setup,
                       {{at(i, k), AccessMode::Read}, {at(j, k), AccessMode::Read}, {at(i, j), AccessMode::ReadWrite}});
                }
                emit(setup, {{at(i, k), AccessMode::Read}, {at(i, i), AccessMode::ReadWrite}});
              }
            }
            return cholesky_tasks(n);
          }};
}

struct Measured {
  std::size_t tasks = 0;
  double wall = 0;        // seconds
  double submission = 0;  // seconds until the last submit returned
  double deciding = 0;
  double bytes_per_task = 0;
};

Measured measure(Shape const& shape, std::string const& scheduler, unsigned workers) {
  using Clock = std::chrono::steady_clock;
  auto setup = make_setup(scheduler, workers, shape.data);
  auto const before = setup.engine->statistics().deciding;
  auto const start = Clock::now();
  Measured result;
  result.tasks = shape.submit(setup);
  result.submission = std::chrono::duration<double>(Clock::now() - start).count();
  setup.engine->wait();
  result.wall = std::chrono::duration<double>(Clock::now() - start).count();
  result.deciding = seconds(setup.engine->statistics().deciding - before);
  return result;
}

// Nothing can run before the gate's task has ended, so all tasks are live at the same time.
double bytes_per_live_task(Shape const& shape, std::string const& scheduler, unsigned workers) {
  auto setup = make_setup(scheduler, workers, shape.data);
  gate_open = false;
  std::vector<Access> all;
  for (auto const x : setup.data) all.push_back({x, AccessMode::ReadWrite});
  setup.engine->submit({setup.gate, all, 0, 0}, Parameters{});
  auto const in_use = [] {
    auto const info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  };
  auto const before = in_use();
  auto const tasks = shape.submit(setup);
  auto const bytes = (in_use() - before) / static_cast<double>(tasks);
  gate_open = true;
  gate_open.notify_all();
  setup.engine->wait();
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Cost of an empty task, in nanoseconds of wall time");
  std::string scheduler = "eager", only, csv;
  unsigned workers = 2, repeats = 5;
  app.add_option("--scheduler", scheduler);
  app.add_option("--workers", workers);
  app.add_option("--repeats", repeats);
  app.add_option("--only", only, "independent, wavefront or cholesky");
  app.add_option("--csv", csv, "file for the figures");
  CLI11_PARSE(app, argc, argv);
  Kokkos::ScopeGuard const kokkos(argc, argv);

  std::string table = "shape,scheduler,workers,tasks,best_ns,median_ns,submission_ns,deciding_ns,bytes_per_live_task\n";
  fmt::print("{:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "shape", "tasks", "best", "median", "submit", "deciding",
             "B/task");
  for (auto const& shape : {independent(200'000), wavefront(200), cholesky(181)}) {
    if (!only.empty() && only != shape.name) continue;
    std::vector<Measured> runs;
    for (unsigned r = 0; r < repeats; ++r) runs.push_back(measure(shape, scheduler, workers));
    std::sort(runs.begin(), runs.end(), [](auto const& a, auto const& b) { return a.wall < b.wall; });
    auto const& best = runs.front();
    auto const& median = runs[runs.size() / 2];
    auto const bytes = shape.name == "cholesky" ? bytes_per_live_task(cholesky(60), scheduler, workers) : 0.0;
    auto const ns = 1e9 / static_cast<double>(best.tasks);
    fmt::print("{:<12} {:>9} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f}\n", shape.name, best.tasks, best.wall * ns,
               median.wall * ns, median.submission * ns, median.deciding * ns, bytes);
    table += fmt::format("{},{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f}\n", shape.name, scheduler, workers, best.tasks,
                         best.wall * ns, median.wall * ns, median.submission * ns, median.deciding * ns, bytes);
  }
  return bench::exit_status("granary-overhead", [&] { bench::CsvFile(csv, table); });
}
