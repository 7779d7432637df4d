// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/dmda/dmda_ready.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {

/// DMDA with *Ready* over the whole queue of the group (DARTS, Algorithms 1 and 2); among tasks that need equally many
/// bytes, the first released one.
class DmdarScheduler final : public DmdaReady {
 public:
  using DmdaReady::DmdaReady;
};

SchedulerRegistration const dmdar_registration("dmdar", [](PolicyOptions& options) {
  return std::make_unique<DmdarScheduler>(options);
});

}  // namespace
}  // namespace granary::detail
