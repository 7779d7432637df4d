// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "simgrid_network.hpp"

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <utility>

namespace granary::bench {

using namespace detail;

namespace s4u = simgrid::s4u;

namespace {

// Numbers that wait to be taken in order of their ranks.
class ReadyList {
 public:
  void add(std::uint32_t rank, std::uint32_t number) { m_ready.push({rank, number}); }
  /// True if one may be taken: the first, or the one with the next rank.
  [[nodiscard]] bool may_take(bool in_order) const {
    return !m_ready.empty() && (!in_order || m_ready.top().first == m_taken);
  }
  std::uint32_t take() {
    auto const number = m_ready.top().second;
    m_ready.pop();
    ++m_taken;
    return number;
  }
  [[nodiscard]] std::uint32_t taken() const { return m_taken; }

 private:
  using Ranked = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> m_ready;
  std::uint32_t m_taken = 0;
};

// An event that happens once, and the tasks and values that wait for it.
struct Moment {
  double at = -1;
  std::vector<std::uint32_t> tasks{};
  std::vector<std::uint32_t> values{};  // to be sent
};

// The engine takes its settings from a command line.
class Settings {
 public:
  Settings() {
    for (auto& text : m_text) m_pointers.push_back(text.data());
    m_pointers.push_back(nullptr);
  }
  int* count() { return &m_count; }
  char** values() { return m_pointers.data(); }

 private:
  std::vector<std::string> m_text{"simgrid_bench",
                                  "--log=root.thresh:warning",
                                  "--cfg=network/model:CM02",
                                  "--cfg=network/TCP-gamma:0",
                                  "--cfg=network/bandwidth-factor:1",
                                  "--cfg=network/latency-factor:1",
                                  "--cfg=network/weight-S:0",
                                  "--cfg=network/crosstraffic:0",
                                  "--cfg=network/optim:Full",   // Lazy, the default, is 2 % off in all-to-all
                                  "--cfg=surf/precision:1e-9",  // the default, 10 us, is more than the latency
                                  "--cfg=contexts/stack-size:128"};
  std::vector<char*> m_pointers;
  int m_count = static_cast<int>(m_text.size());
};

s4u::Engine make_engine() {
  static Settings settings;
  return s4u::Engine(settings.count(), settings.values());
}

}  // namespace

SimGridNetwork::SimGridNetwork(std::uint32_t hosts) : m_engine(make_engine()) {
  auto* const zone = s4u::create_star_zone("cluster");
  for (std::uint32_t h = 0; h < hosts; ++h) {
    auto* const host = zone->create_host("host" + std::to_string(h), 1e9);
    auto* const link = zone->create_split_duplex_link("link" + std::to_string(h), 1e9);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, s4u::LinkInRoute::Direction::UP}});
    m_hosts.push_back(host);
    m_links.push_back(link);
  }
  zone->seal();
}

// Of the latency, each of the two links of a route has one half.
void SimGridNetwork::set(Network const& network) {
  m_latency = seconds(network.latency);
  for (auto* const link : m_links) {
    for (auto* const direction : {link->get_link_up(), link->get_link_down()}) {
      direction->set_bandwidth(network.bandwidth);
      direction->set_latency(m_latency / 2);
    }
  }
}

struct SimGridNetwork::Replay {
  // Those who take tasks of one list: the workers of a process or, in the recorded order, one worker.
  struct Team {
    ReadyList ready{};
    std::uint32_t tasks = 0;
    std::vector<s4u::Semaphore*> idle{};
  };
  struct Sender {
    s4u::SemaphorePtr news = s4u::Semaphore::create(0);   // for its dispatcher
    s4u::SemaphorePtr given = s4u::Semaphore::create(0);  // for its lanes
    std::uint32_t free = sends_at_once;
    std::priority_queue<std::pair<double, std::uint32_t>, std::vector<std::pair<double, std::uint32_t>>, std::greater<>>
        later{};  // values that may be sent, from these instants on
    ReadyList ready{};
    std::deque<std::uint32_t> started{};
  };

  Replay(SimGridNetwork& on, RecordedRun const& what, Replaying manner)
      : network(on),
        run(what),
        how(manner),
        ended(what.tasks.size()),
        arrived(what.values.size()),
        task_waits(what.tasks.size()),
        value_waits(what.values.size()),
        task_rank(what.tasks.size()),
        value_rank(what.values.size()),
        task_team(what.tasks.size()),
        teams(how == Replaying::Recorded ? what.task_order.size() : what.processes),
        senders(what.processes) {
    rank();
    for (std::uint32_t t = 0; t < run.tasks.size(); ++t) {
      for (auto const before : run.tasks[t].after) ended[before].tasks.push_back(t);
      for (auto const value : run.tasks[t].values) arrived[value].tasks.push_back(t);
      task_waits[t] = run.tasks[t].after.size() + run.tasks[t].values.size();
    }
    for (std::uint32_t v = 0; v < run.values.size(); ++v) {
      for (auto* moment : {writing(v), asking(v)}) {
        if (moment == nullptr) continue;
        moment->values.push_back(v);
        ++value_waits[v];
      }
    }
    for (std::uint32_t t = 0; t < run.tasks.size(); ++t) {
      if (task_waits[t] == 0) teams[task_team[t]].ready.add(task_rank[t], t);
    }
    for (std::uint32_t v = 0; v < run.values.size(); ++v) {
      if (value_waits[v] == 0) senders[run.values[v].from].later.push({may_start(v), v});
    }
  }

  void rank() {
    for (std::size_t w = 0; w < run.task_order.size(); ++w) {
      auto const team = static_cast<std::uint32_t>(how == Replaying::Recorded ? w : w / run.workers);
      for (std::uint32_t i = 0; i < run.task_order[w].size(); ++i) {
        auto const task = run.task_order[w][i];
        task_team[task] = team;
        task_rank[task] = how == Replaying::Recorded ? i : run.tasks[task].rank;
        ++teams[team].tasks;
      }
    }
    for (auto const& order : run.value_order) {
      for (std::uint32_t i = 0; i < order.size(); ++i) value_rank[order[i]] = i;
    }
  }

  Moment* writing(std::uint32_t value) {
    auto const writer = run.values[value].writer;
    return writer == RecordedValue::nobody ? nullptr : &ended[writer];
  }
  Moment* asking(std::uint32_t value) {
    if (how == Replaying::AtOnce) return nullptr;
    auto const [kind, cause] = run.values[value].asked;
    if (kind == Cause::Kind::TaskEnded) return &ended[cause];
    if (kind == Cause::Kind::Announced) return writing(cause);
    if (kind == Cause::Kind::Arrived) return &arrived[cause];
    return nullptr;
  }
  // After the moments for which it waits.
  double may_start(std::uint32_t value) {
    if (how == Replaying::Pattern) return begin;
    double const latency = network.m_latency;
    auto const* made = writing(value);
    auto const* asked = asking(value);
    double const announced = (made == nullptr ? begin : made->at) + latency;
    double after = asked == nullptr ? begin : asked->at;
    if (run.values[value].asked.kind == Cause::Kind::Announced) after += latency;
    return std::max(announced, after) + latency;
  }

  void happen(Moment& moment) {
    moment.at = s4u::Engine::get_clock();
    for (auto const value : moment.values) {
      if (--value_waits[value] > 0) continue;
      auto& sender = senders[run.values[value].from];
      sender.later.push({may_start(value), value});
      sender.news->release();
    }
    for (auto const number : moment.tasks) {
      if (--task_waits[number] > 0) continue;
      auto& team = teams[task_team[number]];
      team.ready.add(task_rank[number], number);
      wake(team);
    }
  }

  void wake(Team& team) {
    if (team.idle.empty() || !team.ready.may_take(how == Replaying::Recorded)) return;
    auto* const worker = team.idle.back();
    team.idle.pop_back();
    worker->release();
  }

  void work(Team& team) {
    auto const own = s4u::Semaphore::create(0);
    while (team.ready.taken() < team.tasks) {
      if (!team.ready.may_take(how == Replaying::Recorded)) {
        team.idle.push_back(own.get());
        own->acquire();
        continue;
      }
      auto const number = team.ready.take();
      s4u::this_actor::sleep_for(seconds(run.tasks[number].duration));
      happen(ended[number]);
    }
    for (auto* const worker : std::exchange(team.idle, {})) worker->release();
  }

  // Starts the transfers of one process.
  void dispatch(Sender& sender, std::size_t transfers) {
    constexpr double rounding = 1e-10;  // seconds
    while (sender.ready.taken() < transfers) {
      double const now = s4u::Engine::get_clock();
      while (!sender.later.empty() && sender.later.top().first <= now + rounding) {
        auto const value = sender.later.top().second;
        sender.later.pop();
        sender.ready.add(value_rank[value], value);
      }
      while (sender.free > 0 && sender.ready.may_take(how == Replaying::Recorded)) {
        --sender.free;
        sender.started.push_back(sender.ready.take());
        sender.given->release();
      }
      if (sender.ready.taken() == transfers) break;
      if (sender.later.empty()) {
        sender.news->acquire();
      } else if (double const left = sender.later.top().first - s4u::Engine::get_clock(); left > rounding) {
        sender.news->acquire_timeout(left);
      }
    }
    for (std::uint32_t i = 0; i < sends_at_once; ++i) {
      sender.started.push_back(RecordedValue::nobody);
      sender.given->release();
    }
  }

  // One of the transfers of a process at a time.
  void send(Sender& sender) {
    while (true) {
      sender.given->acquire();
      auto const number = sender.started.front();
      sender.started.pop_front();
      if (number == RecordedValue::nobody) return;
      auto const& value = run.values[number];
      s4u::Comm::sendto(network.m_hosts[value.from], network.m_hosts[value.to], value.bytes);
      ++sender.free;
      sender.news->release();
      happen(arrived[number]);
    }
  }

  SimGridNetwork& network;
  RecordedRun const& run;
  Replaying how;
  double begin = s4u::Engine::get_clock();
  std::vector<Moment> ended;             // by task
  std::vector<Moment> arrived;           // by value
  std::vector<std::size_t> task_waits;   // for so many moments
  std::vector<std::size_t> value_waits;  // the same
  std::vector<std::uint32_t> task_rank;
  std::vector<std::uint32_t> value_rank;
  std::vector<std::uint32_t> task_team;
  std::vector<Team> teams;
  std::vector<Sender> senders;  // by process
};

double SimGridNetwork::replay(RecordedRun const& run, Replaying how) {
  if (run.processes > m_hosts.size()) throw InvalidArgument("the run has more processes than there are hosts");
  Replay replay(*this, run, how);
  for (std::size_t w = 0; w < run.task_order.size(); ++w) {
    auto& team = replay.teams[how == Replaying::Recorded ? w : w / run.workers];
    s4u::Actor::create("worker", m_hosts[w / run.workers], [&replay, &team] { replay.work(team); });
  }
  for (std::size_t p = 0; p < run.processes; ++p) {
    auto const transfers = run.value_order[p].size();
    auto& sender = replay.senders[p];
    if (transfers == 0) continue;
    s4u::Actor::create("dispatcher", m_hosts[p], [&replay, &sender, transfers] { replay.dispatch(sender, transfers); });
    for (std::uint32_t i = 0; i < sends_at_once; ++i) {
      s4u::Actor::create("lane", m_hosts[p], [&replay, &sender] { replay.send(sender); });
    }
  }
  m_engine.run();
  return s4u::Engine::get_clock() - replay.begin;
}

}  // namespace granary::bench
