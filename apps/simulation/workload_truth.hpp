// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <algorithm>
#include <utility>

namespace granary::app {

/// The times of a platform, and the sizes of a workload's varying data.
class WorkloadTruth final : public GroundTruth {
 public:
  /// The workload must outlive it.
  WorkloadTruth(PlatformTruth times, workloads::Workload const& workload)
      : m_times(std::move(times)), m_workload(workload) {}

  [[nodiscard]] Duration kernel_time(Task const& task, detail::Codelet const& codelet,
                                     detail::Worker const& worker) const override {
    return m_times.kernel_time(task, codelet, worker);
  }
  [[nodiscard]] bool runs_on(detail::Codelet const& codelet, detail::WorkerKind kind) const override {
    return m_times.runs_on(codelet, kind);
  }
  [[nodiscard]] double processor_share(Task const& task, detail::Codelet const& codelet,
                                       detail::Worker const& worker) const override {
    return m_times.processor_share(task, codelet, worker);
  }
  [[nodiscard]] Bytes value_bytes(Task const&, detail::Access const& written, detail::DataDescription const& datum,
                                  Bytes room) const override {
    Bytes const bytes = m_workload.value_bytes(datum.position, written.version);
    return bytes == 0 ? room : std::min(bytes, room);
  }

 private:
  PlatformTruth m_times;
  workloads::Workload const& m_workload;
};

}  // namespace granary::app
