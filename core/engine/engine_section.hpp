// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/engine.hpp>

#include <mutex>
#include <vector>

namespace granary {

/// One hold of the planner's lock. Its end drains what was posted meanwhile and turns the planner's commands into
/// actions; those that take time are done after the lock was released.
class Engine::Section {
 public:
  explicit Section(Engine& engine);
  struct AlreadyLocked {};
  Section(Engine& engine, AlreadyLocked);
  ~Section();
  Section(Section const&) = delete;
  Section& operator=(Section const&) = delete;

  std::vector<CopyJob> copies;
  std::vector<WorkerLane*> to_wake;
  std::vector<Parameters> dropped_parameters;
  std::vector<std::shared_ptr<void const>> dropped_bindings;

 private:
  Engine& m_engine;
  Clock::time_point m_entered{};  // when it is measured
  bool m_measured;
};

template <class Function>
auto Engine::apply(Function&& function) {
  Section section(*this);
  rethrow_if_broken();
  m_planner.set_now(since_start(Clock::now()));
  return function(section);
}

}  // namespace granary
