// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/distributed/exchange.hpp>
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>
#include <granary/detail/outofcore/disk_node.hpp>
#include <granary/detail/runtime/checks.hpp>
#include <granary/detail/runtime/common_data.hpp>
#include <granary/detail/runtime/divisions.hpp>
#include <granary/detail/runtime/lent_engine.hpp>
#include <granary/detail/runtime/machine.hpp>
#include <granary/detail/runtime/machine_cache.hpp>
#include <granary/detail/runtime/reductions.hpp>
#include <granary/detail/runtime/runtime.hpp>
#include <granary/detail/runtime/watchdog.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace granary {

/// The parts of a Runtime. Members are created in this order and destroyed in the reverse one.
struct Runtime::Parts {
  Parts(RuntimeOptions const& asked, std::shared_ptr<detail::Processes> of);
  /// The work of ~Runtime, see there.
  void shut_down();

  /// To which tasks and data are submitted.
  [[nodiscard]] Submitter& submitter() {
    if (common) return *common;
    return *engine;
  }
  /// The engine's id of a datum; invalid if that belongs to another process.
  [[nodiscard]] DataId local(DataId data) const { return common ? common->local(data) : data; }
  /// Throws InvalidArgument if there are other processes; `what` is the subject of its sentence.
  void refuse_with_others(std::string_view what) const;
  /// See Runtime::trace.
  [[nodiscard]] Trace trace() const;
  /// See Runtime::schedule.
  [[nodiscard]] Schedule schedule() const;
  /// See Runtime::io.
  [[nodiscard]] std::shared_ptr<detail::AsyncFileIo> io();
  /// The codelet of this code and name, or of the name that stands for too many.
  [[nodiscard]] CodeletId codelet(std::string_view name, detail::TaskCode const& code);
  /// The submission of such a task.
  [[nodiscard]] TaskSubmission submission(TaskInfo const& info, detail::TaskCode const& code,
                                          std::span<Access const> accesses) {
    return {.codelet = codelet(info.name.text, code),
            .accesses = accesses,
            .priority = info.priority,
            .flops = info.flops,
            .source_line = info.name.source_line};
  }
  /// The memory node whose memory holds the bytes. Throws InvalidArgument, with the name, if there is none.
  [[nodiscard]] NodeId node_of(std::string const& name, std::byte const* memory, Bytes bytes, bool on_host) const;
  /// Bytes of the application's memory.
  [[nodiscard]] detail::SharedData add_view(std::string name, Bytes bytes, DataBinding binding);
  /// See TwoSides::use.
  void keep_until_wait(std::shared_ptr<detail::TwoSides> used);
  /// The application has waited for these data, or for all if there are none.
  void give_back(std::span<DataId const> data);
  /// The same after `wait()`, whether it throws or not.
  template <class Wait>
  void give_back_after(Wait&& wait, std::span<DataId const> data) {
    if (checks) checks->begin_wait();
    try {
      wait();
    } catch (...) {
      give_back(data);
      if (checks) checks->forget(data);
      throw;
    }
    give_back(data);
    if (checks) checks->waited(data);
  }
  /// See Runtime::pin.
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes);
  [[nodiscard]] static bool crosses_disk(Link const& link) {
    return link.from == disk_node() || link.to == disk_node();
  }

  std::shared_ptr<detail::Processes> processes;  // null unless this is one of several
  std::unique_ptr<detail::Exchange> exchange;    // likewise, and before the engine
  RuntimeOptions options;
  Devices devices;
  std::vector<DeviceLink> links;
  std::shared_ptr<detail::PinnedMemory> pinned;  // null without devices
  MachineCache cache;
  detail::BlasLimit blas;
  std::shared_ptr<detail::Checks> checks;  // null unless RuntimeOptions::check
  // The codelets of one body, by name.
  struct BodyCodelets {
    std::map<std::string, CodeletId, std::less<>> by_name;
    std::string others;  // the name that all share beyond most_task_names
  };
  mutable std::mutex mutex;  // protects the next three; never held while the engine is called or something is created
  std::shared_ptr<detail::AsyncFileIo> file_io;
  // By the body's first kernel, whether it is external, and whether it is checked.
  std::map<std::tuple<Kernel, bool, bool>, BodyCodelets> codelets;
  std::vector<std::shared_ptr<detail::TwoSides>> sides;  // of mirrored data, in use since the last wait
  using StopCallback = std::stop_callback<std::function<void()>>;
  std::unique_ptr<StopCallback> stop;   // null: no token can cancel the run
  std::shared_ptr<void const> signals;  // null: no signal does
  detail::Reductions reductions;
  std::shared_ptr<detail::Divisions> const divisions = std::make_shared<detail::Divisions>();
  std::shared_ptr<detail::DiskNode> disk;
  int exceptions = std::uncaught_exceptions();
  detail::PerformanceModels* models = nullptr;      // the engine's
  std::unique_ptr<ScheduleRecorder> recorder = {};  // the engine's; null: nothing is recorded
  LentEngine engine;                                // created last and destroyed first, except for the next two
  std::unique_ptr<detail::CommonData> common;       // null with one process
  std::unique_ptr<Watchdog> watchdog;               // null without a stall timeout

 private:
  detail::SharedData add_host_data(std::string name, Bytes bytes, DataBinding binding);
  detail::EngineBackends make_backends(Machine const& machine);
  std::unique_ptr<detail::Engine> make_engine();
  void find_late_changes();
  void write_trace() const;
  void write_schedule() const;
};

}  // namespace granary
