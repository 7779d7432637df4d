// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/outofcore/io_thread.hpp>
#include <granary/detail/outofcore/storage.hpp>

namespace granary::test {

using namespace detail;

/// The faults. Operations are counted from 1, in the order in which they are started.
struct Faults {
  std::optional<std::uint64_t> fail_read = {};   ///< this read fails
  std::optional<std::uint64_t> fail_write = {};  ///< this write fails
  std::set<std::uint64_t> bad_slots = {};        ///< every operation on these slots fails
  int error_number = 5;                          ///< EIO
  bool half_done = false;                        ///< a failing operation first moves the first half of its bytes
  std::uint64_t hold =
      0;  ///< completions are held back until this many wait (or `release`), then called in random order
  std::uint64_t seed = 1;
};

/// Forwards operations to another storage, with faults that depend only on the seed and the order of the calls.
class FaultyStorage final : public Storage {
 public:
  FaultyStorage(Storage& storage, Faults faults)
      : m_storage(storage), m_faults(std::move(faults)), m_random(m_faults.seed) {}

  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) override {
    bool const fails = next(m_reads, m_faults.fail_read, slot);
    if (!fails) return m_storage.read_async(slot, destination, bytes, wrap(std::move(done)));
    if (!m_faults.half_done) return fail("cannot read", slot, std::move(done));
    std::memset(destination, 0xff, bytes / 2);
    fail("cannot read", slot, std::move(done));
  }

  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) override {
    if (!next(m_writes, m_faults.fail_write, slot))
      return m_storage.write_async(slot, source, bytes, wrap(std::move(done)));
    if (!m_faults.half_done) return fail("cannot write", slot, std::move(done));
    m_storage.write_async(slot, source, bytes, [this, slot, done = std::move(done)](std::exception_ptr) {
      fail("cannot write", slot, done);
    });
  }

  [[nodiscard]] std::string describe(std::uint64_t slot) const override { return m_storage.describe(slot); }

  /// Calls the completions that are held back.
  void release() {
    std::vector<std::function<void()>> held;
    {
      std::lock_guard lock(m_mutex);
      held.swap(m_held);
      for (std::size_t i = held.size(); i > 1; --i) std::swap(held[i - 1], held[m_random.below(i)]);
    }
    for (auto& action : held) m_thread.post(std::move(action));
  }

 private:
  bool next(std::uint64_t& count, std::optional<std::uint64_t> const& failing, std::uint64_t slot) {
    std::lock_guard lock(m_mutex);
    return ++count == failing || m_faults.bad_slots.contains(slot);
  }

  IoCompletion wrap(IoCompletion done) {
    if (m_faults.hold == 0) return done;
    return [this, done = std::move(done)](std::exception_ptr error) {
      hold([done, error = std::move(error)]() mutable { done(std::move(error)); });
    };
  }

  void fail(char const* operation, std::uint64_t slot, IoCompletion done) {
    auto error = std::make_exception_ptr(IoError(operation, m_storage.describe(slot), 0, m_faults.error_number));
    auto action = [done = std::move(done), error = std::move(error)]() mutable { done(std::move(error)); };
    if (m_faults.hold == 0) return m_thread.post(std::move(action));
    hold(std::move(action));
  }

  void hold(std::function<void()> action) {
    bool full = false;
    {
      std::lock_guard lock(m_mutex);
      m_held.push_back(std::move(action));
      full = m_held.size() >= m_faults.hold;
    }
    if (full) release();
  }

  Storage& m_storage;
  Faults m_faults;
  std::mutex m_mutex;
  Random m_random;
  std::uint64_t m_reads = 0;
  std::uint64_t m_writes = 0;
  std::vector<std::function<void()>> m_held;
  SerialThread m_thread{"faulty-storage"};
};

/// Values in memory, one per slot; reading a slot that was never written fails.
class MemoryStorage final : public Storage {
 public:
  void read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) override {
    m_thread.post([this, slot, destination, bytes, done = std::move(done)] {
      auto const found = m_values.find(slot);
      if (found == m_values.end() || found->second.size() < bytes) {
        return done(std::make_exception_ptr(IoError("cannot read", describe(slot), 0, 61)));
      }
      std::memcpy(destination, found->second.data(), bytes);
      done(nullptr);
    });
  }

  void write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) override {
    m_thread.post([this, slot, source, bytes, done = std::move(done)] {
      m_values[slot].assign(source, source + bytes);
      done(nullptr);
    });
  }

  [[nodiscard]] std::string describe(std::uint64_t slot) const override {
    return "slot " + std::to_string(slot) + " in memory";
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> m_values;  // used only on the thread
  SerialThread m_thread{"memory-storage"};
};

}  // namespace granary::test
