// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "patterns.hpp"

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/cluster/network_model.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace granary::bench {
namespace {

class Builder {
 public:
  Builder(std::string name, std::uint32_t processes) : m_pattern{std::move(name), {}} {
    m_pattern.run.processes = processes;
    m_pattern.run.workers = 1;
    m_pattern.run.value_order.resize(processes);
  }
  void send(std::uint32_t from, std::uint32_t to, Bytes bytes) {
    if (from == to) return;
    m_pattern.run.value_order[from].push_back(static_cast<std::uint32_t>(m_pattern.run.values.size()));
    m_pattern.run.values.push_back({.from = from, .to = to, .bytes = bytes});
  }
  Pattern take() { return std::move(m_pattern); }

 private:
  Pattern m_pattern;
};

}  // namespace

std::vector<Pattern> patterns(std::uint32_t processes, Bytes bytes, std::uint64_t seed) {
  std::vector<Pattern> all;
  auto const add = [&](std::string name, auto&& sends) {
    Builder builder(std::move(name), processes);
    sends(builder);
    all.push_back(builder.take());
  };
  auto const for_each = [processes](auto&& function) {
    for (std::uint32_t p = 0; p < processes; ++p) function(p);
  };
  detail::Random random(seed);
  auto const any = [&] { return static_cast<std::uint32_t>(random.between(0, std::int64_t{processes} - 1)); };
  auto const about = [&](Bytes size) {
    return size / 2 + static_cast<Bytes>(random.between(0, static_cast<std::int64_t>(size)));
  };

  add("ring", [&](Builder& to) { for_each([&](std::uint32_t p) { to.send(p, (p + 1) % processes, bytes); }); });
  add("permutation", [&](Builder& to) {
    std::vector<std::uint32_t> targets(processes);
    std::iota(targets.begin(), targets.end(), 0U);
    for (std::uint32_t p = processes; p > 1; --p) {
      std::swap(targets[p - 1], targets[static_cast<std::size_t>(random.between(0, std::int64_t{p} - 1))]);
    }
    for_each([&](std::uint32_t p) { to.send(p, targets[p], bytes); });
  });
  add("one-to-all", [&](Builder& to) { for_each([&](std::uint32_t p) { to.send(0, p, bytes); }); });
  add("all-to-one", [&](Builder& to) { for_each([&](std::uint32_t p) { to.send(p, 0, bytes); }); });
  // Each process begins with its neighbour; or all begin with the first process, and sizes differ, because equal ones
  // would end together, up to rounding, which then determines what follows.
  add("all-to-all shifted", [&](Builder& to) {
    for_each([&](std::uint32_t p) { for_each([&](std::uint32_t q) { to.send(p, (p + q) % processes, bytes); }); });
  });
  add("all-to-all by number", [&](Builder& to) {
    for_each([&](std::uint32_t p) { for_each([&](std::uint32_t q) { to.send(p, q, about(bytes)); }); });
  });
  for (std::uint32_t const pairs : {1U, 2U, 8U}) {
    add("random pairs x" + std::to_string(pairs), [&](Builder& to) {
      for (std::uint32_t i = 0; i < pairs * processes; ++i) to.send(any(), any(), bytes);
    });
  }
  // Each process sends to the first quarter of them, at most 15, where all compete, and one large value, of as many
  // bytes as each of these receives, to a process that nobody else sends to.
  add("crowded receivers", [&](Builder& to) {
    std::uint32_t const crowded = std::min(processes / 4, sends_at_once - 1);
    for (std::uint32_t p = crowded; p < processes; ++p) {
      for (std::uint32_t q = 0; q < crowded; ++q) to.send(p, q, bytes);
      std::uint32_t const next = p + 1 < processes ? p + 1 : crowded;
      to.send(p, next, bytes * (processes - crowded));
    }
  });
  return all;
}

double model_time(RecordedRun const& run, detail::Network const& network) {
  detail::NetworkModel model(run.processes, network, sends_at_once);
  for (auto const& order : run.value_order) {
    for (auto const number : order) {
      auto const& value = run.values[number];
      model.send(ProcessId(value.from), ProcessId(value.to), value.bytes, 0, number, detail::Instant{});
    }
  }
  detail::Instant now{};
  while (auto const next = model.next_change()) {
    now = *next;
    model.advance();
  }
  return seconds(now - detail::Instant{});
}

}  // namespace granary::bench
