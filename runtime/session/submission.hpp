// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/runtime/session/data_binding.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace granary::detail {

class DataRegistry;
class Exchange;
class Processes;

/// How a Runtime registers data and submits tasks: as the only process, or as one of several that submit alike. The ids
/// of data are those of its submitter: with one process the engine's, with several numbers that are alike in all of
/// them (`submitted_id` of a DataKey), which no engine knows. So what concerns a datum of either goes through here.
class Submission {
 public:
  virtual ~Submission() = default;

  [[nodiscard]] virtual Submitter& submitter() = 0;
  /// Submits a task of the façade while the counter has that value; nothing if it has not. `parameters` are left as
  /// they are then.
  [[nodiscard]] virtual std::optional<TaskId> submit_while(std::atomic<std::uint64_t> const& counter,
                                                           std::uint64_t value, TaskSubmission const& task,
                                                           Parameters& parameters) = 0;

  /// True if the datum belongs to this process.
  [[nodiscard]] virtual bool owns(DataId data) const = 0;
  /// See Session::in_use, Runtime::prefetch and `will_not_use`: nothing happens in other processes than the owner.
  [[nodiscard]] virtual bool in_use(DataId data) const = 0;
  virtual void prefetch(DataId data, NodeId node) = 0;
  virtual void will_not_use(DataId data) = 0;
  /// Registers the datum with the engine of its owner.
  virtual DataId add_data(DataDescription description, DataBinding binding) = 0;
  /// The same for memory of the application, `bytes` of it without the gaps between lines: what is kept for it is that
  /// of its first registration.
  virtual SharedData add_view(std::string name, Bytes bytes, DataBinding binding) = 0;
  virtual void retain_data(DataId data) = 0;
  [[nodiscard]] virtual std::string name_of(DataId data) const = 0;

  /// See Runtime::assign.
  virtual void assign(DataId data, ProcessId owner) = 0;
  /// See Session::share_value, `others` and `refuse_with_others`.
  virtual void share_value(DataId data, std::span<std::byte> bytes) = 0;
  [[nodiscard]] virtual Processes* others() const = 0;
  virtual void refuse_with_others(std::string_view what) const = 0;

  /// See Runtime::wait.
  virtual void wait() = 0;
  virtual void wait(std::span<DataId const> data, std::span<DataId const> also) = 0;
  /// See Runtime::give_up: returns what that throws.
  [[nodiscard]] virtual std::exception_ptr give_up(std::exception_ptr const& why, int status) = 0;
  [[nodiscard]] virtual bool gave_up() const = 0;
  /// Cancels all tasks and waits for them, because of an exception that is on its way already.
  virtual void abandon(std::exception_ptr const& why) = 0;
};

[[nodiscard]] std::unique_ptr<Submission> make_local_submission(Engine& engine, DataRegistry const& registry);
/// Connects the processes, as many as the grid has.
[[nodiscard]] std::unique_ptr<Submission> make_common_submission(Processes& processes, Distribution const& grid,
                                                                 Engine& engine, DataRegistry const& registry,
                                                                 Exchange& exchange);

}  // namespace granary::detail
