// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/base/stable_hash.hpp>
#include <granary/detail/simulator/platform_truth.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary {
namespace {

void check_share(char const* what, double value) {
  if (!(value >= 0 && value < 1)) {
    throw InvalidArgument(std::string("the ") + what + " of a platform must be in [0, 1); it is " +
                          std::to_string(value));
  }
}

}  // namespace

detail::Precision precision_of(detail::Codelet const& codelet, detail::Precision otherwise) {
  return precision_of_letter(codelet.variant).value_or(otherwise);
}

PlatformTruth::PlatformTruth(Platform const& platform, Options options) : m_platform(platform), m_options(options) {
  if (!m_options.jitter) m_options.jitter = platform.jitter;
  check_share("jitter", *m_options.jitter);
  check_share("error of the truth", m_options.error);
  if (!(m_options.scale > 0 && m_options.scale < 1e9)) {
    throw InvalidArgument("the scale of a platform's times must be above 0 and below 1e9; it is " +
                          std::to_string(m_options.scale));
  }
}

double PlatformTruth::factor(detail::Codelet const& codelet, detail::WorkerKind kind) const {
  if (m_options.error == 0) return m_options.scale;
  // Unlike an estimator's factors with the same seed.
  detail::Random random(stable_hash(codelet.name) ^ (m_options.error_seed * 0x2545f4914f6cdd1dU + 1));
  double uniform = random.uniform();
  for (std::size_t k = 0; k < static_cast<std::size_t>(kind); ++k) uniform = random.uniform();
  return m_options.scale * (1 + m_options.error * (2 * uniform - 1));
}

Duration PlatformTruth::kernel_time(Task const& task, detail::Codelet const& codelet,
                                    detail::Worker const& worker) const {
  auto const exact = m_platform.kernel_time(codelet.name, task.flops, precision_of(codelet, m_options.precision),
                                            Platform::model_of(worker));
  double const factor = this->factor(codelet, worker.kind) * jitter_factor(task.id, *m_options.jitter, m_options.seed);
  return factor == 1 ? exact : from_seconds(seconds(exact) * factor);
}

double PlatformTruth::processor_share(Task const& task, detail::Codelet const& codelet,
                                      detail::Worker const& worker) const {
  if (!m_platform.shared_devices || worker.kind != detail::WorkerKind::Device) return 0;
  auto const times =
      m_platform.times(codelet.name, precision_of(codelet, m_options.precision), Platform::model_of(worker));
  return times ? times->share(task.flops) : 0;
}

bool PlatformTruth::runs_on(detail::Codelet const& codelet, detail::WorkerKind kind) const {
  auto const precision = precision_of(codelet, m_options.precision);
  if (!m_platform.names(codelet.name, precision) && !codelet.runs_on(kind)) return false;
  // All workers of the kind, since any of them may run a group's tasks.
  auto const& workers = m_platform.machine.workers;
  bool const any = std::ranges::any_of(workers, [&](detail::Worker const& w) { return w.kind == kind; });
  return any && std::ranges::all_of(workers, [&](detail::Worker const& w) {
           return w.kind != kind || m_platform.times(codelet.name, precision, Platform::model_of(w)).has_value();
         });
}

PlatformEstimator::PlatformEstimator(Platform const& platform, Options options)
    : m_platform(platform), m_options(options) {
  check_share("estimator's error", m_options.error);
}

// By node: the device workers that share its device.
std::vector<std::uint32_t> PlatformEstimator::sharing() const {
  std::vector<std::uint32_t> counts(m_platform.machine.nodes.size());
  for (auto const& worker : m_platform.machine.workers) {
    if (worker.kind == detail::WorkerKind::Device) ++counts[worker.node.index()];
  }
  return counts;
}

void PlatformEstimator::codelet_added(detail::CodeletId id, detail::Codelet const& codelet) {
  if (id.index() >= m_shares.size()) m_shares.resize(id.index() + 1);
  auto const precision = precision_of(codelet, m_options.precision);
  detail::Random random(m_options.seed ^ stable_hash(codelet.name));
  auto const together = sharing();
  for (std::size_t kind = 0; kind < detail::worker_kinds; ++kind) {
    double const factor = 1 + m_options.error * (2 * random.uniform() - 1);
    std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> models;  // and how many share a device
    std::uint32_t known = 0;
    for (auto const& worker : m_platform.machine.workers) {
      auto const model = Platform::model_of(worker);
      if (worker.kind != static_cast<detail::WorkerKind>(kind) || !m_platform.times(codelet.name, precision, model))
        continue;
      bool const shared = m_platform.shared_devices && worker.kind == detail::WorkerKind::Device;
      ++models[{model, shared ? together[worker.node.index()] : 1}];
      ++known;
    }
    auto& shares = m_shares[id.index()][kind];
    shares.clear();
    for (auto const& [model_together, workers] : models) {
      auto const& [model, sharing] = model_together;
      shares.push_back(
          {*m_platform.times(codelet.name, precision, model), factor * workers / known, static_cast<double>(sharing)});
    }
  }
}

Duration PlatformEstimator::kernel_time(detail::CodeletId codelet, double flops, detail::WorkerKind kind) const {
  double time = 0;
  for (auto const& share : m_shares.at(codelet.index())[static_cast<std::size_t>(kind)]) {
    double const slowdown = share.together > 1 ? std::max(1.0, share.together * share.times.share(flops)) : 1;
    time += share.weight * slowdown * share.times.seconds(flops);
  }
  return std::max(from_seconds(time), Duration{1});
}

}  // namespace granary
