// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/ground_truth.hpp>

#include <cstdint>

namespace granary::test {

/// The size of a value of a varying datum: any, often none, or all that there is room for.
inline Bytes drawn_bytes(TaskId task, DataId data, std::uint64_t seed, Bytes room) {
  detail::Random random(seed + task.value() * 1000003 + data.value());
  if (random.chance(0.2)) return room;
  return random.chance(0.1) ? 0 : random.below(room + 1);
}

/// Kernels of random cases.
class CaseTruth final : public GroundTruth {
 public:
  explicit CaseTruth(std::uint64_t seed) : m_seed(seed), m_speeds(jittering(seed)) {}
  [[nodiscard]] Duration kernel_time(Task const& task, detail::Codelet const& codelet,
                                     detail::Worker const& worker) const override {
    return m_speeds.kernel_time(task, codelet, worker);
  }
  [[nodiscard]] Bytes value_bytes(Task const& task, detail::Access const& written, detail::DataDescription const&,
                                  Bytes room) const override {
    return drawn_bytes(task.id, written.data, m_seed, room);
  }

 private:
  static detail::ConstantSpeeds::Options jittering(std::uint64_t seed) {
    detail::ConstantSpeeds::Options options;
    options.jitter = 0.5;
    options.seed = seed;
    return options;
  }

  std::uint64_t m_seed;
  detail::ConstantSpeeds m_speeds;
};

}  // namespace granary::test
