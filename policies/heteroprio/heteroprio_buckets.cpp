// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/heteroprio/heteroprio_buckets.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace granary::detail {
namespace {

constexpr std::uint32_t no_bucket = 0xffffffffU;
// How often the order is updated from the models, and over how many tasks their means reach.
constexpr std::uint64_t order_every = 32;
constexpr std::uint32_t remembered = 32;

NamedLevels named_levels(PolicyOptions& options, std::string const& key) {
  NamedLevels levels;
  std::set<std::string> seen;
  for (auto const& element : options.list(key)) {
    auto& level = levels.emplace_back();
    for (std::size_t start = 0; start <= element.size();) {
      std::size_t const end = std::min(element.find('/', start), element.size());
      level.push_back(element.substr(start, end - start));
      start = end + 1;
      if (level.back().empty() || !seen.insert(level.back()).second) {
        throw InvalidArgument("option '" + key + "' of policy '" + options.policy() + "' names codelet '" +
                              level.back() + "' " + (level.back().empty() ? "(an empty name)" : "twice"));
      }
    }
  }
  return levels;
}

std::map<std::string, double, std::less<>> factors(PolicyOptions& options) {
  std::map<std::string, double, std::less<>> result;
  for (auto const& element : options.list("speedup")) {
    std::size_t const at = element.rfind('@');
    double factor = 0;
    char const* const end = element.data() + element.size();
    bool const read = at != std::string::npos && at > 0 &&
                      std::from_chars(element.data() + at + 1, end, factor).ptr == end && factor > 0 && factor < 1e12;
    if (!read || !result.emplace(element.substr(0, at), factor).second) {
      throw InvalidArgument("option 'speedup' of policy '" + options.policy() +
                            "' must be a list of codelet@factor with positive factors, each codelet once; '" + element +
                            "' is invalid");
    }
  }
  return result;
}

}  // namespace

HeteroprioOptions HeteroprioOptions::read(PolicyOptions& options, HeteroprioOptions defaults) {
  HeteroprioOptions result = std::move(defaults);
  auto& [cpu, device] = result.orders;
  cpu = named_levels(options, "cpu");
  device = named_levels(options, "device");
  result.speed_ups = factors(options);
  result.merge[0] = options.number("merge_cpu", result.merge[0], 1, 1e12);
  result.merge[1] = options.number("merge_device", result.merge[1], 1, 1e12);
  result.limit = options.number("limit", result.limit, 0, 1e12);
  result.count_buckets =
      options.choice("count", result.count_buckets ? "bucket" : "work", {"work", "bucket"}) == "bucket";
  std::vector<std::string> const slow{"auto", "least-urgent", "most-urgent"};
  auto const chosen = options.choice("slow", slow[static_cast<std::size_t>(result.slow)], slow);
  result.slow = static_cast<Slow>(std::ranges::find(slow, chosen) - slow.begin());
  result.workers_per_device =
      static_cast<std::uint32_t>(options.integer("workers_per_device", result.workers_per_device, 0, 1024));
  return result;
}

void HeteroprioBuckets::attach(SystemView const& view, std::size_t columns) {
  m_view = &view;
  m_grid = BucketGrid(view.topology(), columns);
  for (std::uint32_t g = 0; g < view.topology().groups().size(); ++g) {
    m_groups[static_cast<std::size_t>(view.topology().groups()[g].kind)].insert(GroupId(g));
  }
}

std::uint32_t HeteroprioBuckets::bucket_of(Task const& task) {
  std::size_t const codelet = task.codelet.index();
  if (codelet >= m_bucket_of.size()) m_bucket_of.resize(codelet + 1, no_bucket);
  if (m_bucket_of[codelet] == no_bucket) {
    m_bucket_of[codelet] = static_cast<std::uint32_t>(m_buckets.size());
    m_buckets.emplace_back();
    m_names.push_back(m_view->codelet(task.codelet).name);
    m_grid.add_bucket();
  }
  return m_bucket_of[codelet];
}

std::optional<std::uint32_t> HeteroprioBuckets::find(CodeletId codelet) const {
  std::size_t const index = codelet.index();
  bool const known = index < m_bucket_of.size() && m_bucket_of[index] != no_bucket;
  return known ? std::optional(m_bucket_of[index]) : std::nullopt;
}

bool HeteroprioBuckets::would_take(std::uint32_t bucket, std::uint32_t column, GroupId group) const {
  auto const [best, factor] = m_buckets[bucket].speed_up;
  return std::ranges::any_of(m_grid.lists(bucket, column), [&](BucketGrid::List const& list) {
    if (list.tasks.empty() || !list.allowed_on(group)) return false;
    bool const fast = factor == 0 || m_view->topology().group(group).kind == best ||
                      list.workers[static_cast<std::size_t>(best)] == 0;
    return fast || enough_for_slow(bucket, list);
  });
}

std::size_t HeteroprioBuckets::workers_of(GroupId group) const {
  auto const& workers = m_view->topology().group(group);
  bool const stated = m_options.workers_per_device > 0 && workers.kind == WorkerKind::Device;
  return stated ? m_options.workers_per_device : workers.workers.size();
}

void HeteroprioBuckets::learn(Bucket& bucket, Task const& task) const {
  for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
    GroupSet const groups = m_groups[kind] & task.allowed_groups;
    if (groups.empty()) continue;
    double const time = seconds(m_view->kernel_time(task.id, *groups.begin()));
    bucket.samples[kind] = std::min(bucket.samples[kind] + 1, remembered);
    bucket.times[kind] += (time - bucket.times[kind]) / bucket.samples[kind];
  }
}

void HeteroprioBuckets::order() {
  ++m_orderings;
  std::vector<KindTimes> times;
  for (auto const& bucket : m_buckets) times.push_back(bucket.times);
  m_best_somewhere = {};
  for (std::size_t b = 0; b < m_buckets.size(); ++b) {
    auto& bucket = m_buckets[b];
    auto const stated = m_options.speed_ups.find(m_names[b]);
    bucket.stated = stated != m_options.speed_ups.end();
    bucket.speed_up = bucket.stated ? speed_up({stated->second, 1}) : speed_up(bucket.times);
    m_best_somewhere[static_cast<std::size_t>(bucket.speed_up.best)] = true;
  }
  for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
    auto levels = stated_levels(m_options.orders[kind], m_names,
                                levels_by_acceleration(times, static_cast<WorkerKind>(kind), m_options.merge[kind]));
    if (levels == m_levels[kind]) continue;
    m_levels[kind] = std::move(levels);
    ++m_version;
  }
  for (std::uint32_t b = 0; b < m_buckets.size(); ++b) {
    auto const& levels = m_levels[static_cast<std::size_t>(m_buckets[b].speed_up.best)];
    m_buckets[b].first_level = !levels.empty() && std::ranges::find(levels.front(), b) != levels.front().end();
  }
}

std::uint32_t HeteroprioBuckets::put(TaskId id, std::uint32_t column) {
  auto const& task = m_view->task(id);
  std::size_t const buckets = m_buckets.size();
  std::uint32_t const bucket = bucket_of(task);
  auto const known = m_buckets[bucket].samples;
  learn(m_buckets[bucket], task);
  bool const new_kind =
      (known[0] == 0) != (m_buckets[bucket].samples[0] == 0) || (known[1] == 0) != (m_buckets[bucket].samples[1] == 0);
  if (m_buckets.size() > buckets || new_kind || ++m_put % order_every == 0) order();
  return m_grid.insert({task.priority, id}, task.allowed_groups, bucket, column);
}

bool HeteroprioBuckets::look_for(GroupId group) {
  auto const kind = m_view->topology().group(group).kind;
  if (m_options.workers_per_device > 0 && kind == WorkerKind::Device &&
      m_view->committed(group).size() >= workers_of(group)) {
    return false;
  }
  WorkerKind const other = kind == WorkerKind::Cpu ? WorkerKind::Device : WorkerKind::Cpu;
  if (m_best_somewhere[static_cast<std::size_t>(other)]) sum_work(other);
  return true;
}

void HeteroprioBuckets::sum_work(WorkerKind fast) {
  auto const kind = static_cast<std::size_t>(fast);
  double work = 0;
  for (GroupId const group : m_groups[kind]) {
    for (TaskId const task : m_view->committed(group)) work += seconds(m_view->kernel_time(task, group));
  }
  for (auto const& level : m_levels[kind]) {
    for (std::uint32_t const b : level)
      work += static_cast<double>(m_grid.available(b, fast)) * m_buckets[b].times[kind];
    for (std::uint32_t const b : level) m_buckets[b].fast_work = work;
  }
}

std::size_t HeteroprioBuckets::fast_workers(BucketGrid::List const& list, WorkerKind kind) const {
  if (kind != WorkerKind::Device || m_options.workers_per_device == 0)
    return list.workers[static_cast<std::size_t>(kind)];
  auto const groups = list.allowed_groups & m_groups[static_cast<std::size_t>(kind)];
  return groups.size() * m_options.workers_per_device;
}

// Otherwise the first group that asks would take all tasks, while workers of the others idle.
bool HeteroprioBuckets::may_take_ahead(BucketGrid::List const& list, GroupId group, Claim claim) const {
  auto const& mine = m_view->topology().group(group);
  std::size_t const held = m_view->committed(group).size();
  if (claim.own || held < mine.workers.size()) return true;
  if (!(list.allowed_groups & claim.owners).empty()) return false;
  for (GroupId const other : list.allowed_groups& m_groups[static_cast<std::size_t>(mine.kind)]) {
    std::size_t const workers = m_view->topology().group(other).workers.size();
    if (m_view->committed(other).size() * mine.workers.size() < held * workers) return false;
  }
  return true;
}

bool HeteroprioBuckets::enough_for_slow(std::uint32_t b, BucketGrid::List const& list) const {
  auto const& bucket = m_buckets[b];
  auto const [best, factor] = bucket.speed_up;
  std::size_t const workers = fast_workers(list, best);
  if (bucket.stated || m_options.count_buckets) {
    return slow_may_take(m_grid.available(b, best), workers, factor * m_options.limit);
  }
  double const slow = bucket.times[1 - static_cast<std::size_t>(best)];
  return bucket.fast_work >= slow * m_options.limit * static_cast<double>(workers) * (1 - 1e-9);
}

// No task starves. A task that no fast worker may run is never withheld from a slow one. Otherwise a fast group is
// asked when it becomes ready and after each task that the group ends, and takes it at the latest when it holds nothing
// else.
HeteroprioBuckets::Taking HeteroprioBuckets::taking(std::uint32_t bucket, BucketGrid::List const& list, GroupId group,
                                                    Claim claim) const {
  if (list.tasks.empty() || !list.allowed_on(group)) return Taking::Nothing;
  auto const [best, factor] = m_buckets[bucket].speed_up;
  auto const& workers = m_view->topology().group(group);
  if (factor == 0 || workers.kind == best || list.workers[static_cast<std::size_t>(best)] == 0) {
    return may_take_ahead(list, group, claim) ? Taking::MostUrgent : Taking::Nothing;
  }
  // Another group may finish it before this slow worker could start it.
  if (m_view->committed(group).size() >= workers.workers.size()) return Taking::Nothing;
  if (!enough_for_slow(bucket, list)) return Taking::Nothing;
  bool const least = m_options.slow == HeteroprioOptions::Slow::LeastUrgent ||
                     (m_options.slow == HeteroprioOptions::Slow::Auto && m_buckets[bucket].first_level);
  return least ? Taking::LeastUrgent : Taking::MostUrgent;
}

TaskId HeteroprioBuckets::first(std::vector<std::uint32_t> const& level, std::uint32_t column, GroupId group,
                                Claim claim) const {
  RankedTask urgent;
  RankedTask relaxed;
  for (std::uint32_t const bucket : level) {
    for (auto const& list : m_grid.lists(bucket, column)) {
      switch (taking(bucket, list, group, claim)) {
        case Taking::Nothing:
          break;
        case Taking::MostUrgent:
          if (!urgent.task.valid() || urgent < *list.tasks.rbegin()) urgent = *list.tasks.rbegin();
          break;
        case Taking::LeastUrgent:
          if (!relaxed.task.valid() || *list.tasks.begin() < relaxed) relaxed = *list.tasks.begin();
          break;
      }
    }
  }
  return urgent.task.valid() ? urgent.task : relaxed.task;
}

}  // namespace granary::detail
