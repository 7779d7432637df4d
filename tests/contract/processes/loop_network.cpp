// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/processes/loop_network.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/engine/pack_lines.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace granary::test {

using namespace detail;

class LoopNetwork::LoopTransport final : public Processes {
 public:
  LoopTransport(LoopNetwork& network, ProcessId self, std::uint64_t seed)
      : m_network(network), m_self(self), m_delays(seed != 0), m_random(seed + self.value()) {}

  [[nodiscard]] ProcessId self() const override { return m_self; }
  [[nodiscard]] std::uint32_t count() const override {
    return static_cast<std::uint32_t>(m_network.m_transports.size());
  }
  void start() override {
    m_thread = std::thread([this] { run(); });
  }
  [[noreturn]] void abort(int) override { std::abort(); }
  [[nodiscard]] Bytes sent() const override { return m_sent; }

 protected:
  void close() override {
    m_stop = true;
    wake();
    if (m_thread.joinable()) m_thread.join();
  }
  std::optional<Gathered> try_allgather(Header const& ours, std::string text, Duration most) override {
    auto& meeting = m_network.m_meeting;
    std::unique_lock lock(meeting.mutex);
    m_header = ours;
    m_text = std::move(text);
    auto const number = meeting.number;
    if (++meeting.present == count()) {
      Gathered gathered;
      for (auto const& transport : m_network.m_transports) gathered.headers.push_back(transport->m_header);
      if (auto const root = root_of(gathered.headers)) gathered.text = m_network.m_transports[*root]->m_text;
      for (auto const& transport : m_network.m_transports) transport->m_gathered = gathered;
      meeting.present = 0;
      ++meeting.number;
      meeting.ended.notify_all();
    }
    auto const ended = [&] { return meeting.number != number; };
    if (most == unlimited) {
      meeting.ended.wait(lock, ended);
    } else if (!meeting.ended.wait_for(lock, most, ended)) {
      return std::nullopt;
    }
    return m_gathered;
  }

 private:
  struct Letter {
    ProcessId from;
    Message message;
  };
  struct Delivered {
    std::uint32_t tag;
  };
  using Incoming = std::variant<Letter, Delivered>;
  using Key = std::pair<ProcessId, std::uint32_t>;

  [[nodiscard]] LoopTransport& other(ProcessId process) { return *m_network.m_transports[process.index()]; }

  void run() {
    while (!m_stop) {
      wait(std::chrono::milliseconds(50));
      if (!connected()) continue;
      for (auto& operation : take()) {
        maybe_pause();
        std::visit([this](auto& what) { perform(what); }, operation);
      }
      std::vector<Incoming> incoming;
      {
        std::lock_guard const lock(m_inbox_mutex);
        std::swap(incoming, m_inbox);
      }
      for (auto const& one : incoming) {
        maybe_pause();
        if (auto const* const letter = std::get_if<Letter>(&one)) {
          ends().exchange->got(letter->from, letter->message);
        } else {
          ends().exchange->received(std::get<Delivered>(one).tag);
        }
      }
      ends().apply();
    }
  }
  void maybe_pause() {
    if (!m_delays || m_random.between(0, 7) > 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(m_random.between(0, 50)));
  }

  void perform(SendMessage& what) { other(what.to).deliver(Letter{m_self, std::move(what.message)}); }
  void perform(Expect const& what) {
    std::lock_guard const lock(m_expected_mutex);
    if (!m_expected.emplace(Key{what.from, what.tag}, what).second) throw InternalError("a tag is used twice");
  }
  void perform(Cancel const& what) {
    std::lock_guard const lock(m_expected_mutex);
    m_expected.erase(Key{what.from, what.tag});
  }
  void perform(Ship const& what) {
    other(what.to).put(Key{m_self, what.tag}, what);
    m_sent += what.bytes;
    ends().exchange->sent(what.outgoing_value);
  }

  // Called by others.
  void deliver(Incoming incoming) {
    {
      std::lock_guard const lock(m_inbox_mutex);
      m_inbox.push_back(std::move(incoming));
    }
    wake();
  }
  void put(Key const& key, Ship const& what) {
    Expect expected{};
    {
      std::lock_guard const lock(m_expected_mutex);
      expected = m_expected.extract(key).mapped();
    }
    if (expected.bytes != what.bytes) {
      throw InternalError(std::to_string(what.bytes) + " bytes came instead of " + std::to_string(expected.bytes));
    }
    pack_lines(what.source.lines, what.bytes, what.source.address, expected.destination);
    deliver(Delivered{what.tag});
  }

  LoopNetwork& m_network;
  ProcessId m_self;
  // Under the lock of the meeting.
  Header m_header;
  std::string m_text;
  Gathered m_gathered;
  bool m_delays;
  Random m_random;
  std::atomic<bool> m_stop = false;
  std::atomic<Bytes> m_sent = 0;
  std::mutex m_inbox_mutex, m_expected_mutex;
  std::vector<Incoming> m_inbox;
  std::map<Key, Expect> m_expected;
  std::thread m_thread;
};

LoopNetwork::LoopNetwork(std::uint32_t processes, std::uint64_t seed) {
  for (std::uint32_t p = 0; p < processes; ++p) {
    m_transports.push_back(std::make_unique<LoopTransport>(*this, ProcessId(p), seed));
  }
}

LoopNetwork::~LoopNetwork() { stop(); }

void LoopNetwork::stop() {
  for (auto const& transport : m_transports) transport->stop();
}

Processes& LoopNetwork::transport(ProcessId process) { return *m_transports[process.index()]; }

void LoopNetwork::start() {
  for (auto const& transport : m_transports) transport->start();
}

Bytes LoopNetwork::sent() const {
  Bytes sum = 0;
  for (auto const& transport : m_transports) sum += transport->sent();
  return sum;
}

}  // namespace granary::test
