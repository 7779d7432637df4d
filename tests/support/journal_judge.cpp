// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/journal_judge.hpp"

#include "support/acts.hpp"

#include <granary/detail/core/model/estimator.hpp>
#include <granary/detail/core/planner/inspection.hpp>
#include <granary/detail/core/planner/planner.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace granary::test {

using namespace detail;

HomeContents judge(Journal const& journal, Topology const& topology, PolicySet policies,
                   PlannerOptions const& options) {
  auto const estimator =
      journal.estimator() != nullptr ? journal.estimator()->copy() : std::make_unique<AveragingEstimator>();
  Planner planner(topology, std::move(policies), *estimator, options);
  CoherenceOracle oracle(topology);
  oracle.look_into(&planner);
  Acts acts([&](Act const& act) { oracle.on_act(act); },
            [&](Event const& event, NewIds ids) {
              oracle.after_event();
              // In these runs the application leaves its memory alone.
              if (!std::holds_alternative<HomesMayChange>(event)) oracle.on_event(event, ids);
            });
  planner.attach(acts);
  std::size_t seen = 0;
  std::vector<Command> commands;
  for (auto const& entry : journal.entries()) {
    planner.set_now(entry.when);
    std::vector<Failure> failures;
    if (auto const* added = std::get_if<AddData>(&entry.event)) {
      oracle.add_data(planner.handle(*added), added->description, added->places);
    } else if (auto const* taken = std::get_if<TakeFailures>(&entry.event)) {
      failures = planner.handle(*taken);
      if (taken->data.valid()) failures.clear();  // the run goes on
    } else {
      planner.handle(entry.event);
    }
    planner.take_commands(commands);
    for (auto const& command : commands) {
      if (seen == journal.commands().size() || !(command == journal.commands()[seen++])) {
        throw std::logic_error("the replayed planner does not give command " + std::to_string(seen) + " of the run");
      }
    }
    if (seen != entry.commands_end) throw std::logic_error("the replayed planner gives fewer commands than the run");
    planner.inspect().check_invariants();
    if (!failures.empty()) {
      oracle.after_event();
      oracle.at_rest(failures);
    }
  }
  oracle.after_event();
  if (!planner.idle()) throw std::logic_error("the planner is not idle at the end of the run");
  oracle.at_rest({});
  return oracle.homes();
}

}  // namespace granary::test
