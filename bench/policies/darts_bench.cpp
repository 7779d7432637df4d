// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include "bench/support/measure.hpp"

#include <support/fake_system_view.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// The cost of the policies per task as a function of the number of ready tasks. All tasks are ready from the start,
// memory holds a quarter of the data, and tasks are issued one after another without execution. update: C_mn += A_m *
// A_n, each C_mn used once; product: A_m * B_n, where many tasks use each datum, which is evicted and loaded again.
// Usage: darts_bench [--csv] [--depth N]

namespace granary {

namespace {

using Steady = std::chrono::steady_clock;

struct Result {
  std::size_t tasks = 0;
  double microseconds_per_task = 0;
  std::size_t loads = 0;
};

class Bench final : private PlanBoard::Observer {
 public:
  Bench(bool product, std::size_t rows, std::string const& scheduler, std::string const& eviction)
      : m_view(test::devices(1)), m_run(m_view, make_scheduler(scheduler)), m_eviction(make_eviction(eviction)) {
    m_eviction->attach(m_view, m_run.board);
    m_run.board.observe(this);
    product ? add_product(rows) : add_update(rows);
    m_capacity = m_data / 4;
  }

  Result run(std::size_t depth) {
    auto const start = Steady::now();
    for (TaskId const task : m_tasks) m_run.scheduler->ready(task);
    std::size_t done = 0;
    auto const& committed = m_view.committed(group);
    for (;;) {
      while (committed.size() < depth) {
        TaskId const task = m_run.next_and_commit(group);
        if (!task.valid()) break;
        stage(task);
      }
      if (committed.empty()) break;
      finish(committed.front());
      ++done;
    }
    double const microseconds = std::chrono::duration<double, std::micro>(Steady::now() - start).count();
    if (done != m_tasks.size()) throw InternalError("some tasks never came");
    return {done, microseconds / static_cast<double>(done), m_loads};
  }

 private:
  static constexpr Bytes tile_bytes = 1'000'000;
  static constexpr GroupId group{0};
  static constexpr NodeId device{1};

  DataId add_tile() {
    ++m_data;
    return m_view.add_data(tile_bytes);
  }
  void add_update(std::size_t rows) {
    std::vector<DataId> a;
    for (std::size_t m = 0; m < rows; ++m) a.push_back(add_tile());
    for (std::size_t m = 0; m < rows; ++m) {
      for (std::size_t n = 0; n <= m; ++n) {
        m_tasks.push_back(m_view.add_task({test::read(a[m]), test::read(a[n]), test::read_write(add_tile())},
                                          static_cast<std::int64_t>(2 * rows - m - n), std::chrono::milliseconds(1)));
      }
    }
  }
  void add_product(std::size_t rows) {
    std::size_t const side = rows * 7 / 10;  // as many tasks as in the update
    std::vector<DataId> a;
    std::vector<DataId> b;
    for (std::size_t m = 0; m < side; ++m) a.push_back(add_tile());
    for (std::size_t n = 0; n < side; ++n) b.push_back(add_tile());
    for (std::size_t m = 0; m < side; ++m) {
      for (std::size_t n = 0; n < side; ++n) {
        m_tasks.push_back(m_view.add_task({test::read(a[m]), test::read(b[n])},
                                          static_cast<std::int64_t>(2 * side - m - n), std::chrono::milliseconds(1)));
      }
    }
  }
  void planned_uses_changed(DataId data, GroupId g) override { m_eviction->planned_uses_changed(data, g); }

  void stage(TaskId task) {
    for (auto const& access : m_view.task(task).accesses) {
      if (access.repeated) continue;
      if (!m_view.valid(access.data, device)) {
        while (m_used >= m_capacity) evict();
        ++m_used;
        ++m_loads;
        m_eviction->replica_added(access.data, device);
        m_run.load(access.data, device);
      }
      m_view.set_evictable(access.data, device, false);
      m_eviction->replica_used(access.data, device);
    }
  }
  void finish(TaskId task) {
    m_run.scheduler->finished(task);
    m_view.finish(task);
    for (auto const& access : m_view.task(task).accesses) {
      if (access.repeated) continue;
      m_view.set_evictable(access.data, device, m_view.committed_uses(access.data, device) == 0);
      m_eviction->replica_used(access.data, device);
    }
  }
  void evict() {
    DataId const victim = m_eviction->victim(device);
    if (!victim.valid()) throw InternalError("nothing can be evicted");
    m_view.set_evictable(victim, device, false);
    m_eviction->replica_dropped(victim, device);
    m_run.evict(victim, device);
    --m_used;
  }

  test::FakeSystemView m_view;
  test::FakeRun m_run;
  std::unique_ptr<EvictionPolicy> m_eviction;
  std::vector<TaskId> m_tasks;
  std::size_t m_data = 0;
  std::size_t m_capacity = 0;
  std::size_t m_used = 0;
  std::size_t m_loads = 0;
};

int main_of(int argc, char** argv) {
  bool csv = false;
  std::size_t depth = 4;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--csv") == 0) {
      csv = true;
    } else if (std::strcmp(argv[i], "--depth") == 0 && i + 1 < argc) {
      depth = std::stoul(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: darts_bench [--csv] [--depth N]\n");
      return 2;
    }
  }
  if (csv) std::printf("%s\n", bench::machine_line().c_str());
  std::printf(csv ? "workload,scheduler,eviction,tasks,microseconds_per_task,loads\n"
                  : "workload scheduler eviction  tasks  us/task   loads\n");
  for (bool const product : {false, true}) {
    for (char const* const scheduler : {"eager", "prio", "darts"}) {
      for (char const* const eviction : {"lru", "luf"}) {
        for (std::size_t const rows : {45U, 142U, 316U, 447U}) {
          // The best of three, because the machine may be shared.
          auto result = Bench(product, rows, scheduler, eviction).run(depth);
          for (int repeat = 0; repeat < 2; ++repeat) {
            result.microseconds_per_task =
                std::min(result.microseconds_per_task,
                         Bench(product, rows, scheduler, eviction).run(depth).microseconds_per_task);
          }
          std::printf(csv ? "%s,%s,%s,%zu,%.3f,%zu\n" : "%-8s %-9s %-8s %7zu %8.3f %7zu\n",
                      product ? "product" : "update", scheduler, eviction, result.tasks, result.microseconds_per_task,
                      result.loads);
          std::fflush(stdout);
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace granary

int main(int argc, char** argv) { return granary::main_of(argc, argv); }
