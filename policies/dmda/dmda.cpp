// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/dmda/dmda_base.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {

/// DMDA (DARTS, Algorithm 1): the tasks assigned to a group run in the order of their release.
class DmdaScheduler final : public DmdaBase {
 public:
  using DmdaBase::DmdaBase;
};

SchedulerRegistration const dmda_registration("dmda", [](PolicyOptions& options) {
  return std::make_unique<DmdaScheduler>(options);
});

}  // namespace
}  // namespace granary::detail
