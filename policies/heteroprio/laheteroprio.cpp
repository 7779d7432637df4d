// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/heteroprio/laheteroprio.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>

namespace granary::detail {
namespace {

SchedulerRegistration const laheteroprio_registration(
    "laheteroprio",
    [](PolicyOptions& options) { return std::make_unique<LaheteroprioScheduler>(LaheteroprioOptions::read(options)); },
    {.in_auto = {.place_if_data_fit = 3, .place_if_larger = 5, .only_if_kinds_differ = true}});

std::size_t count_in(std::string const& text, std::size_t least, std::string const& key, std::string const& policy) {
  std::size_t value = 0;
  char const* const end = text.data() + text.size();
  if (text == "all") return LaheteroprioOptions::all;
  if (std::from_chars(text.data(), end, value).ptr == end && !text.empty() && value >= least &&
      value <= LaheteroprioOptions::all) {
    return value;
  }
  throw InvalidArgument("option '" + key + "' of policy '" + policy +
                        "' must be a list of name@number with a node or kind as name and a number of at least " +
                        std::to_string(least) + " or 'all'; '" + text + "' is invalid");
}

void read_per_node(PolicyOptions& options, std::string const& key, std::size_t least,
                   LaheteroprioOptions::PerNode& result) {
  for (auto const& element : options.list(key)) {
    std::size_t const at = element.rfind('@');
    if (at == std::string::npos) {
      result.of_kind.fill(count_in(element, least, key, options.policy()));
      continue;
    }
    std::size_t const value = count_in(element.substr(at + 1), least, key, options.policy());
    std::string const name = element.substr(0, at);
    if (name == "cpu" || name == "device") {
      result.of_kind[static_cast<std::size_t>(name == "cpu" ? WorkerKind::Cpu : WorkerKind::Device)] = value;
    } else {
      result.of_node[name] = value;
    }
  }
}

constexpr std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << index; }

}  // namespace

std::size_t LaheteroprioOptions::PerNode::of(std::string const& node, WorkerKind kind) const {
  auto const named = of_node.find(node);
  return named == of_node.end() ? of_kind[static_cast<std::size_t>(kind)] : named->second;
}

LaheteroprioOptions LaheteroprioOptions::read(PolicyOptions& options) {
  LaheteroprioOptions result;
  result.buckets = HeteroprioOptions::read(options);
  std::vector<std::string> names(affinity_names.begin(), affinity_names.end());
  names.emplace_back("auto");
  auto const formula =
      static_cast<std::size_t>(std::ranges::find(names, options.choice("formula", "auto", names)) - names.begin());
  if (formula < affinities) result.formula = static_cast<Affinity>(formula);
  result.theta = options.number("theta", result.theta, 0, 1e12);
  result.alpha = options.number("alpha", result.alpha, 0, 1);
  read_per_node(options, "l", 1, result.run);
  read_per_node(options, "S", 0, result.near);
  result.measure_all = options.choice("bmd", "used", {"used", "all"}) == "all";
  return result;
}

void LaheteroprioScheduler::attach(SystemView const& view, PlanBoard&) {
  m_view = &view;
  find_columns();
  check_node_names();
  m_buckets.attach(view, m_nodes.size());
  m_tasks_in.assign(m_nodes.size(), 0);
  m_transfers = transfer_distances(view.topology(), m_nodes);
  order_grid();
}

void LaheteroprioScheduler::find_columns() {
  for (auto const& group : m_view->topology().groups()) {
    auto const known = std::ranges::find(m_nodes, group.node);
    m_column_of.push_back(static_cast<std::uint32_t>(known - m_nodes.begin()));
    if (known == m_nodes.end()) m_nodes.push_back(group.node);
  }
}

void LaheteroprioScheduler::check_node_names() const {
  std::string known;
  for (NodeId const node : m_nodes) known += (known.empty() ? "" : ", ") + m_view->topology().machine()[node].name;
  for (auto const* option : {&m_options.run, &m_options.near}) {
    for (auto const& [name, value] : option->of_node) {
      bool const there = std::ranges::any_of(
          m_nodes, [&, &wanted = name](NodeId node) { return m_view->topology().machine()[node].name == wanted; });
      if (there) continue;
      throw InvalidArgument("policy 'laheteroprio': there is no memory node '" + name +
                            "' with workers; the known ones are " + known + ", and cpu and device for all of a kind");
    }
  }
}

void LaheteroprioScheduler::order_grid() {
  auto const& topology = m_view->topology();
  std::size_t const columns = m_nodes.size();
  std::vector<std::vector<std::uint32_t>> priorities;
  for (NodeId const node : m_nodes) {
    auto const kind = topology.group(topology.groups_on(node).front()).kind;
    priorities.push_back(bucket_priorities(m_buckets.levels(kind), m_buckets.names().size()));
  }
  m_distances.assign(columns * columns, 0);
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (i == j) continue;
      m_distances[i * columns + j] =
          node_distance(priority_distance(priorities[i], priorities[j]), m_transfers[i * columns + j], m_options.alpha);
    }
  }
  m_orders.clear();
  for (std::size_t g = 0; g < topology.groups().size(); ++g) {
    auto const kind = topology.groups()[g].kind;
    std::uint32_t const own = m_column_of[g];
    std::string const& node = topology.machine()[m_nodes[own]].name;
    m_orders.push_back(grid_order(m_buckets.levels(kind).size(), own,
                                  std::span(m_distances).subspan(own * columns, columns), m_options.near.of(node, kind),
                                  m_options.run.of(node, kind)));
  }
  m_ordered = m_buckets.version();
}

void LaheteroprioScheduler::gather(Task const& task) {
  m_data.clear();
  for (auto const& access : task.accesses) {
    if (access.repeated) continue;
    AffinityDatum datum{m_view->bytes(access.data), writes(access.mode), 0};
    for (std::size_t c = 0; c < m_nodes.size(); ++c) {
      if (m_view->expected(access.data, m_nodes[c])) datum.on |= bit(c);
    }
    m_data.push_back(datum);
  }
}

bool LaheteroprioScheduler::in_use(Affinity formula) const {
  return formula != Affinity::MC || m_options.measure_all || m_options.formula == Affinity::MC;
}

std::uint64_t LaheteroprioScheduler::best(Affinity formula, Task const& task, std::uint32_t worker_column) const {
  if (formula == Affinity::MC) return cheapest(task);
  if (formula != Affinity::LaRU) return best_columns(formula, m_data, m_nodes.size(), m_options.theta);
  return worker_column == none ? ~std::uint64_t{0} >> (64 - m_nodes.size()) : bit(worker_column);
}

std::uint64_t LaheteroprioScheduler::cheapest(Task const& task) const {
  std::uint64_t columns = 0;
  Duration least = Duration::max();
  for (std::size_t c = 0; c < m_nodes.size(); ++c) {
    Duration cost{0};
    for (auto const& access : task.accesses) {
      if (!access.repeated) cost += m_view->transfer_time(access.data, m_nodes[c]);
    }
    if (cost > least) continue;
    if (cost < least) columns = 0;
    least = cost;
    columns |= bit(c);
  }
  return columns;
}

std::uint32_t LaheteroprioScheduler::break_tie(std::uint64_t columns) const {
  if (m_releaser != none && (columns & bit(m_releaser)) != 0) return m_releaser;
  std::uint32_t chosen = none;
  for (; columns != 0; columns &= columns - 1) {
    auto const c = static_cast<std::uint32_t>(std::countr_zero(columns));
    if (chosen == none || m_tasks_in[c] < m_tasks_in[chosen]) chosen = c;
  }
  return chosen;
}

void LaheteroprioScheduler::ready(TaskId id) {
  auto const& task = m_view->task(id);
  gather(task);
  Columns pushed{};
  for (std::size_t f = 0; f < affinities; ++f) {
    auto const formula = static_cast<Affinity>(f);
    if (in_use(formula)) pushed[f] = static_cast<std::uint8_t>(break_tie(best(formula, task, m_releaser)));
  }
  m_choice.choose();
  std::uint32_t const column = pushed[static_cast<std::size_t>(m_choice.formula())];
  std::uint32_t const slot = m_buckets.put(id, column);
  if (slot >= m_pushed.size()) {
    m_pushed.resize(slot + 1);
    m_list_of.resize(slot + 1);
  }
  m_pushed[slot] = pushed;
  m_list_of[slot] = column;
  ++m_tasks_in[column];
}

HeteroprioBuckets::Claim LaheteroprioScheduler::claim(GroupId group, std::uint32_t column) const {
  HeteroprioBuckets::Claim claim{.own = m_column_of[group.index()] == column};
  if (claim.own) return claim;
  auto const& topology = m_view->topology();
  for (GroupId const owner : topology.groups_on(m_nodes[column])) {
    if (topology.group(owner).kind == topology.group(group).kind) claim.owners.insert(owner);
  }
  return claim;
}

TaskId LaheteroprioScheduler::next(GroupId group) {
  if (!m_buckets.look_for(group)) return {};
  if (m_ordered != m_buckets.version()) order_grid();
  auto const& levels = m_buckets.levels(m_view->topology().group(group).kind);
  for (auto const& [level, column] : m_orders[group.index()]) {
    if (m_tasks_in[column] == 0) continue;
    TaskId const task = m_buckets.first(levels[level], column, group, claim(group, column));
    if (!task.valid()) continue;
    std::uint32_t const slot = m_buckets.remove(task);
    --m_tasks_in[m_list_of[slot]];
    ++m_given;
    compare(m_view->task(task), m_pushed[slot], m_column_of[group.index()]);
    return task;
  }
  return {};
}

void LaheteroprioScheduler::compare(Task const& task, Columns const& pushed, std::uint32_t column) {
  gather(task);
  for (std::size_t f = 0; f < affinities; ++f) {
    auto const formula = static_cast<Affinity>(f);
    if (in_use(formula)) m_choice.compared(formula, (best(formula, task, column) & bit(pushed[f])) == 0);
  }
  m_choice.choose();
}

void LaheteroprioScheduler::withdrawn(TaskId task, Withdrawal why, GroupId) {
  if (why != Withdrawal::Cancelled) return;
  std::uint32_t const slot = m_buckets.remove(task);
  if (slot != TaskSlots::none) --m_tasks_in[m_list_of[slot]];
}

void LaheteroprioScheduler::finished(TaskId task) {
  GroupId const group = m_view->assignment(task).group;
  m_releaser = group.valid() ? m_column_of[group.index()] : none;
}

std::vector<std::pair<std::string, double>> LaheteroprioScheduler::counters() const {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t f = 0; f < affinities; ++f) {
    result.emplace_back(std::string("bmd ") + affinity_names[f],
                        static_cast<double>(m_choice.differences(static_cast<Affinity>(f))));
  }
  return result;
}

}  // namespace granary::detail
