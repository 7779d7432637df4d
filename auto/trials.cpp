// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/trial_run.hpp>
#include <granary/detail/auto/trials.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace granary::detail {
namespace {

// A simulation of fewer tasks is not worth it.
constexpr std::uint64_t few_tasks = 16;
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

void best_first(std::vector<Trial>& trials, bool whole, bool one_memory) {
  auto const fastest = std::ranges::min_element(trials, {}, &Trial::seconds);
  if (fastest == trials.end()) return;
  auto const on_the_whole = one_memory ? like_beside_a_disk : like_on_the_whole;
  double const near = (1 + (whole ? on_the_whole : like_in_part)) * fastest->seconds;
  auto const chosen = std::ranges::min_element(trials, {}, [&](Trial const& trial) {
    if (trial.seconds > near) return std::numeric_limits<double>::infinity();
    return whole ? trial.bytes : 0;
  });
  std::rotate(trials.begin(), chosen, chosen + 1);
  std::stable_sort(trials.begin() + 1, trials.end(),
                   [](auto const& a, auto const& b) { return a.seconds < b.seconds; });
}

}  // namespace

TrialAnswer compare_candidates(TrialTasks tasks, TrialQuestion const& question, std::function<bool()> const& wanted) {
  TrialAnswer answer;
  TrialRuns const runs(std::move(tasks));
  auto const all = runs.tasks();
  auto const& candidates = runs.fits() ? question.if_data_fit : question.if_larger;
  auto const number = std::clamp<std::uint64_t>(question.most_tasks / std::min(all, enough_tasks),
                                                std::min(few_candidates, candidates.size()), candidates.size());
  auto const each = std::min(all, question.most_tasks / number);
  if (each < std::min(question.first_choice ? few_tasks : enough_tasks, all)) return answer;
  answer.whole = each == all;
  // A part of a run tells little of what memories do once they are full: it overrules no choice among whole ones.
  if (!answer.whole && question.whole_only) return answer;
  answer.tried = true;
  for (auto const& candidate : std::span(candidates).first(number)) {
    // One run at a time is in memory: each has a planner of its own.
    auto const run = runs.start(candidate, question.seed, told_ahead * each);
    if (!run) continue;
    bool const able = run->advance(each, wanted);
    answer.simulated += run->ends().size();
    if (able) {
      answer.trials.push_back(
          {candidate.scheduler, run->seconds(), static_cast<double>(run->bytes_moved()), run->ends(), run->limit()});
    }
  }
  best_first(answer.trials, answer.whole, question.one_memory);
  return answer;
}

}  // namespace granary::detail
