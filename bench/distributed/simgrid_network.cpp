// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "simgrid_network.hpp"

#include <granary/core/base/error.hpp>

#include <algorithm>
#include <deque>
#include <string>

namespace granary::bench {

namespace s4u = simgrid::s4u;

namespace {

// Something that happens once, and for which actors wait.
class Moment {
 public:
  void happen() {
    m_at = s4u::Engine::get_clock();
    for (auto* waits : m_waiting) waits->release();
    m_waiting.clear();
  }
  /// `own`: a semaphore on which only this actor waits. Returns when it happened.
  double wait(s4u::Semaphore& own) {
    if (m_at < 0) {
      m_waiting.push_back(&own);
      own.acquire();
    }
    return m_at;
  }

 private:
  double m_at = -1;
  std::vector<s4u::Semaphore*> m_waiting;
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
  struct Sender {
    s4u::SemaphorePtr slots = s4u::Semaphore::create(sends_at_once);
    s4u::SemaphorePtr ready = s4u::Semaphore::create(0);
    std::deque<std::uint32_t> started{};
  };

  Replay(SimGridNetwork& on, RecordedRun const& what, Asking how)
      : network(on), run(what), asking(how), ended(what.tasks.size()), arrived(what.values.size()), senders(what.processes) {}

  void work(std::size_t worker) {
    auto const own = s4u::Semaphore::create(0);
    for (auto const number : run.task_order[worker]) {
      auto const& task = run.tasks[number];
      for (auto const before : task.after) ended[before].wait(*own);
      for (auto const value : task.values) arrived[value].wait(*own);
      s4u::this_actor::sleep_for(seconds(task.duration));
      ended[number].happen();
    }
  }

  // Starts the transfers of one process.
  void dispatch(std::size_t process) {
    auto const own = s4u::Semaphore::create(0);
    auto& sender = senders[process];
    for (auto const number : run.value_order[process]) {
      s4u::this_actor::sleep_until(may_start(number, *own));
      sender.slots->acquire();
      sender.started.push_back(number);
      sender.ready->release();
    }
    for (std::uint32_t i = 0; i < sends_at_once; ++i) {
      sender.started.push_back(RecordedValue::nobody);
      sender.ready->release();
    }
  }

  double made(std::uint32_t value, s4u::Semaphore& own) {
    auto const writer = run.values[value].writer;
    return writer == RecordedValue::nobody ? begin : ended[writer].wait(own);
  }

  double may_start(std::uint32_t number, s4u::Semaphore& own) {
    if (asking == Asking::Never) return begin;
    double const latency = network.m_latency;
    double const announced = made(number, own) + latency;
    if (asking == Asking::AtOnce) return announced + latency;
    auto const [kind, cause] = run.values[number].asked;
    double after = begin;
    if (kind == Cause::Kind::TaskEnded) after = ended[cause].wait(own);
    if (kind == Cause::Kind::Announced) after = made(cause, own) + latency;
    if (kind == Cause::Kind::Arrived) after = arrived[cause].wait(own);
    return std::max(announced, after) + latency;
  }

  // One of the `sends_at_once` transfers of a process at a time.
  void send(std::size_t process) {
    auto& sender = senders[process];
    while (true) {
      sender.ready->acquire();
      auto const number = sender.started.front();
      sender.started.pop_front();
      if (number == RecordedValue::nobody) return;
      auto const& value = run.values[number];
      s4u::Comm::sendto(network.m_hosts[value.from], network.m_hosts[value.to], value.bytes);
      sender.slots->release();
      arrived[number].happen();
    }
  }

  SimGridNetwork& network;
  RecordedRun const& run;
  Asking asking;
  double begin = s4u::Engine::get_clock();
  std::vector<Moment> ended;    // by task
  std::vector<Moment> arrived;  // by value
  std::vector<Sender> senders;  // by process
};

double SimGridNetwork::replay(RecordedRun const& run, Asking asking) {
  if (run.processes > m_hosts.size()) throw InvalidArgument("the run has more processes than there are hosts");
  Replay replay(*this, run, asking);
  for (std::size_t w = 0; w < run.task_order.size(); ++w) {
    if (run.task_order[w].empty()) continue;
    s4u::Actor::create("worker", m_hosts[w / run.workers], [&replay, w] { replay.work(w); });
  }
  for (std::size_t p = 0; p < run.processes; ++p) {
    if (run.value_order[p].empty()) continue;
    s4u::Actor::create("dispatcher", m_hosts[p], [&replay, p] { replay.dispatch(p); });
    for (std::uint32_t i = 0; i < sends_at_once; ++i) {
      s4u::Actor::create("sender", m_hosts[p], [&replay, p] { replay.send(p); });
    }
  }
  m_engine.run();
  return s4u::Engine::get_clock() - replay.begin;
}

}  // namespace granary::bench
