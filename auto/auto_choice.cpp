// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/auto_choice.hpp>
#include <granary/detail/policies/common/shortest_time.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

namespace granary::detail {
namespace {

// Fewer tasks are not worth a choice.
constexpr std::size_t few_waiting = 16;
// The part of the believed time of the run for choices, and what a simulated task is taken to cost.
constexpr double choosing_part = 0.02;
constexpr double seconds_per_task = 10e-6;
// The part of the tasks whose codelets must have been measured.
constexpr double measured_part = 0.9;
// A burst ends with a pause that is longer than 1/4 of it.
constexpr int quiet_part = 4;
// The present scheduler stays while another one is not faster by this part, and by the time in which the present data
// of memories would come anew.
constexpr double worth_changing = 0.02;
// One that is as fast replaces it if it moves less than this part of its bytes, with what memories hold now: links and
// disks have other users.
constexpr double few_bytes = 0.75;

std::string text_of(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

}  // namespace

void AutoChoice::submitted() {
  m_chose_among_whole = false;
  if (m_pending) m_pending->more_came = true;
  if (!m_bursts.more_come()) m_burst_began = m_view->now();
  m_last_submission = m_view->now();
  m_bursts.submitted();
}

void AutoChoice::finished(TaskId task) {
  m_bursts.finished();
  ++m_finished;
  if (m_belief.holds()) m_belief.ended(seconds(shortest_time(*m_view, task)), m_view->now());
}

std::string AutoChoice::choose(AutoTasks& tasks, Candidates const& candidates, std::string const& present,
                               Replicas const& replicas, std::uint32_t depth) {
  if (!m_pending && !more_come() && due(tasks)) look(tasks, candidates, depth);
  if (!m_pending || !m_pending->made.load(std::memory_order_acquire)) return present;
  auto const made = std::exchange(m_pending, nullptr);
  return decide(*made, candidates, present, replicas);
}

// A burst has ended when nothing was submitted for a part of the time that it has taken.
bool AutoChoice::more_come() const {
  return m_bursts.more_come() && quiet_part * (m_view->now() - m_last_submission) <= m_last_submission - m_burst_began;
}

bool AutoChoice::due(AutoTasks const& tasks) const {
  if (tasks.waiting() < few_waiting || m_finished < m_look_again) return false;
  return m_belief.departed() || (tasks.fresh() >= few_waiting && 2 * tasks.fresh() >= tasks.waiting());
}

// Has trial runs made, if enough is known and they can be afforded.
void AutoChoice::look(AutoTasks& tasks, Candidates const& candidates, std::uint32_t depth) {
  auto const all = tasks.all();
  if (!measured(all)) {
    m_look_again = 2 * m_finished + few_waiting;
    return;
  }
  tasks.look();
  auto const pending = std::make_shared<Pending>();
  pending->pace = m_belief.forget(m_view->now());
  for (TaskId const task : all) pending->work += seconds(shortest_time(*m_view, task));
  auto const most_tasks = affordable(pending->work);
  if (most_tasks < few_waiting) return;
  auto const& groups = m_view->topology().groups();
  bool const kinds_differ =
      std::ranges::any_of(groups, [&](auto const& group) { return group.kind != groups[0].kind; });
  m_pending = pending;
  // A function must be one that can be copied.
  auto const copy = std::make_shared<TrialTasks>(*m_view, all, depth);
  auto const make = [pending, copy,
                     question = TrialQuestion{.if_data_fit = candidates.likely(true, kinds_differ),
                                              .if_larger = candidates.likely(false, kinds_differ),
                                              .seed = m_seed,
                                              .most_tasks = most_tasks,
                                              .first_choice = m_choices == 0,
                                              .whole_only = m_chose_among_whole,
                                              .one_memory = one_memory()}](std::function<bool()> const& wanted) {
    try {
      pending->answer = compare_candidates(std::move(*copy), question, wanted);
    } catch (...) {
      pending->error = std::current_exception();
    }
    pending->made.store(true, std::memory_order_release);
  };
  m_background != nullptr ? m_background->start(make) : make([] { return true; });
}

std::string AutoChoice::decide(Pending& made, Candidates const& candidates, std::string const& present,
                               Replicas const& replicas) {
  if (made.error) std::rethrow_exception(made.error);
  auto& trials = made.answer.trials;
  m_simulated += made.answer.simulated;
  if (made.answer.tried) m_chose_among_whole = made.answer.whole && !made.more_came;
  if (trials.empty()) return present;
  ++m_choices;
  // Alone the present scheduler would go on with what it has in memories, and a schedule with where it is.
  auto own = std::ranges::find(trials, present, &Trial::scheduler);
  if (own == trials.end() && candidates.is_schedule(present) && std::isfinite(made.pace))
    own = trials.insert(own, {.scheduler = present, .seconds = made.work * made.pace});
  if (own != trials.end()) own->seconds = std::min(own->seconds, made.work * made.pace);
  if (own != trials.end() && stays(*own, trials[0], replicas)) std::rotate(trials.begin(), own, own + 1);
  say(trials);
  m_belief.begin(std::move(trials[0].ends), m_view->now());
  return trials[0].scheduler;
}

void AutoChoice::say(std::vector<Trial> const& trials) {
  auto const& chosen = trials.front();
  m_remark = chosen.scheduler + ": " + text_of(chosen.seconds) + (m_choices > 1 ? " for the rest" : "") +
             (chosen.limit.empty() ? "" : ", limited by " + chosen.limit);
  for (auto other = trials.begin() + 1; other != trials.end(); ++other)
    m_remark += (other == trials.begin() + 1 ? "; " : ", ") + other->scheduler + " " + text_of(other->seconds);
}

// True if the present scheduler stays. A change costs at most the time to load the contents of all memories again, in
// parallel.
bool AutoChoice::stays(Trial const& present, Trial const& best, Replicas const& replicas) const {
  std::map<std::pair<NodeId, NodeId>, Bytes> held;
  double bytes = 0;
  for (auto const& [data, node] : replicas.sorted()) {
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

bool AutoChoice::measured(std::vector<TaskId> const& tasks) const {
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

bool AutoChoice::one_memory() const {
  auto const& groups = m_view->topology().groups();
  return std::ranges::all_of(groups, [&](auto const& group) { return group.node == groups[0].node; });
}

// The tasks that may still be simulated.
std::uint64_t AutoChoice::affordable(double work_seconds) const {
  auto const workers = static_cast<double>(m_view->topology().machine().workers.size());
  double const run = seconds(m_view->now().time_since_epoch()) + work_seconds / workers;
  auto const all = std::max(m_tasks, static_cast<std::uint64_t>(choosing_part * run / seconds_per_task));
  return all - std::min(all, m_simulated);
}

}  // namespace granary::detail
