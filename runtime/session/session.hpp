// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/core/planner/failure.hpp>
#include <granary/detail/runtime/session/data_binding.hpp>
#include <granary/detail/runtime/session/data_hold.hpp>
#include <granary/detail/runtime/session/division.hpp>
#include <granary/detail/runtime/session/reduction_kind.hpp>
#include <granary/detail/runtime/session/task_code.hpp>
#include <granary/detail/runtime/session/task_handle.hpp>
#include <granary/detail/runtime/session/task_info.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace granary {

class SignalWatch;
class Submitter;
namespace detail {
struct EngineStatistics;

class AsyncFileIo;
class Engine;
class Processes;
class TwoSides;

/// A Runtime as algorithms and granary's own parts see it: data by id, tasks as code, and what happens around a call.
/// Runtime::session returns it. Thread-safe, as Runtime is.
class GRANARY_EXPORT Session {
 public:
  explicit Session(RuntimeId id) : m_id(id) {}
  virtual ~Session() = default;
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  /// Unique among all sessions of this process, also those that have ended. Functions that take data throw
  /// InvalidArgument for data of another one.
  [[nodiscard]] RuntimeId id() const { return m_id; }
  /// The options after `configure`.
  [[nodiscard]] virtual RuntimeOptions const& options() const = 0;
  [[nodiscard]] virtual bool has_devices() const = 0;
  /// For granary's own tests and measurements, and for what has no other way.
  [[nodiscard]] virtual Engine& engine() const = 0;
  [[nodiscard]] virtual EngineStatistics statistics() const = 0;

  // Tasks.
  /// Takes data and tasks of algorithms. First submits the combination of all open reductions.
  [[nodiscard]] virtual Submitter& submitter() = 0;
  /// See Runtime::submit.
  virtual TaskHandle submit(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                            Parameters parameters) = 0;
  /// Throws what `submit` would throw for such a task.
  virtual void check_task(std::string_view name, TaskCode const& code, std::span<Access const> accesses) = 0;
  /// See Runtime::submit_outside.
  virtual TaskHandle submit_outside(TaskName const& name, std::function<bool()> const& ended,
                                    std::span<Access const> accesses) = 0;
  /// Tells if the work given to a DeviceExecutionSpace so far has ended; empty if the Runtime uses no such devices.
  [[nodiscard]] virtual std::function<bool()> end_of_work(void const* instance) const = 0;
  /// A task that reduces the data marked with true: calls `submission` under the lock of the reductions. Throws
  /// InvalidArgument if the task accesses such a datum in another way, too, or if that is a cut temporary.
  virtual TaskHandle submit_reducing(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses,
                                     std::function<TaskHandle()> const& submission) = 0;
  /// The copy to which the next contribution goes, for `submission`.
  [[nodiscard]] virtual DataId next_copy(std::unique_ptr<ReductionKind> kind) = 0;
  /// A task of a division; it follows no other submission.
  virtual void submit_copy(std::string_view name, TaskCode const& code, std::span<Access const> accesses,
                           Parameters parameters) = 0;

  // Data.
  /// Registers a datum of `bytes` bytes; data with an address may be registered several times, see
  /// Engine::add_host_data. Release it with `submitter().release_data`, once per registration. Throws InvalidArgument
  /// for an address together with an origin or a home, and for memory that this Runtime cannot use.
  virtual DataId add_data(std::string name, Bytes bytes, DataBinding binding) = 0;
  /// The same for memory of the application whose View is kept, with a hold on it.
  [[nodiscard]] virtual HeldView hold_view(std::string name, Bytes bytes, DataBinding binding) = 0;
  /// Owns one registration.
  [[nodiscard]] std::shared_ptr<DataHold const> hold(DataId data) const {
    return std::make_shared<DataHold const>(releaser(), data);
  }
  /// Registers a datum once more, for one more release.
  virtual void retain_data(DataId data) = 0;
  /// For owners of data that may outlive the Runtime.
  [[nodiscard]] virtual DataReleaser releaser() const = 0;
  /// True if a submitted task uses the datum in this process.
  [[nodiscard]] virtual bool in_use(DataId data) const = 0;
  [[nodiscard]] virtual std::string name_of(DataId data) const = 0;
  /// See Runtime::prefetch, `will_not_use`, `assign` and `is_here`.
  virtual void prefetch(DataId data, NodeId node) = 0;
  virtual void will_not_use(DataId data) = 0;
  virtual void assign(DataId data, ProcessId owner) = 0;
  [[nodiscard]] virtual bool owns(DataId data) const = 0;
  /// The division of a temporary like that one.
  virtual Division const& divide(std::shared_ptr<DataHold const> const& whole, std::unique_ptr<Division> wanted) = 0;
  /// The node of the device in whose memory a byte lies. Throws InvalidArgument if this Runtime does not use it.
  [[nodiscard]] virtual NodeId device_of(std::string const& name, std::byte const* memory) const = 0;
  /// Keeps the sides of mirrored data until the application has waited for these, and then gives them back.
  virtual void keep_until_wait(std::shared_ptr<TwoSides> used) = 0;
  /// Throws InvalidArgument, with the View's name and shape, for one that cannot be copied to a device, if there are
  /// devices.
  virtual void refuse_on_devices(std::string const& name, std::string const& shape) const = 0;
  /// See Runtime::device_view.
  [[nodiscard]] virtual std::shared_ptr<std::byte> device_memory(std::size_t device, std::string const& label,
                                                                 Bytes bytes) = 0;
  /// See Runtime::pin.
  [[nodiscard]] virtual std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes) = 0;
  /// Asynchronous file I/O with the options' bandwidth, created on first use.
  [[nodiscard]] virtual std::shared_ptr<AsyncFileIo> io() = 0;

  // Waits.
  /// As Runtime::wait(data...); for `also` see Engine::wait.
  virtual void wait_for(std::span<DataId const> data, std::span<DataId const> also = {}) = 0;
  /// The same without a look for what is worth a warning, which costs less.
  virtual void wait_quietly(std::span<DataId const> data, std::span<DataId const> also = {}) = 0;
  /// Sets the Runtime::failures of the calling thread, which waited, to one that it found in the results of tasks.
  virtual void set_failure(Failure found) = 0;
  /// See Runtime::cancel_on.
  virtual void cancel_on(SignalWatch const& signals) = 0;
  /// Throws InvalidArgument inside a task of this Runtime, Error after exit(); `what` ("wait()") is the subject.
  virtual void refuse_in_task(std::string_view what) const = 0;

  // Several processes.
  /// Throws InvalidArgument if there are other processes; `what` ("data cannot be reduced") is the subject of its
  /// sentence.
  virtual void refuse_with_others(std::string_view what) const = 0;
  /// The other processes; null without any.
  [[nodiscard]] virtual Processes* others() const = 0;
  /// Collective. The bytes of the datum's owner, which has them; nothing happens without others.
  virtual void share_value(DataId data, std::span<std::byte> bytes) = 0;

 private:
  RuntimeId m_id;
};

}  // namespace detail
}  // namespace granary
