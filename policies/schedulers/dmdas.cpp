// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/policies/registry.hpp>
#include <granary/policies/schedulers/dmda_ready.hpp>

#include <algorithm>
#include <limits>
#include <memory>

namespace granary {
namespace {

/// DMDAS (DARTS, section 4.2): queues sorted by priority, with *Ready* among the tasks that have the priority of the
/// head.
class DmdasScheduler final : public DmdaReady {
 public:
  using DmdaReady::DmdaReady;
  [[nodiscard]] bool heeds_priorities() const override { return true; }

 private:
  [[nodiscard]] std::int64_t rank(Task const& task) const override {
    return -std::max(task.priority, -std::numeric_limits<std::int64_t>::max());
  }
};

SchedulerRegistration const dmdas_registration("dmdas", [](PolicyOptions& options) {
  return std::make_unique<DmdasScheduler>(options);
});

}  // namespace
}  // namespace granary
