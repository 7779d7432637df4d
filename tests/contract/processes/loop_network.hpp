// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/distributed/wires/queued_wire.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace granary::test {

/// Several engines of one program as processes that reach each other through memory: one thread per process stands for
/// its network, and copies values from place to place.
class LoopNetwork {
 public:
  /// With a seed, the threads pause at random.
  explicit LoopNetwork(std::uint32_t processes, std::uint64_t seed = 0);
  ~LoopNetwork();
  LoopNetwork(LoopNetwork const&) = delete;
  LoopNetwork& operator=(LoopNetwork const&) = delete;

  [[nodiscard]] QueuedWire& wire(ProcessId process);
  /// After all wires were connected.
  void start();
  /// Before the engines end; nothing may be under way.
  void stop();
  /// Bytes of all values that were sent.
  [[nodiscard]] Bytes sent() const;

 private:
  class LoopWire;
  std::vector<std::unique_ptr<LoopWire>> m_wires;
};

}  // namespace granary::test
