// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/lanes.hpp>

#include <granary/detail/core/base/process_exit.hpp>
#include <granary/detail/core/base/start_thread.hpp>
#include <granary/detail/core/planner/driver_rules.hpp>

#include <algorithm>

namespace granary::detail {

Lanes::Lanes(Topology const& topology, std::size_t issue_depth) {
  auto const& workers = topology.machine().workers;
  LaneThread* driver = nullptr;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    auto* thread = driver;
    if (workers[w].kind == WorkerKind::Cpu || driver == nullptr) {
      thread = m_threads.emplace_back(std::make_unique<LaneThread>()).get();
      if (workers[w].kind == WorkerKind::Device) driver = thread;
    }
    // One cell more than tasks: the worker takes a task out only after it ran.
    m_lanes.push_back(
        std::make_unique<WorkerLane>(WorkerId(static_cast<std::uint32_t>(w)), thread->bell, issue_depth + 1));
    thread->lanes.push_back(m_lanes.back().get());
  }
  for (auto const& group : topology.groups()) {
    auto& pool = m_inner.emplace_back();
    if (group.kind != WorkerKind::Cpu || group.workers.size() < 2) continue;
    std::vector<WorkerLane*> lanes;
    for (auto const worker : group.workers) lanes.push_back(m_lanes[worker.index()].get());
    pool = std::make_unique<InnerPool>(std::move(lanes));
    for (auto* lane : pool->lanes()) lane->inner = pool.get();
  }
  m_touched.reserve(workers.size());
}

void Lanes::start(Machine const& machine, std::function<void(WorkerLane&)> const& work,
                  std::function<void(LaneThread&)> const& drive) {
  try {
    for (auto& thread : m_threads) {
      auto& first = *thread->lanes.front();
      auto const& worker = machine[first.id];
      if (worker.kind == WorkerKind::Cpu) {
        thread->thread = start_thread("worker '" + worker.name + "'", [work, &first] {
          detail::Working const working;
          work(first);
        });
      } else {
        thread->thread = start_thread("the devices", [drive, &driver = *thread] {
          detail::Working const working;
          drive(driver);
        });
      }
    }
  } catch (...) {
    stop();
    throw;
  }
}

void Lanes::stop() {
  m_stopping.store(true);
  for (auto& thread : m_threads) {
    thread->bell.sleeping.store(0);
    thread->bell.sleeping.notify_one();
  }
  for (auto& thread : m_threads) {
    if (thread->thread.joinable()) thread->thread.join();
  }
}

void Lanes::hand_over(RunCommand const& run, SystemView const& view, EngineData& data) {
  auto const& codelet = view.codelet(run.description->codelet);
  auto const& worker = view.topology().machine()[run.worker];
  auto& lane = *m_lanes[run.worker.index()];
  auto& entry = lane.incoming.next();
  entry.task = run.task;
  entry.codelet = &codelet;
  entry.follows = run.follows;
  entry.kernel = codelet.kernels[static_cast<std::size_t>(worker.kind)];
  entry.accesses = &run.description->accesses;
  data.fill(entry, run);
  entry.offer();
  lane.incoming.stage();
  ++lane.outstanding;
  if (!std::exchange(lane.touched, true)) m_touched.push_back(&lane);
}

void Lanes::publish(Planner const& planner, std::vector<Bell*>& to_wake) {
  for (auto* lane : m_touched) {
    lane->touched = false;
    if (m_expand && lane->inner != nullptr) {
      auto& pool = *lane->inner;
      auto const* const least = *std::ranges::min_element(pool.lanes(), {}, &WorkerLane::outstanding);
      pool.set_scarce(tasks_are_scarce(least->outstanding, planner.ahead(planner.topology().group_of(lane->id))));
    }
    lane->incoming.publish();
    if (lane->bell.silence()) to_wake.push_back(&lane->bell);
  }
  m_touched.clear();
}

}  // namespace granary::detail
