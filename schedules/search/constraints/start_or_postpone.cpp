// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/search/constraints/start_or_postpone.hpp>

#include <algorithm>
#include <ostream>
#include <utility>

namespace granary {
namespace {

using Gecode::Int::BoolView;
using Gecode::Int::IntView;

// One alternative per value: a class of a task, or its start and then to postpone it; or none is possible.
class Decision final : public Gecode::Choice {
 public:
  enum Kind : int { Class, Start, None };

  Decision(Gecode::Brancher const& brancher, Kind its_kind, int its_task, std::vector<int> its_values)
      : Choice(brancher, alternatives(its_kind, its_values)),
        kind(its_kind),
        task(its_task),
        values(std::move(its_values)) {}

  void archive(Gecode::Archive& to) const override {
    Choice::archive(to);
    to << static_cast<int>(kind) << task << static_cast<int>(values.size());
    for (int const value : values) to << value;
  }

  Kind kind;
  int task;
  std::vector<int> values;

 private:
  static unsigned alternatives(Kind kind, std::vector<int> const& values) {
    if (kind == Class) return static_cast<unsigned>(values.size());
    return kind == Start ? 2 : 1;
  }
};

class StartOrPostpone final : public Gecode::Brancher {
 public:
  StartOrPostpone(Gecode::Home home, ConstraintData const& data, Gecode::ViewArray<IntView> const& starts,
                  Gecode::ViewArray<BoolView> const& on)
      : Brancher(home),
        m_data(data),
        m_starts(starts),
        m_on(on),
        m_postponed(static_cast<Gecode::Space&>(home).alloc<int>(data.tasks)) {
    std::fill_n(m_postponed, data.tasks, -1);
  }
  StartOrPostpone(Gecode::Space& home, StartOrPostpone& other)
      : Brancher(home, other), m_data(other.m_data), m_postponed(home.alloc<int>(other.m_data.tasks)) {
    m_starts.update(home, other.m_starts);
    m_on.update(home, other.m_on);
    std::copy_n(other.m_postponed, m_data.tasks, m_postponed);
  }

  Gecode::Actor* copy(Gecode::Space& home) override { return new (home) StartOrPostpone(home, *this); }
  std::size_t dispose(Gecode::Space& home) override {
    static_cast<void>(Brancher::dispose(home));
    return sizeof(*this);
  }

  bool status(Gecode::Space const&) const override {
    for (int task = 0; task < m_data.tasks; ++task) {
      if (!m_starts[task].assigned() || !has_class(task)) return true;
    }
    return false;
  }

  Gecode::Choice const* choice(Gecode::Space&) override {
    int const task = next_task();
    if (task < 0) return new Decision(*this, Decision::None, 0, {});
    if (has_class(task)) return new Decision(*this, Decision::Start, task, {m_starts[task].min()});
    return new Decision(*this, Decision::Class, task, classes_by_end(task));
  }
  Gecode::Choice const* choice(Gecode::Space const&, Gecode::Archive& from) override {
    int kind = 0;
    int task = 0;
    int count = 0;
    from >> kind >> task >> count;
    std::vector<int> values(static_cast<std::size_t>(count));
    for (int& value : values) from >> value;
    return new Decision(*this, static_cast<Decision::Kind>(kind), task, std::move(values));
  }

  Gecode::ExecStatus commit(Gecode::Space& home, Gecode::Choice const& choice, unsigned alternative) override {
    auto const& decision = static_cast<Decision const&>(choice);
    auto const status = [](Gecode::ModEvent event) {
      return Gecode::me_failed(event) ? Gecode::ES_FAILED : Gecode::ES_OK;
    };
    if (decision.kind == Decision::None) return Gecode::ES_FAILED;
    if (decision.kind == Decision::Class) return status(on(decision.task, decision.values[alternative]).one(home));
    if (alternative == 0) return status(m_starts[decision.task].eq(home, decision.values.front()));
    m_postponed[decision.task] = decision.values.front();
    return Gecode::ES_OK;
  }

  void print(Gecode::Space const&, Gecode::Choice const& choice, unsigned alternative,
             std::ostream& to) const override {
    auto const& decision = static_cast<Decision const&>(choice);
    if (decision.kind == Decision::None) {
      to << "fail";
    } else if (decision.kind == Decision::Class) {
      to << "task " << decision.task << " on class " << decision.values[alternative];
    } else {
      to << (alternative == 0 ? "start task " : "postpone task ") << decision.task << " at " << decision.values.front();
    }
  }

 private:
  [[nodiscard]] BoolView on(int task, int worker_class) const {
    return m_on[static_cast<int>(m_data.at(task, worker_class))];
  }
  [[nodiscard]] bool has_class(int task) const {
    for (int c = 0; c < m_data.classes; ++c) {
      if (!on(task, c).assigned()) return false;
    }
    return true;
  }

  // The one with the earliest start of those that are not postponed; -1 if there is none.
  [[nodiscard]] int next_task() const {
    int best = -1;
    for (int task = 0; task < m_data.tasks; ++task) {
      int const start = m_starts[task].min();
      if ((m_starts[task].assigned() && has_class(task)) || start <= m_postponed[task]) continue;
      if (best >= 0) {
        int const earliest = m_starts[best].min();
        if (start > earliest) continue;
        if (start == earliest && level(task) <= level(best)) continue;
      }
      best = task;
    }
    return best;
  }
  [[nodiscard]] long long level(int task) const { return m_data.bottom_levels[static_cast<std::size_t>(task)]; }

  // As a list scheduler would expect: the work that a class has left is shared by its workers.
  [[nodiscard]] std::vector<int> classes_by_end(int task) const {
    int const now = m_starts[task].min();
    std::vector<std::pair<long long, int>> by_end;
    for (int c = 0; c < m_data.classes; ++c) {
      if (on(task, c).zero()) continue;
      long long left = 0;
      int busy = 0;
      for (int other = 0; other < m_data.tasks; ++other) {
        if (!on(other, c).one()) continue;
        int const its_time = m_data.times[m_data.at(other, c)];
        int const its_left =
            m_starts[other].assigned() ? std::min(its_time, m_starts[other].val() + its_time - now) : its_time;
        if (its_left <= 0) continue;
        left += its_left;
        ++busy;
      }
      int const workers = m_data.workers[static_cast<std::size_t>(c)];
      by_end.emplace_back((busy < workers ? 0 : left / workers) + m_data.times[m_data.at(task, c)], c);
    }
    std::ranges::sort(by_end);
    std::vector<int> classes;
    for (auto const& [end, c] : by_end) classes.push_back(c);
    return classes;
  }

  ConstraintData const& m_data;
  Gecode::ViewArray<IntView> m_starts;
  Gecode::ViewArray<BoolView> m_on;
  int* m_postponed;  // by task: the earliest start at which it was postponed; in the memory of the space
};

}  // namespace

void start_or_postpone(Gecode::Home home, ConstraintData const& data, Gecode::IntVarArgs const& starts,
                       Gecode::BoolVarArgs const& on) {
  if (home.failed()) return;
  Gecode::ViewArray<IntView> const start_views(home, starts);
  Gecode::ViewArray<BoolView> const on_views(home, on);
  new (home) StartOrPostpone(home, data, start_views, on_views);
}

}  // namespace granary
