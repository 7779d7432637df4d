// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/core/planner/outside.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>
#include <granary/detail/outofcore/disk_node.hpp>
#include <granary/detail/runtime/session/figures.hpp>
#include <granary/detail/runtime/session/lent_engine.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/machine.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>
#include <granary/detail/runtime/setup/nodes.hpp>
#include <granary/detail/runtime/setup/options.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>
#include <granary/detail/schedules/schedule.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace granary::detail {

/// The engine of a Runtime and what it runs on, by the options: cores, devices, memories, a disk, what is known of
/// their speeds. Members are created in this order and destroyed in the reverse one.
class SessionMachine {
 public:
  /// `outside`: takes the commands that concern other processes; null without any. Throws as `configure`.
  SessionMachine(RuntimeOptions const& asked, OutsideCommands* outside);
  /// At the end, in this order: writes the files that the options ask for, keeps what was learnt about the machine for
  /// later runs, and destroys the engine, whose tasks have ended.
  void write_outputs() const;
  void keep_models() { m_cache.keep(*m_models); }
  void end();

  [[nodiscard]] RuntimeOptions const& options() const { return m_options; }
  [[nodiscard]] Devices const& devices() const { return m_devices; }
  /// Null without devices.
  [[nodiscard]] std::shared_ptr<PinnedMemory> const& pinned() const { return m_pinned; }
  [[nodiscard]] Engine& engine() const { return *m_engine; }
  [[nodiscard]] std::shared_ptr<Engine> const& lent_engine() const { return m_engine.lent(); }
  [[nodiscard]] DiskNode& disk() { return *m_disk; }
  /// See Session::io.
  [[nodiscard]] std::shared_ptr<AsyncFileIo> io();

  /// See Runtime::trace, Runtime::schedule and Runtime::figures.
  [[nodiscard]] Trace trace() const;
  [[nodiscard]] Schedule schedule() const;
  [[nodiscard]] RuntimeFigures figures() const;

 private:
  EngineBackends make_backends(Machine const& machine);
  std::unique_ptr<Engine> make_engine(OutsideCommands* outside);
  void add_devices(RuntimeFigures& figures, EngineStatistics const& statistics) const;

  RuntimeOptions m_options;
  Devices m_devices;
  std::vector<DeviceLink> m_links;
  std::shared_ptr<PinnedMemory> m_pinned;
  MachineCache m_cache;
  BlasLimit m_blas;
  mutable std::mutex m_mutex;  // protects the next one; never held while something is created
  std::shared_ptr<AsyncFileIo> m_io;
  std::shared_ptr<DiskNode> m_disk;
  PerformanceModels* m_models = nullptr;              // the engine's
  std::unique_ptr<ScheduleRecorder> m_recorder = {};  // the engine's; null: nothing is recorded
  LentEngine m_engine;
};

}  // namespace granary::detail
