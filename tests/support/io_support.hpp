// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <granary/detail/outofcore/storage.hpp>

namespace granary::test {

using namespace detail;

/// A temporary directory that is removed with its contents at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto name = (std::filesystem::temp_directory_path() / "granary-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    m_path = name;
  }
  TemporaryDirectory(TemporaryDirectory const&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }

  [[nodiscard]] std::string operator/(std::string const& name) const { return (m_path / name).string(); }
  [[nodiscard]] std::string path() const { return m_path.string(); }
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(m_path); }

 private:
  std::filesystem::path m_path;
};

/// Memory with the alignment that Storage requires.
class AlignedMemory {
 public:
  explicit AlignedMemory(Bytes bytes)
      : m_memory(static_cast<std::byte*>(std::aligned_alloc(io_alignment, round_up(bytes, io_alignment))), &std::free),
        m_bytes(bytes) {
    std::fill(data(), data() + round_up(bytes, io_alignment), std::byte{0});
  }
  [[nodiscard]] std::byte* data() const { return m_memory.get(); }
  [[nodiscard]] Bytes size() const { return m_bytes; }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(m_memory.get());
  }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> m_memory;
  Bytes m_bytes;
};

/// A completion that can be waited for; `get` throws its error.
class Completion {
 public:
  [[nodiscard]] IoCompletion callback() const {
    return [state = m_state](std::exception_ptr error) {
      std::lock_guard lock(state->mutex);
      state->error = std::move(error);
      state->called = true;
      state->changed.notify_all();
    };
  }
  void get() {
    std::unique_lock lock(m_state->mutex);
    m_state->changed.wait(lock, [this] { return m_state->called; });
    if (auto error = std::move(m_state->error)) std::rethrow_exception(error);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool called = false;
    std::exception_ptr error;
  };
  std::shared_ptr<State> m_state = std::make_shared<State>();
};

inline void read(Storage& storage, std::uint64_t slot, AlignedMemory const& memory) {
  Completion done;
  storage.read_async(slot, memory.data(), memory.size(), done.callback());
  done.get();
}

inline void write(Storage& storage, std::uint64_t slot, AlignedMemory const& memory) {
  Completion done;
  storage.write_async(slot, memory.data(), memory.size(), done.callback());
  done.get();
}

}  // namespace granary::test
