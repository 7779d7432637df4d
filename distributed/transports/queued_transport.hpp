// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/distributed/exchange.hpp>
#include <granary/detail/distributed/transport.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

namespace granary::detail {

/// A transport of an engine, whose calls a thread of the implementation performs in the order in which they were made.
class GRANARY_EXPORT QueuedTransport : public Transport {
 public:
  /// The exchange and the engine that the transport serves.
  struct Ends {
    Exchange* exchange = nullptr;
    /// Returns a datum's bytes; called within the transport's calls.
    std::function<PlacedBytes(DataId, Place const&)> bytes_at;
    /// Lets the engine apply what the exchange has posted.
    std::function<void()> apply;
  };
  /// Once, before the first call of the transport.
  void connect(Ends ends) {
    m_ends = std::move(ends);
    m_connected = true;
  }
  void connect(Exchange& exchange, Engine& engine) {
    connect({.exchange = &exchange,
             .bytes_at = [&engine](DataId data, Place const& place) { return engine.bytes_at(data, place); },
             .apply = [&engine] { engine.apply_posted(); }});
  }

  void send(ProcessId to, Message message) final { add(SendMessage{to, std::move(message)}); }
  void expect(ProcessId from, std::uint32_t tag, CopyCommand const& copy) final {
    add(Expect{from, tag, m_ends.bytes_at(copy.data, copy.to).address, copy.bytes});
  }
  void cancel(ProcessId from, std::uint32_t tag) final { add(Cancel{from, tag}); }
  void ship(ProcessId to, std::uint32_t tag, ShipCommand const& command, std::int64_t priority) final {
    add(Ship{to, tag, command.task, m_ends.bytes_at(command.data, command.from), command.bytes, priority});
  }

 protected:
  struct SendMessage {
    ProcessId to;
    Message message;
  };
  struct Expect {
    ProcessId from;
    std::uint32_t tag;
    std::byte* destination;
    Bytes bytes;
  };
  struct Cancel {
    ProcessId from;
    std::uint32_t tag;
  };
  struct Ship {
    ProcessId to;
    std::uint32_t tag;
    TaskId outgoing_value;
    PlacedBytes source;
    Bytes bytes;
    std::int64_t priority;
  };
  using Operation = std::variant<SendMessage, Expect, Cancel, Ship>;

  /// True if `ends` are set.
  [[nodiscard]] bool connected() const { return m_connected; }
  [[nodiscard]] Ends const& ends() const { return m_ends; }
  void add(Operation operation) {
    {
      std::lock_guard const lock(m_mutex);
      m_operations.push_back(std::move(operation));
    }
    m_changed.notify_one();
  }
  /// Ends a `wait` without an operation.
  void wake() {
    {
      std::lock_guard const lock(m_mutex);
      m_woken = true;
    }
    m_changed.notify_one();
  }
  /// All that was added since the last call, oldest first.
  [[nodiscard]] std::vector<Operation> take() {
    std::lock_guard const lock(m_mutex);
    m_woken = false;
    return std::exchange(m_operations, {});
  }
  /// Until there is an operation or a `wake`, but not longer than this.
  void wait(Duration most) {
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, most, [this] { return m_woken || !m_operations.empty(); });
  }

 private:
  Ends m_ends;
  std::atomic<bool> m_connected = false;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<Operation> m_operations;
  bool m_woken = false;
};

}  // namespace granary::detail
