// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/common/priority_rank.hpp>
#include <granary/detail/policies/dmda/dmda_ready.hpp>
#include <granary/detail/policies/registry.hpp>

#include <memory>

namespace granary::detail {
namespace {

/// DMDAS (DARTS, section 4.2): DMDA with queues sorted by priority, and *Ready* (Algorithm 2).
///
/// Option:
///   ready  `head` (the default): *Ready* chooses among the tasks that have the priority of the queue's head, as in
///          StarPU. `all`: it searches the whole queue, as Algorithm 2 reads; the priority decides between tasks that
///          need equally many bytes. Where few tasks share a priority, as with the bottom levels of a Cholesky
///          factorization, `head` leaves *Ready* little choice, and `all` is close to dmdar.
class DmdasScheduler final : public DmdaReady {
 public:
  explicit DmdasScheduler(PolicyOptions& options)
      : DmdaReady(options, options.choice("ready", "head", {"head", "all"}) == "all" ? ReadyOrder::By::MissingBytes
                                                                                     : ReadyOrder::By::Rank) {}
  [[nodiscard]] bool heeds_priorities() const override { return true; }

 private:
  [[nodiscard]] std::int64_t rank(Task const& task) const override { return priority_rank(task.priority); }
};

SchedulerRegistration const dmdas_registration("dmdas", [](PolicyOptions& options) {
  return std::make_unique<DmdasScheduler>(options);
});

}  // namespace
}  // namespace granary::detail
