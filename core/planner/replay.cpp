// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replay of recorded events.
#include <granary/core/planner/planner.hpp>

#include <variant>

namespace granary {

void Planner::handle(Event const& event) {
  struct Dispatch {
    Planner& planner;
    void operator()(AddCodelet const& e) const { planner.add_codelet(e.codelet); }
    void operator()(AddData const& e) const { planner.add_data(e.description); }
    void operator()(RetainData const& e) const { planner.retain_data(e.data); }
    void operator()(ReleaseData const& e) const { planner.release_data(e.data); }
    void operator()(SubmitTask const& e) const { planner.submit({e.codelet, e.accesses, e.priority, e.flops}); }
    void operator()(CopyDone const& e) const { planner.copy_done(e.transfer); }
    void operator()(CopyFailed const& e) const { planner.copy_failed(e.transfer, e.error); }
    void operator()(TaskDone const& e) const { planner.task_done(e.task, e.duration); }
    void operator()(TaskFailed const& e) const { planner.task_failed(e.task, e.error); }
    void operator()(TaskSkipped const& e) const { planner.task_skipped(e.task); }
    void operator()(FlushHomes const&) const { planner.flush_homes(); }
    void operator()(CancelAll const& e) const { planner.cancel_all(e.error); }
    void operator()(ClearFailures const&) const { planner.take_failures(); }
  };
  std::visit(Dispatch{*this}, event);
}

}  // namespace granary
