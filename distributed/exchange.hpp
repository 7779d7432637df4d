// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/planner/event.hpp>
#include <granary/detail/core/planner/outside.hpp>
#include <granary/detail/distributed/transport.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

/// One process' part in the exchange of values, a state machine without threads of its own, thread-safe:
/// docs/design.md, "Several processes".
///
/// The stub of an *incoming value* stands for the task of another process that writes it; the stub of an *outgoing
/// value* for the tasks of another process that read it. An outgoing value's stub begins: the value is announced. An
/// incoming value's stub has begun and the value is announced: it ends, and tasks that read the value may be committed.
/// Their places are reserved before the value is asked for, as often as it was evicted since; the owner sends it each
/// time. When the datum that holds it here is forgotten, it is let go, and the stub of the outgoing value ends.
class GRANARY_EXPORT Exchange final : public OutsideCommands {
 public:
  /// `post` takes events for the planner of this process; it may be called within any call of the exchange, and must
  /// not hand them to the planner before that call returns. The transport is called within calls, too.
  Exchange(ProcessId self, Transport& transport, std::function<void(Event const&)> post)
      : m_self(self), m_transport(transport), m_post(std::move(post)) {}

  /// The stub that is submitted next: of an incoming value, which writes `local`; or of an outgoing value, if
  /// that is invalid.
  struct Stub {
    ValueId value;
    ProcessId peer;  ///< the owner or the reader
    DataId local = {};
    bool varies = false;  ///< `local`
    std::int64_t priority = 0;
  };
  /// By the only thread that submits stubs.
  void prepare(Stub const& stub) {
    std::lock_guard const lock(m_mutex);
    m_prepared = stub;
  }
  /// A datum of this process is released: its id may be used again for a value of another process before the command to
  /// forget it is performed.
  void releasing(DataId own) {
    std::lock_guard const lock(m_mutex);
    m_held[own].push_back({});
  }
  /// The stub that was prepared could not be submitted: its reader is told that its value never will exist.
  void cannot_offer(Error const& why, std::uint64_t position);

  // The planner's commands. Commands that concern neither stubs nor values of others are ignored.
  void submitted(TaskId task) override;
  void begin(BeginCommand const& command) override;
  void receive(CopyCommand const& command) override;
  void ship(ShipCommand const& command) override;
  void retire(RetireCommand const& command, Failure const* failure) override;
  void forget(ForgetCommand const& command) override;

  // Reports of the transport.
  void got(ProcessId from, Message const& message);
  /// The bytes of this outgoing value have left their place.
  void sent(TaskId outgoing_value);
  /// The bytes with this tag are in their place.
  void received(std::uint32_t tag);

  /// Nothing is known of any value of others, and no value is on its way.
  [[nodiscard]] bool at_rest() const {
    std::lock_guard const lock(m_mutex);
    return m_incoming_values.empty() && m_outgoing_values.empty() && m_early.empty();
  }

 private:
  struct Announced {
    Bytes bytes = 0;
    std::shared_ptr<FailureOrigin const> failure = {};
  };
  struct IncomingValue {
    TaskId task;
    ProcessId owner;
    DataId sized = {};  // its datum, if the size is known from the announcement
    bool begun = false;
    bool announced = false;
    Announced what = {};
  };
  struct OutgoingValue {
    ValueId value;
    ProcessId reader;
    std::int64_t priority = 0;
    bool announced = false;
    bool asked = false;                   // the planner was told, and has not been told that the value was sent
    std::uint32_t tag = 0;                // of what is asked for
    std::deque<std::uint32_t> more = {};  // tags asked for meanwhile
    bool let_go = false;
    std::shared_ptr<FailureOrigin const> failure = {};
  };
  struct Receive {
    TransferId transfer;
    ProcessId owner;
  };
  struct Shipped {
    ValueId value;
    ProcessId reader;
    bool operator==(Shipped const&) const = default;
  };
  struct HashShipped {
    std::size_t operator()(Shipped const& one) const noexcept {
      return std::hash<ValueId>{}(one.value) + one.reader.value() * 0x9e3779b97f4a7c15U;
    }
  };

  void expect(TaskId task, Stub const& stub);
  void announced(ValueId value, Announced what);
  void end(IncomingValue& incoming_value);
  void asked(ProcessId reader, Message const& message);
  void ask(TaskId task, OutgoingValue& outgoing_value, std::uint32_t tag);
  void refuse(OutgoingValue const& outgoing_value, std::uint32_t tag);
  void refused(std::uint32_t tag, std::shared_ptr<FailureOrigin const> const& failure);
  void let_go(ProcessId reader, ValueId value);
  TransferId end_receive(std::uint32_t tag);

  ProcessId m_self;
  mutable std::mutex
      m_mutex;  // of all members below; held while the locks of the transport and of posted events are taken
  std::optional<Stub> m_prepared;
  Transport& m_transport;
  std::function<void(Event const&)> m_post;
  std::unordered_map<ValueId, IncomingValue> m_incoming_values;
  std::unordered_map<TaskId, ValueId> m_incoming_value_tasks;  // that have not ended
  // By the datum here, in the order in which they are forgotten; several, if an id is used again before the end of the
  // former datum is known. Invalid: a datum of this process that was released.
  std::unordered_map<DataId, std::vector<ValueId>> m_held;
  std::unordered_map<ValueId, Announced> m_early;  // announced before they are expected
  std::unordered_map<TaskId, OutgoingValue> m_outgoing_values;
  std::unordered_map<Shipped, TaskId, HashShipped> m_shipped;
  std::vector<Receive> m_receives;  // by tag; an invalid transfer: the tag is free
  std::vector<std::uint32_t> m_free_tags;
};

}  // namespace granary::detail
