// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/distributed/transports/processes.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace granary::test {

using namespace detail;

/// Several engines of one program as processes that reach each other through memory: one thread per process stands for
/// its network, and copies values from place to place.
class LoopNetwork {
 public:
  /// With a seed, the threads pause at random.
  explicit LoopNetwork(std::uint32_t processes, std::uint64_t seed = 0);
  ~LoopNetwork();
  LoopNetwork(LoopNetwork const&) = delete;
  LoopNetwork& operator=(LoopNetwork const&) = delete;

  [[nodiscard]] Processes& transport(ProcessId process);
  /// After all transports were connected.
  void start();
  /// Before the engines end; nothing may be under way.
  void stop();
  /// Bytes of all values that were sent.
  [[nodiscard]] Bytes sent() const;

 private:
  class LoopTransport;
  // A collective call: the last process that comes ends it.
  struct Meeting {
    std::mutex mutex;
    std::condition_variable ended;
    std::uint64_t number = 0;
    std::uint32_t present = 0;
  };

  std::vector<std::unique_ptr<LoopTransport>> m_transports;
  Meeting m_meeting;
};

}  // namespace granary::test
