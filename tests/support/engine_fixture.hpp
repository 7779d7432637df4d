// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/policies/registry.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace granary::test {

using namespace detail;

/// Runs kernels unchanged.
class PlainWorkers final : public WorkerBackend {
 public:
  void const* enter(WorkerId) override { return this; }
  Duration run(Kernel kernel, bool, KernelCall const& call) override {
    kernel(call);
    return Duration{0};
  }
};

/// Logs each copy. On the disk it stores numbers by datum; every value is one std::uint64_t.
class LoggingCopies final : public CopyBackend {
 public:
  enum class Answer { Done, Failed, Thrown };

  explicit LoggingCopies(Machine const& machine) : m_machine(machine) {}

  void copy_async(CopyRequest const& request, CopyCompletion done) override {
    Answer answer;
    {
      std::lock_guard const lock(m_mutex);
      log.push_back("copy " + std::to_string(request.data.value()) + " " + name(request.from) + " -> " +
                    name(request.to));
      answer = next_answer;
      if (answer == Answer::Done && request.destination != nullptr && request.source == nullptr) {
        std::memcpy(request.destination, &values[request.data.index()], sizeof(std::uint64_t));
      } else if (answer == Answer::Done && request.source != nullptr && request.destination == nullptr) {
        std::memcpy(&values[request.data.index()], request.source, sizeof(std::uint64_t));
      }
    }
    if (answer == Answer::Thrown) throw IoError("cannot start on", "mock", 0, 5);
    done(answer == Answer::Failed ? std::make_exception_ptr(IoError("cannot copy", "mock", 4096, 28)) : nullptr);
  }
  void forget(DataId data) override {
    std::lock_guard const lock(m_mutex);
    log.push_back("forget " + std::to_string(data.value()));
  }

  std::vector<std::string> log;
  std::vector<std::uint64_t> values = std::vector<std::uint64_t>(64);  // on the disk
  Answer next_answer = Answer::Done;

 private:
  std::string name(Place const& place) const {
    char const* slot = place.slot == Slot::Pool ? " pool" : place.slot == Slot::Origin ? " origin" : " home";
    return m_machine[place.node].name + slot;
  }
  Machine m_machine;
  std::mutex m_mutex;
};

/// Host memory of `capacity` bytes with workers, and a disk.
struct SmallMachine {
  Machine machine;
  NodeId host;
  NodeId disk;

  explicit SmallMachine(std::uint32_t workers = 2, Bytes capacity = 1_MiB) {
    host = machine.add_node({"host", NodeKind::Host, capacity, 8});
    disk = machine.add_node({"disk", NodeKind::Disk, unbounded, 8});
    machine.add_link_pair(host, disk, 1e9);
    for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker({"w" + std::to_string(w), host, WorkerKind::Cpu});
  }
};

struct EngineFixture : SmallMachine {
  std::shared_ptr<LoggingCopies> copies;
  std::unique_ptr<Engine> engine;

  explicit EngineFixture(std::uint32_t workers = 2, Bytes capacity = 1_MiB, EngineOptions options = {})
      : SmallMachine(workers, capacity), copies(std::make_shared<LoggingCopies>(machine)) {
    engine = std::make_unique<Engine>(Topology(machine), make_policies("eager", "lru"),
                                      std::make_unique<AveragingEstimator>(),
                                      EngineBackends{std::make_shared<PlainWorkers>(), {copies, copies}}, options);
  }

  CodeletId codelet(std::string name, Kernel kernel) {
    Codelet made{.name = std::move(name), .launches_kokkos_kernels = false};
    made.kernels[0] = kernel;
    return engine->add_codelet(made);
  }
  DataId in_place(std::uint64_t& value, std::string name = "x") {
    auto* address = reinterpret_cast<std::byte*>(&value);
    return engine->add_data(
        {.name = std::move(name), .bytes = 8, .origin = host, .home = host, .origin_is_home = true, .in_place = true},
        {address, address, {}}, nullptr);
  }
  template <class P = int>
  TaskId submit(CodeletId codelet, std::vector<Access> accesses, P parameters = {}) {
    return engine->submit({codelet, accesses, 0, 0}, Parameters(std::move(parameters)));
  }
};

/// The value of a kernel's access.
inline std::uint64_t& value(KernelCall const& call, std::size_t i = 0) {
  return *reinterpret_cast<std::uint64_t*>(call.data[i]);
}
inline void increment(KernelCall const& call) { ++value(call); }

/// One thread for each counter submits `times` tasks that increment it; returns when all are submitted.
inline void increment_from_threads(EngineFixture& fixture, std::span<std::uint64_t> counters, int times) {
  auto const codelet = fixture.codelet("increment", increment);
  std::vector<std::thread> threads;
  for (auto& counter : counters) {
    threads.emplace_back([&fixture, &counter, codelet, times] {
      auto const data = fixture.in_place(counter);
      for (int i = 0; i < times; ++i) fixture.submit(codelet, {{data, AccessMode::ReadWrite}});
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace granary::test
