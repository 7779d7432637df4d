// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/engine_fixture.hpp"
#include "support/random_booking.hpp"

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/distributed/distributed_submitter.hpp>
#include <granary/detail/distributed/transports/queued_transport.hpp>

#include <optional>
#include <set>
#include <stdexcept>

/// Random programs, the same in all processes, and what one of these does with an engine.
namespace granary::test {

using namespace detail;

using Value = std::uint64_t;

struct Step {
  std::vector<std::pair<std::uint32_t, AccessMode>> accesses;
  bool fails = false;
  bool last_use = false;  // of the first datum, instead of a task
};

struct Program {
  std::vector<std::uint32_t> owners;  // by datum
  std::vector<Step> steps;
};

inline Value mixed(Value a, Value b) { return (a ^ b) * 0x9e3779b97f4a7c15U + 1; }

// All that one task writes belongs to one process.
inline Program draw_program(std::uint32_t processes, bool failures, Random& random) {
  Program program;
  auto const data = static_cast<std::uint32_t>(random.between(2, 14));
  for (std::uint32_t d = 0; d < data; ++d) {
    program.owners.push_back(static_cast<std::uint32_t>(random.below(processes)));
    program.steps.push_back({.accesses = {{d, AccessMode::Write}}});
  }
  auto const tasks = random.between(10, 80);
  for (std::int64_t t = 0; t < tasks; ++t) {
    Step step;
    std::set<std::uint32_t> used;
    std::optional<std::uint32_t> writer;
    for (auto left = random.between(1, 4); left > 0; --left) {
      auto const d = static_cast<std::uint32_t>(random.below(data));
      if (!used.insert(d).second) continue;
      bool const may_write = !writer || *writer == program.owners[d];
      auto mode = AccessMode::Read;
      if (may_write && random.chance(0.5)) {
        mode = random.chance(0.3) ? AccessMode::Write : AccessMode::ReadWrite;
        writer = program.owners[d];
      }
      step.accesses.emplace_back(d, mode);
    }
    step.fails = failures && random.chance(0.04);
    program.steps.push_back(std::move(step));
    if (random.chance(0.1)) {
      program.steps.push_back(
          {.accesses = {{static_cast<std::uint32_t>(random.below(data)), AccessMode::Read}}, .last_use = true});
    }
  }
  return program;
}

// The parameters of a task, and what its body does.
struct Body {
  std::vector<AccessMode> modes;
  Value number;
  bool fails;
};
inline void run_body(KernelCall const& call) {
  auto const& body = *static_cast<Body const*>(call.parameters);
  if (body.fails) throw std::runtime_error("fails on purpose");
  Value seen = body.number;
  for (std::size_t i = 0; i < body.modes.size(); ++i) {
    if (reads(body.modes[i])) seen = mixed(seen, value(call, i));
  }
  for (std::size_t i = 0; i < body.modes.size(); ++i) {
    if (writes(body.modes[i])) value(call, i) = mixed(seen, i);
  }
}
struct Look {
  Value* to;
};
inline void run_look(KernelCall const& call) { *static_cast<Look const*>(call.parameters)->to = value(call); }

// The values after the program; empty: none, because of a failure.
inline std::vector<std::optional<Value>> expected_values(Program const& program) {
  std::vector<std::optional<Value>> values(program.owners.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    auto const& step = program.steps[s];
    if (step.last_use) continue;
    bool runs = !step.fails;
    Value seen = s;
    for (auto const& [d, mode] : step.accesses) {
      if (!reads(mode)) continue;
      runs = runs && values[d];
      if (runs) seen = mixed(seen, *values[d]);
    }
    for (std::size_t i = 0; i < step.accesses.size(); ++i) {
      auto const& [d, mode] = step.accesses[i];
      if (!writes(mode)) continue;
      values[d] = runs ? std::optional(mixed(seen, i)) : std::nullopt;
    }
  }
  return values;
}

inline constexpr char const* every_scheduler[] = {"eager", "lws",   "prio", "dmdas",
                                                  "dmdar", "darts", "heft", "superblock"};

// A program, and what it runs on.
struct RandomProcesses {
  RandomProcesses(std::uint64_t of_seed, std::uint32_t count, bool failures)
      : seed(of_seed), random(of_seed), processes(count), program(draw_program(count, failures, random)) {}

  [[nodiscard]] std::string describe() const {
    return "seed " + std::to_string(seed) + ", " + std::to_string(processes) + " processes, " + std::to_string(words) +
           " words, " + scheduler + ", " + to_text(booking);
  }

  std::uint64_t seed;
  Random random;
  std::uint32_t processes;
  Program program;
  // Four values of a task, and the reserve of the send node.
  std::int64_t words = random.between(6, 20);
  SmallMachine small{static_cast<std::uint32_t>(random.between(1, 2)), static_cast<Bytes>(words) * 8};
  std::string scheduler = every_scheduler[random.below(std::size(every_scheduler))];
  BookingOptions booking = draw_booking(random, static_cast<Bytes>(words) * 8);
};

struct OneProcess {
  OneProcess(std::uint32_t self, RandomProcesses const& drawn, QueuedTransport& its_transport)
      : machine(with_peers(drawn.small.machine, {.bandwidth = 1e9}, 2)),
        topology(machine),
        copies(std::make_shared<LoggingCopies>(machine)),
        transport(its_transport),
        exchange(ProcessId(self), transport, [this](Event const& event) { engine->post(event); }) {
    copies->values.resize(4096);
    std::vector<std::shared_ptr<CopyBackend>> by_link(machine.links.size());
    by_link[0] = by_link[1] = copies;
    EngineOptions options;
    options.outside = &exchange;
    options.booking = drawn.booking;
    engine = std::make_unique<Engine>(topology, make_policies(drawn.scheduler, default_eviction(drawn.scheduler)),
                                      std::make_unique<AveragingEstimator>(),
                                      EngineBackends{std::make_shared<PlainWorkers>(), by_link}, options);
    transport.connect(exchange, *engine);
    submitter.emplace(
        ProcessId(self),
        [&program = drawn.program](DataDescription const&, std::uint64_t number) {
          return ProcessId(program.owners[number]);
        },
        *engine, topology.peers(), exchange);
  }

  // Submits the whole program and waits; returns the final values of the data that this process owns.
  std::vector<std::optional<Value>> run(RandomProcesses const& drawn, std::uint32_t self) {
    auto const& program = drawn.program;
    Codelet body{.name = "body", .launches_kokkos_kernels = false},
        look{.name = "look", .launches_kokkos_kernels = false};
    body.kernels[0] = run_body;
    look.kernels[0] = run_look;
    auto const body_id = submitter->add_codelet(body), look_id = submitter->add_codelet(look);
    std::vector<DataId> keys;
    for (std::size_t d = 0; d < program.owners.size(); ++d) {
      keys.push_back(submitter->add_data({.name = "d" + std::to_string(d), .bytes = 8, .home = drawn.small.disk}));
    }
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      auto const& step = program.steps[s];
      if (step.last_use) {
        submitter->last_use(keys[step.accesses[0].first]);
        continue;
      }
      Body made{{}, s, step.fails};
      std::vector<Access> accesses;
      for (auto const& [d, mode] : step.accesses) {
        accesses.push_back({keys[d], mode});
        made.modes.push_back(mode);
      }
      submit_or_skip({body_id, accesses, 0, 0}, Parameters(std::move(made)));
    }
    std::vector<Value> found(program.owners.size());
    std::vector<bool> asked(program.owners.size());
    for (std::size_t d = 0; d < program.owners.size(); ++d) {
      Access const access[] = {{keys[d], AccessMode::Read}};
      asked[d] = submit_or_skip({look_id, access, 0, 0}, Parameters(Look{&found[d]}));
    }
    submitter->let_go_of_all();
    try {
      engine->wait();
    } catch (std::exception const&) {
      // What was asked for after the report of the failure that took it is not a failure of its own.
      for (auto const& one : engine->failures()) {
        auto const origin = origin_of(one, ProcessId(self));
        if (!failure && !origin->known) failure = origin;
      }
    }
    std::vector<std::optional<Value>> looks(program.owners.size());
    for (std::size_t d = 0; d < program.owners.size(); ++d) {
      // What failed left its place as it was.
      if (program.owners[d] == self && asked[d] && found[d] != 0) looks[d] = found[d];
    }
    return looks;
  }
  // Whether the task was accepted; it is not if it reads what has no value any more.
  bool submit_or_skip(TaskSubmission const& submission, Parameters parameters) {
    try {
      submitter->submit(submission, std::move(parameters));
      return true;
    } catch (InvalidArgument const&) {
      return false;
    }
  }

  Machine machine;
  Topology topology;
  std::shared_ptr<LoggingCopies> copies;
  QueuedTransport& transport;
  Exchange exchange;
  std::unique_ptr<Engine> engine;
  std::optional<DistributedSubmitter> submitter;
  std::shared_ptr<FailureOrigin const> failure;  // the first that this process was told
};

}  // namespace granary::test
