// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/ground_truth.hpp>

#include <algorithm>

namespace granary {

double GroundTruth::jitter_factor(TaskId task, double jitter, std::uint64_t seed) {
  if (jitter == 0) return 1;
  detail::Random random(seed ^ (task.value() * 0x2545f4914f6cdd1dU));
  return 1 + jitter * (2 * random.uniform() - 1);
}

detail::ConstantSpeeds::ConstantSpeeds(Options options) : m_options(std::move(options)) {
  auto const possible = [](double speed) { return speed >= 0 && speed < 1e9; };
  bool valid = m_options.jitter >= 0 && m_options.jitter < 1 && m_options.without_flops >= Duration{0};
  for (double const speed : m_options.seconds_per_flop) valid = valid && possible(speed);
  for (auto const& [name, speeds] : m_options.codelets) valid = valid && std::ranges::all_of(speeds, possible);
  if (!valid) throw InvalidArgument("simulated kernels need durations of at least 0 and a jitter in [0, 1)");
}

Duration detail::ConstantSpeeds::kernel_time(Task const& task, detail::Codelet const& codelet,
                                             detail::Worker const& worker) const {
  auto const named = m_options.codelets.find(codelet.name);
  auto const& speeds = named == m_options.codelets.end() ? m_options.seconds_per_flop : named->second;
  double time =
      task.flops > 0 ? task.flops * speeds[static_cast<std::size_t>(worker.kind)] : seconds(m_options.without_flops);
  time *= jitter_factor(task.id, m_options.jitter, m_options.seed);
  return from_seconds(time);
}

}  // namespace granary
