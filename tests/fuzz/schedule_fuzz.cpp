// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads schedules, writes them again, and runs a small graph as they say.
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/policies/static/static.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/simulator/simulator.hpp>

#include <memory>
#include <utility>

#include "tests/fuzz/json_format.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

using namespace detail;

namespace {

void simulate(Schedule schedule, std::size_t size) {
  using Repair = StaticScheduler::Repair;
  Machine machine;
  auto const host = machine.add_node({.name = "host"});
  for (auto const kind : {WorkerKind::Cpu, WorkerKind::Cpu, WorkerKind::Device}) {
    machine.add_worker({.name = kind == WorkerKind::Cpu ? "core" : "gpu0", .node = host, .kind = kind});
  }
  AveragingEstimator estimator;
  ConstantSpeeds const truth;
  StaticScheduler::Options const options{
      .repair = static_cast<Repair>(size % 4), .refresh = size % 8 < 4, .any_graph = true};
  Simulator simulator(Topology(machine),
                      {std::make_unique<StaticScheduler>("fuzz", std::move(schedule), options), make_eviction("lru")},
                      estimator, truth);
  auto const codelet = simulator.add_codelet({.name = "gemm", .kernels = {[](KernelCall const&) {}, nullptr}});
  auto const data = simulator.add_data({.name = "x", .bytes = 8});
  for (auto const mode : {AccessMode::Write, AccessMode::Read, AccessMode::Read, AccessMode::ReadWrite}) {
    Access const accesses[] = {{data, mode}};
    simulator.submit({.codelet = codelet, .accesses = accesses, .flops = 1e6});
  }
  if (simulator.run().statistics.tasks_run != 4) fail("not every task ran");
}

}  // namespace

std::vector<std::string> seeds() {
  Schedule schedule;
  schedule.workers = {{"core", WorkerKind::Cpu, "host"}, {"gpu0", WorkerKind::Device, "host"}};
  schedule.codelets = {"gemm", "trsm"};
  schedule.tasks = {{0, 0, 0x1234567890abcdefU, 0, Duration(0), Duration(9000)},
                    {1, 1, 7, 1, Duration(10), Duration(500)},
                    {0, 0, 8, 2, Duration(9000), Duration(1)}};
  schedule.makespan = Duration(9001);
  return {format_schedule(schedule), format_schedule({})};
}

std::vector<std::string> words() {
  return json_words(
      {"\"graph\":", "\"rank\":", "\"worker\":", "\"device\"", "\"tasks\":", "\"0\"", "4611686018427387904"});
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  auto const text = fuzz::text_of(data, size);
  Schedule schedule;
  if (!fuzz::refuses_or(size, [&] { schedule = parse_schedule(text, "schedule.json"); })) return 0;
  if (parse_schedule(format_schedule(schedule), "written.json") != schedule)
    fuzz::fail("a schedule changes when it is written");
  fuzz::simulate(std::move(schedule), size);
  return 0;
}
