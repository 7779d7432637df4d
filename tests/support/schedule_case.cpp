// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/schedule_case.hpp"

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/policies/static/static.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/signatures.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace granary::test {

using namespace detail;

PolicyCase with_random_schedule(PolicyCase drawn) {
  Random random(drawn.seed);
  Schedule schedule;
  for (auto const& worker : drawn.machine.workers) {
    if (random.chance(0.2)) continue;
    schedule.workers.push_back({worker.name, worker.kind, drawn.machine[worker.node].name});
  }
  if (schedule.workers.empty() || random.chance(0.3)) schedule.workers.push_back({"lost", WorkerKind::Device, "lost"});
  for (auto const& codelet : drawn.graph.codelets) schedule.codelets.push_back(codelet.name);
  bool const in_order = random.chance(0.5);
  double const wrong = random.chance(0.3) ? 0.1 : 0;
  TaskSignatures signatures;
  std::vector<Bytes> sizes;
  for (auto const& operation : drawn.graph.operations) {
    if (auto const* const datum = std::get_if<RegisterData>(&operation)) {
      sizes.push_back(datum->description.bytes);
    } else if (auto const* const given_up = std::get_if<GiveUpData>(&operation)) {
      signatures.forget(DataId(given_up->datum));
    } else if (auto const* const task = std::get_if<SubmitGraphTask>(&operation)) {
      auto const& codelet = drawn.graph.codelets[task->codelet];
      if (codelet.external) continue;
      std::vector<Access> accesses;
      for (auto const& [number, mode] : task->accesses) accesses.push_back({DataId(number), mode});
      ScheduledTask planned;
      planned.signature = signatures.add(codelet, task->flops, AccessList(std::span<Access const>(accesses)),
                                         [&](DataId data) { return sizes[data.index()]; });
      if (random.chance(wrong)) ++planned.signature;
      planned.worker = static_cast<std::uint32_t>(random.below(schedule.workers.size()));
      planned.codelet = task->codelet;
      planned.rank = in_order ? schedule.tasks.size() : random.below(100);
      planned.start = Duration(in_order ? schedule.tasks.size() * 1000 : random.below(1'000'000));
      planned.duration = Duration(random.below(100'000));
      schedule.tasks.push_back(planned);
    }
  }
  auto const size = schedule.tasks.size();
  bool const cut = random.chance(0.1);
  if (cut) schedule.tasks.resize(random.below(size + 1));
  if (!schedule.tasks.empty() && random.chance(0.1)) schedule.tasks.resize(size + 10, schedule.tasks.front());
  for (auto const& task : schedule.tasks) schedule.makespan = std::max(schedule.makespan, task.start + task.duration);
  // As a file would bring it.
  auto const read = std::make_shared<Schedule const>(parse_schedule(format_schedule(schedule), "drawn"));
  // Where tasks fail, others may be refused.
  bool const same = wrong == 0 && !cut && drawn.faults.tasks.empty() && drawn.faults.copies.empty();
  using Repair = StaticScheduler::Repair;
  static constexpr std::pair<char const*, Repair> repairs[] = {
      {"none", Repair::None}, {"g", Repair::Top}, {"gs", Repair::TopTwo}, {"auto", Repair::Auto}};
  auto const& [repair_name, repair] = repairs[drawn.seed % 4];
  bool const refresh = !random.chance(0.5);
  StaticScheduler::Options const options{.repair = repair, .refresh = refresh, .any_graph = !same};
  drawn.scheduler =
      std::string("static:repair=") + repair_name + (refresh ? ":times=refresh" : "") + (same ? "" : ":graph=any");
  drawn.policies = [read, options, eviction = eviction_of(drawn)] {
    return PolicySet{std::make_unique<StaticScheduler>("drawn", *read, options), make_eviction(eviction)};
  };
  return drawn;
}

}  // namespace granary::test
