// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/auto_scheduler.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/common/shortest_time.hpp>
#include <granary/detail/policies/registry.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <limits>
#include <span>
#include <system_error>
#include <type_traits>

namespace granary {

namespace detail {
namespace {

constexpr char const* own_name = "auto";
// Fewer tasks are not worth a choice; nor is a simulation of fewer.
constexpr std::size_t few_tasks = 16;
// The part of the believed time of the run for choices, and what a simulated task is taken to cost.
constexpr double choosing_part = 0.02;
constexpr double seconds_per_task = 10e-6;
// The part of the tasks whose codelets must have been measured.
constexpr double measured_part = 0.9;
// A burst ends with a pause that is longer than 1/4 of it.
constexpr int quiet_part = 4;
// Candidates are told of so many times the tasks that are simulated.
constexpr std::uint64_t told_ahead = 16;
// Fewer tasks of a larger run say little about it: more candidates than these few are simulated only if that leaves
// each of them so many, and another choice is made only if it can simulate so many of the few.
constexpr std::uint64_t enough_tasks = 3000;
constexpr std::size_t few_candidates = 3;
// Beliefs that differ by less than this part do not count. Of parts of runs, where a likelier candidate is used; and of
// whole ones, where the one that moves the fewest bytes is. If all workers share one memory, these go to and from a
// disk, whose times are known less well.
constexpr double like_in_part = 0.03;
constexpr double like_on_the_whole = 0.02;
constexpr double like_beside_a_disk = 0.05;
// The present scheduler stays while another one is not faster by this part, and by the time in which the present data
// of memories would come anew.
constexpr double worth_changing = 0.02;
// One that is as fast replaces it if it moves less than this part of its bytes, with what memories hold now: links and
// disks have other users.
constexpr double few_bytes = 0.75;
// A run differs from its simulation if one takes longer than the other by this factor, between the ends of so many
// tasks and of twice, four times, … as many.
constexpr double departed = 1.2;
constexpr std::size_t first_compared = 64;

// A trial run is as large as the planner of a run, and each thread has its own part of the heap, the end of which glibc
// keeps. A thread that has ended leaves its part to the next one: so all trial runs of a run are in one.
template <class Function>
auto in_one_thread(Function&& try_candidates) {
  std::future<std::invoke_result_t<Function>> result;
  try {
    result = std::async(std::launch::async, try_candidates);
  } catch (std::system_error const&) {  // no more threads
    return try_candidates();
  }
  return result.get();
}

void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

using AutoUse = SchedulerEntry::AutoUse;

// The scheduler that says so in the registry; the last resort is any of them.
std::string registered_for(AutoUse::Start start) {
  auto const names = scheduler_names();
  auto const found =
      std::ranges::find(names, start, [](auto const& name) { return scheduler_entry(name).in_auto.start; });
  return found != names.end() ? *found : names.front();
}

// The schedulers that `auto` tries, the likeliest one first.
std::vector<std::string> registered_candidates(bool fits, bool kinds_differ) {
  std::vector<std::pair<int, std::string>> places;
  for (auto const& name : scheduler_names()) {
    auto const use = scheduler_entry(name).in_auto;
    auto const place = fits ? use.place_if_data_fit : use.place_if_larger;
    if (place > 0 && (kinds_differ || !use.only_if_kinds_differ)) places.emplace_back(place, name);
  }
  std::ranges::sort(places);
  std::vector<std::string> names;
  for (auto& [place, name] : places) names.push_back(std::move(name));
  return names;
}

std::string text_of(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

}  // namespace

std::vector<std::pair<DataId, NodeId>> Replicas::sorted() const {
  std::vector<std::uint64_t> keys(m_keys.begin(), m_keys.end());
  std::ranges::sort(keys);
  std::vector<std::pair<DataId, NodeId>> replicas;
  for (auto const key : keys)
    replicas.emplace_back(static_cast<std::uint32_t>(key >> 32U), static_cast<std::uint32_t>(key & 0xffffffffU));
  return replicas;
}

void AutoEviction::use(std::unique_ptr<EvictionPolicy> policy) {
  m_policy = std::move(policy);
  if (m_view == nullptr) return;
  m_policy->attach(*m_view, *m_board);
  for (auto const& [data, node] : m_replicas.sorted()) m_policy->replica_added(data, node);
}

void AutoEviction::attach(SystemView const& view, PlanBoard const& board) {
  m_view = &view;
  m_board = &board;
  if (m_policy) m_policy->attach(view, board);
}

void AutoEviction::replica_added(DataId data, NodeId node) {
  m_replicas.add(data, node);
  m_policy->replica_added(data, node);
}

void AutoEviction::replica_dropped(DataId data, NodeId node) {
  m_replicas.remove(data, node);
  m_policy->replica_dropped(data, node);
}

AutoScheduler::AutoScheduler(Options options) : m_options(std::move(options)) {
  if (m_options.first.empty()) m_options.first = registered_for(AutoUse::Start::UntilMeasured);
}

std::unique_ptr<EvictionPolicy> AutoScheduler::own_eviction(std::string_view name) {
  if (name != own_name) {
    m_eviction = name;
    return nullptr;
  }
  auto own = std::make_unique<AutoEviction>();
  m_own_eviction = own->self();
  own->use(make_eviction(eviction_of(m_options.first)));
  return own;
}

void AutoScheduler::attach(SystemView const& view, PlanBoard& board) {
  m_view = &view;
  m_board = &board;
  use(m_options.first);
}

// The scheduler from now on; it is told all that it would have been told if the waiting tasks were new.
void AutoScheduler::use(std::string const& name) {
  auto const tasks = known_tasks();
  auto const waits = [&](TaskId task) { return m_known.at(task).given_by == 0; };
  for (auto const& [group, chosen] : m_without_turn) {
    for (TaskId const task : chosen) m_known[m_known.slot(task)].given_by = 0;
  }
  m_without_turn.clear();
  for (TaskId const task : tasks) {
    if (waits(task)) m_board->remove(task);
  }
  auto policies = make_policies(name, eviction_of(name), m_options.seed);
  m_present = std::move(policies.scheduler);
  auto* const events = dynamic_cast<SystemEvents*>(m_present.get());
  m_events = events != nullptr ? events : &m_no_events;
  auto* const limits = dynamic_cast<SchedulerLimits*>(m_present.get());
  m_limits = limits != nullptr ? limits : &m_no_limits;
  m_name = name;
  ++m_number;
  if (m_number > 1 && m_own_eviction && *m_own_eviction != nullptr)
    (*m_own_eviction)->use(std::move(policies.eviction));
  m_present->attach(*m_view, *m_board);
  // One that counts tasks was tried with those that groups have.
  bool const told_of_all = scheduler_entry(name).counts_tasks;
  for (TaskId const task : tasks) {
    if (!waits(task) && !told_of_all) continue;
    m_present->submitted(task);
    if (!waits(task)) m_present->withdrawn(task, Withdrawal::NeverReady, {});
  }
  for (auto const& [data, node] : m_replicas.sorted()) {
    m_events->replica_expected(data, node);
    if (m_view->valid(data, node)) m_events->replica_valid(data, node);
  }
  for (TaskId const task : tasks) {
    if (waits(task) && m_known.at(task).ready) m_present->ready(task);
  }
  m_events->caught_up();
  if (m_number > 1) m_board->ask_all_groups();
}

void AutoScheduler::check(TaskSubmission const& submission, AccessList const& accesses) const {
  try {
    m_limits->check(submission, accesses);
  } catch (InvalidArgument const&) {
    m_refuses = true;
  }
}

void AutoScheduler::submitted(TaskId task) {
  if (std::exchange(m_refuses, false)) use(m_options.first);
  m_known.insert(task, {.new_in = m_looks});
  if (m_tasks.size() >= 2 * m_known_tasks + few_tasks) m_tasks = known_tasks();
  m_tasks.push_back(task);
  m_chose_among_whole = false;
  ++m_known_tasks;
  ++m_waiting;
  ++m_new;
  if (!m_bursts.more_come()) m_burst_began = m_view->now();
  m_last_submission = m_view->now();
  m_bursts.submitted();
  m_present->submitted(task);
}

void AutoScheduler::ready(TaskId task) {
  m_known[m_known.slot(task)].ready = true;
  m_present->ready(task);
}

TaskId AutoScheduler::next(GroupId group) {
  if (m_waiting > 0 && !std::exchange(m_begun, true) && measured(known_tasks()))
    use(registered_for(has_one_memory() ? AutoUse::Start::OnOneMemory : AutoUse::Start::OnSeveralMemories));
  if (TaskId const task = take_with_turn(group); task.valid()) return task;
  for (;;) {
    TaskId const task = m_present->next(group);
    if (!task.valid()) return task;
    if (!m_view->task(task).accesses.commutes() || m_view->may_take_turn(task)) return give(task);
    m_known[m_known.slot(task)].given_by = m_number;
    m_without_turn[group].push_back(task);
  }
}

// The user's, or the candidate's own.
std::string AutoScheduler::eviction_of(std::string const& candidate) const {
  if (!m_eviction.empty()) return m_eviction;
  auto const entry = scheduler_entry(candidate);
  return entry.in_auto.eviction.empty() ? entry.eviction : entry.in_auto.eviction;
}

bool AutoScheduler::has_one_memory() const {
  auto const& groups = m_view->topology().groups();
  return std::ranges::all_of(groups, [&](auto const& group) { return group.node == groups[0].node; });
}

// A burst has ended when nothing was submitted for a part of the time that it has taken.
bool AutoScheduler::more_come() const {
  return m_bursts.more_come() && quiet_part * (m_view->now() - m_last_submission) <= m_last_submission - m_burst_began;
}

TaskId AutoScheduler::take_with_turn(GroupId group) {
  auto const waiting = m_without_turn.find(group);
  if (waiting == m_without_turn.end()) return {};
  auto& tasks = waiting->second;
  auto const able = std::ranges::find_if(tasks, [&](TaskId task) { return m_view->may_take_turn(task); });
  if (able == tasks.end()) return {};
  TaskId const task = *able;
  tasks.erase(able);
  return give(task);
}

bool AutoScheduler::hand_over(TaskId task, GroupId group) {
  if (!m_present->hand_over(task, group)) return false;
  give(task);
  return true;
}

TaskId AutoScheduler::give(TaskId task) {
  auto& known = m_known[m_known.slot(task)];
  known.given_by = m_number;
  leave(known);
  return task;
}

// The tasks that have not ended, in the order of submission.
std::vector<TaskId> AutoScheduler::known_tasks() const {
  auto tasks = m_tasks;
  std::erase_if(tasks, [&](TaskId task) { return !m_known.contains(task); });
  // A task that a worker gave back was submitted twice.
  std::ranges::sort(tasks);
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

// A task waits no longer.
void AutoScheduler::leave(Known const& known) {
  --m_waiting;
  if (known.new_in == m_looks) --m_new;
}

void AutoScheduler::withdrawn(TaskId task, Withdrawal why, GroupId group) {
  if (why == Withdrawal::InputEvicted) return m_present->withdrawn(task, why, group);
  auto const known = m_known.take(task);
  --m_known_tasks;
  leave(known);
  if (known.given_by == 0) return m_present->withdrawn(task, why, group);
  // The present scheduler has forgotten it, and no group had it.
  for (auto& [_, tasks] : m_without_turn) std::erase(tasks, task);
}

void AutoScheduler::issued(TaskId task) {
  if (m_known.at(task).given_by == m_number) m_present->issued(task);
}

void AutoScheduler::finished(TaskId task) {
  m_bursts.finished();
  ++m_finished;
  if (!m_ends.empty()) {
    m_done += seconds(shortest_time(*m_view, task));
    compare_with_belief();
  }
  if (!more_come() && due()) choose();
  auto const known = m_known.take(task);
  --m_known_tasks;
  known.given_by == m_number ? m_present->finished(task) : m_events->external_finished(task);
}

void AutoScheduler::replica_expected(DataId data, NodeId node) {
  m_replicas.add(data, node);
  m_events->replica_expected(data, node);
}

void AutoScheduler::replica_valid(DataId data, NodeId node) {
  m_replicas.add(data, node);
  m_events->replica_valid(data, node);
}

void AutoScheduler::replica_dropped(DataId data, NodeId node) {
  m_replicas.remove(data, node);
  m_events->replica_dropped(data, node);
}

std::uint32_t AutoScheduler::most_ahead(GroupId group, std::uint32_t depth) const {
  m_depth = depth;
  return m_limits->most_ahead(group, depth);
}

bool AutoScheduler::due() const {
  if (m_waiting < few_tasks || m_finished < m_look_again) return false;
  return m_departed || (m_new >= few_tasks && 2 * m_new >= m_waiting);
}

void AutoScheduler::choose() {
  auto const tasks = known_tasks();
  if (!measured(tasks)) {
    m_look_again = 2 * m_finished + few_tasks;
    return;
  }
  m_departed = false;
  m_new = 0;
  m_ended = 0;
  double const done = std::exchange(m_done, 0);
  m_ends.clear();
  ++m_looks;
  double work = 0;
  for (TaskId const task : tasks) work += seconds(shortest_time(*m_view, task));
  auto const most_tasks = affordable(work);
  if (most_tasks < few_tasks) return;
  auto candidates = in_one_thread([&] { return try_candidates(tasks, most_tasks); });
  give_back_free_memory();
  if (candidates.empty()) return;
  ++m_choices;
  // Alone the present scheduler would go on with what it has in memories, and a schedule with where it is.
  double const pace = done > 0 ? seconds(m_view->now() - m_chosen_at) / done : std::numeric_limits<double>::infinity();
  auto present = std::ranges::find(candidates, m_name, &Candidate::name);
  if (present == candidates.end() && m_name == m_options.schedule && done > 0)
    present = candidates.insert(present, {.name = m_name, .seconds = work * pace});
  if (present != candidates.end()) present->seconds = std::min(present->seconds, work * pace);
  if (present != candidates.end() && stays(*present, candidates[0]))
    std::rotate(candidates.begin(), present, present + 1);
  auto& chosen = candidates.front();
  m_remark = chosen.name + ": " + text_of(chosen.seconds) + (m_choices > 1 ? " for the rest" : "") +
             (chosen.limit.empty() ? "" : ", limited by " + chosen.limit);
  for (auto other = candidates.begin() + 1; other != candidates.end(); ++other)
    m_remark += (other == candidates.begin() + 1 ? "; " : ", ") + other->name + " " + text_of(other->seconds);
  m_ends = std::move(chosen.ends);
  m_chosen_at = m_view->now();
  m_compare_at = first_compared;
  if (chosen.name != m_name) use(chosen.name);
}

// True if the present scheduler stays. A change costs at most the time to load the contents of all memories again, in
// parallel.
bool AutoScheduler::stays(Candidate const& present, Candidate const& best) const {
  std::map<std::pair<NodeId, NodeId>, Bytes> held;
  double bytes = 0;
  for (auto const& [data, node] : m_replicas.sorted()) {
    NodeId const home = m_view->description(data).home;
    if (!home.valid() || home == node) continue;
    held[{home, node}] += m_view->bytes(data);
    bytes += static_cast<double>(m_view->bytes(data));
  }
  Duration longest{0};
  for (auto const& [way, size] : held)
    longest = std::max(longest, m_view->topology().route_time(way.first, way.second, size));
  return present.seconds <= (1 + worth_changing) * best.seconds + seconds(longest) &&
         best.bytes + bytes >= few_bytes * present.bytes;
}

bool AutoScheduler::measured(std::vector<TaskId> const& tasks) const {
  std::map<CodeletId, bool> known;
  std::size_t count = 0;
  for (TaskId const id : tasks) {
    auto const& task = m_view->task(id);
    auto const [entry, is_new] = known.try_emplace(task.codelet, false);
    if (is_new) {
      entry->second =
          std::ranges::any_of(task.allowed_groups, [&](GroupId group) { return m_view->measured(id, group); });
    }
    count += entry->second ? 1 : 0;
  }
  return static_cast<double>(count) >= measured_part * static_cast<double>(tasks.size());
}

// The tasks that may still be simulated.
std::uint64_t AutoScheduler::affordable(double work_seconds) const {
  auto const workers = static_cast<double>(m_view->topology().machine().workers.size());
  double const run = seconds(m_view->now().time_since_epoch()) + work_seconds / workers;
  auto const all = std::max(m_options.tasks, static_cast<std::uint64_t>(choosing_part * run / seconds_per_task));
  return all - std::min(all, m_simulated);
}

// The fastest first. If only parts of the runs can be simulated, the likely candidates alone are.
std::vector<AutoScheduler::Candidate> AutoScheduler::try_candidates(std::vector<TaskId> const& tasks,
                                                                    std::uint64_t most_tasks) {
  std::vector<Candidate> candidates;
  TrialRuns const trials(*m_view, tasks, m_depth);
  auto const all = trials.tasks();
  auto const names = likely(trials.fits());
  auto const number = std::clamp<std::uint64_t>(most_tasks / std::min(all, enough_tasks),
                                                std::min(few_candidates, names.size()), names.size());
  auto const each = std::min(all, most_tasks / number);
  if (each < std::min<std::uint64_t>(m_choices > 0 ? enough_tasks : few_tasks, all)) return candidates;
  // A part of a run tells little of what memories do once they are full: it overrules no choice among whole ones.
  if (each < all && m_chose_among_whole) return candidates;
  m_chose_among_whole = each == all;
  for (auto const& name : std::span(names).first(number)) {
    // One run at a time is in memory: each has a planner of its own.
    auto const run = trials.start(name, eviction_of(name), m_options.seed, told_ahead * each);
    if (!run) continue;
    bool const able = run->advance(each);
    m_simulated += run->ends().size();
    if (able)
      candidates.push_back({name, run->seconds(), static_cast<double>(run->bytes_moved()), run->ends(), run->limit()});
  }
  auto const fastest = std::ranges::min_element(candidates, {}, &Candidate::seconds);
  if (fastest != candidates.end()) {
    auto const on_the_whole = has_one_memory() ? like_beside_a_disk : like_on_the_whole;
    double const near = (1 + (each < all ? like_in_part : on_the_whole)) * fastest->seconds;
    auto const chosen = std::ranges::min_element(candidates, {}, [&](Candidate const& c) {
      if (c.seconds > near) return std::numeric_limits<double>::infinity();
      return each < all ? 0 : c.bytes;
    });
    std::rotate(candidates.begin(), chosen, chosen + 1);
    std::stable_sort(candidates.begin() + 1, candidates.end(),
                     [](auto const& a, auto const& b) { return a.seconds < b.seconds; });
  }
  return candidates;
}

// The candidates, the likely ones first.
std::vector<std::string> AutoScheduler::likely(bool fits) const {
  auto names = m_options.candidates;
  if (names.empty()) {
    auto const& groups = m_view->topology().groups();
    names = registered_candidates(
        fits, std::ranges::any_of(groups, [&](auto const& group) { return group.kind != groups[0].kind; }));
  }
  if (!m_options.schedule.empty()) names.insert(names.begin(), m_options.schedule);
  return names;
}

// One more task has ended.
void AutoScheduler::compare_with_belief() {
  if (++m_ended != m_compare_at || m_ended > m_ends.size()) return;
  m_compare_at *= 2;
  if (m_ended == first_compared) {
    m_compared_from = m_view->now();
    return;
  }
  double const real = seconds(m_view->now() - m_compared_from);
  double const believed = seconds(m_ends[m_ended - 1] - m_ends[first_compared - 1]);
  m_departed = m_departed || real > departed * believed || believed > departed * real;
}

std::vector<std::pair<std::string, double>> AutoScheduler::counters() const {
  auto counters = m_present->counters();
  counters.insert(counters.begin(),
                  {{"choices", static_cast<double>(m_choices)}, {"simulated tasks", static_cast<double>(m_simulated)}});
  return counters;
}

}  // namespace detail

void register_auto() {
  static bool const registered = [] {
    register_scheduler(detail::own_name,
                       [](PolicyOptions& options) {
                         detail::AutoScheduler::Options chosen;
                         chosen.candidates = options.list("candidates");
                         chosen.tasks = static_cast<std::uint64_t>(options.integer("tasks", 10'000, 0, 1'000'000'000));
                         if (auto const file = options.text("schedule", ""); !file.empty())
                           chosen.schedule = "static:file=" + file;
                         for (auto const& name : chosen.candidates) {
                           if (name == detail::own_name)
                             throw InvalidArgument("the scheduler 'auto' cannot be a candidate of itself");
                           static_cast<void>(make_scheduler(name));
                         }
                         if (!chosen.schedule.empty()) static_cast<void>(make_scheduler(chosen.schedule));
                         chosen.seed = options.seed();
                         return std::make_unique<detail::AutoScheduler>(std::move(chosen));
                       },
                       {.eviction = detail::own_name});
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace granary
