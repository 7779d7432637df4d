// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/facade/player.hpp"

#include "contract/facade/arrays.hpp"
#include "contract/facade/model.hpp"
#include "contract/facade/tasks.hpp"

#include <granary/detail/core/engine/statistics.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace granary::facade_test {

using namespace detail;

namespace {

[[noreturn]] void fail(std::string const& what) { throw std::runtime_error(what); }

bool is_task(Step const& step) { return std::holds_alternative<Submit>(step) || std::holds_alternative<Nest>(step); }

class Player {
 public:
  explicit Player(Program const& program)
      : m_program(program),
        m_model(program),
        m_seen(program.tasks),
        m_runtime(std::make_unique<Runtime>(program.options)),
        m_arrays(program, m_model, *m_runtime) {}
  // Its members are used by tasks.
  ~Player() { m_runtime.reset(); }
  Player(Player const&) = delete;
  Player& operator=(Player const&) = delete;

  Totals play() {
    for (auto const& step : m_program.steps) play_reporting(step);
    if (m_program.waits) play_reporting(WaitAll{});
    check_limits();
    m_runtime.reset();
    m_model.apply(WaitAll{});
    for (auto const& [number, cells] : m_model.arrays()) {
      if (!cells.spoilt) m_arrays.compare(number, cells.shape.all(), cells.values, m_program.waits);
    }
    return m_totals;
  }

 private:
  void play_reporting(Step const& step) {
    try {
      play(step);
    } catch (std::exception const& error) {
      fail(to_text(step) + ": " + error.what());
    }
  }

  void play(Step const& step) {
    auto const verdict = m_model.verdict(step);
    if (verdict == Verdict::Impossible) return;
    ++m_totals.steps[step.index()];
    try {
      std::visit([&](auto const& one) { perform(one); }, step);
      if (verdict == Verdict::Refused) fail("it was not refused");
    } catch (MemoryLimitError const&) {
      if (verdict == Verdict::Accepted && (!is_task(step) || fits(step))) throw;
      ++m_totals.too_large;
      return m_model.refused(step);
    } catch (InvalidArgument const&) {
      if (verdict == Verdict::Accepted) throw;
      ++m_totals.refused;
      return m_model.refused(step);
    } catch (Failed const&) {
      if (verdict == Verdict::Accepted) throw;
      ++m_totals.failures;
      m_told = true;
      return;
    }
    m_model.apply(step);
    std::visit([&](auto const& one) { look(one); }, step);
  }

  // Performs a step.
  void perform(MakeHandle const& step) { keep(step.handle, m_arrays.data(*m_runtime, step)); }
  void perform(MakePart const& step) {
    keep(step.handle, Arrays::part(*m_runtime, kind_of(step.of), m_handles.at(step.of), step.from, step.to));
  }
  void perform(Partition const& step) {
    auto next = step.handle;
    for (auto& part : Arrays::partition(*m_runtime, kind_of(step.of), m_handles.at(step.of), step.tiles))
      keep(next++, std::move(part));
  }
  void perform(MakeOwn const& step) {
    auto const& shape = step.shape;
    if (shape.place == Place::Number) {
      keep(step.handle, held<Kind::Number>(m_runtime->scalar<double>("scalar", Model::first_of_scalar(step.array))));
    } else if (shape.place == Place::Varying) {
      keep(step.handle, held<Kind::Varying>(m_runtime->varying<double>("varying", shape.cols, shape.expected)));
    } else {
      keep(step.handle, held<Kind::Temporary>(m_runtime->temporary<Right>("temporary", shape.rows, shape.cols)));
    }
  }
  void perform(Drop const& step) { m_handles.erase(step.handle); }
  void perform(Submit const& step) {
    auto const form = task_form(step.form);
    auto const handle = submit_form(step.form, *m_runtime, held_by(form, step.handles), step.scratch, real(step.work));
    m_tasks.insert_or_assign(step.work.task, handle);
    count(form);
  }
  void perform(Outside const& step) {
    auto const form = outside_form(step.form);
    auto const handles = held_by(form, step.handles);
    std::vector<std::pair<double*, Region>> memory;
    for (std::size_t s = 0; s < form.count; ++s) {
      auto const& handle = m_model.handles().at(step.handles[s]);
      memory.emplace_back(m_arrays.cells(handle.array), handle.region);
    }
    auto const work = real(step.work);
    if (step.after) work_on_memory(form, memory, work);
    auto const ended = [form, memory, work, left = std::make_shared<unsigned>(step.calls)] {
      if (--*left > 0) return false;
      work_on_memory(form, memory, work);
      return true;
    };
    m_tasks.insert_or_assign(step.work.task,
                             submit_outside_form(step.form, *m_runtime, handles, ended, step.after, step.work.task));
  }
  void perform(Nest const& step) {
    auto const& inner = std::get<Scalar<double>>(m_handles.at(step.inner));
    m_tasks.insert_or_assign(step.work.task,
                             submit_nest(*m_runtime, m_handles.at(step.outer), inner, step, real(step.work)));
  }
  void perform(WaitAll const&) {
    bool const may = m_model.failures() > 0, must = may && !m_told;
    m_told = false;
    try {
      m_runtime->wait();
    } catch (Failed const&) {
      if (!may) throw;
      ++m_totals.failures;
      return;
    }
    if (must) fail("the failure of a task was not reported");
  }
  void perform(WaitFor const& step) {
    auto const& first = m_handles.at(step.handles[0]);
    auto const& second = m_handles.at(step.handles[1]);
    auto const wait = [this](auto const&... data) { m_runtime->wait(data...); };
    &first == &second ? std::visit(wait, first) : std::visit(wait, first, second);
  }
  void perform(WaitTask const& step) {
    if (auto const found = m_tasks.find(step.task); found != m_tasks.end()) found->second.wait();
  }
  void perform(Get const& step) {
    auto const found = std::get<Scalar<double>>(m_handles.at(step.handle)).get();
    auto const& cells = cells_of(step.handle);
    if (!cells.spoilt && found != cells.values[0])
      fail("the value is " + std::to_string(found) + " instead of " + std::to_string(cells.values[0]));
  }
  void perform(Change const& step) { m_arrays.change(step); }
  void perform(Prefetch const& step) {
    std::visit([&](auto const& data) { m_runtime->prefetch(data, NodeId(step.node)); }, m_handles.at(step.handle));
  }
  void perform(WillNotUse const& step) {
    std::visit([&](auto const& data) { m_runtime->will_not_use(data); }, m_handles.at(step.handle));
  }
  void perform(Recover const& step) {
    std::erase_if(m_handles, [&](auto const& entry) { return m_model.handles().at(entry.first).array == step.array; });
    m_arrays.recover(step);
  }
  void perform(Refuse const& step) {
    using Call = Refuse::Call;
    auto const& handle = m_handles.at(step.handle);
    auto const ended = [] { return true; };
    switch (step.call) {
      case Call::OutsideOnTemporary:
        if (kind_of(step.handle) == Kind::Block) {
          m_runtime->submit_outside("outside", ended, write(data_of<Kind::Block>(handle)));
          return;
        }
        m_runtime->submit_outside("outside", ended, write(data_of<Kind::Temporary>(handle)));
        return;
      case Call::OutsideOnDual:
        m_runtime->submit_outside("outside", ended, write(std::get<dual_index>(handle)));
        return;
      case Call::PartBeyond:
      case Call::PartOfTemporary: {
        auto const beyond = m_model.handles().at(step.handle).region.extents[0] + 1;
        static_cast<void>(Arrays::part(*m_runtime, kind_of(step.handle), handle, {0, 0}, {beyond, 1}));
        return;
      }
      case Call::PrefetchNowhere:
        return std::visit([&](auto const& data) { m_runtime->prefetch(data, NodeId(17)); }, handle);
      case Call::Larger:
        submit_larger(*m_runtime, std::get<Scalar<double>>(handle));
    }
  }

  // What the application can see after a step has taken effect.
  template <class OneStep>
  void look(OneStep const&) {}
  void look(WaitAll const&) {
    for (auto const& [number, cells] : m_model.arrays()) {
      if (!cells.spoilt) m_arrays.compare(number, cells.shape.all(), cells.values, true);
    }
    for (auto const& [task, sum] : m_model.tasks()) compare(task);
  }
  void look(WaitFor const& step) {
    for (auto const number : step.handles) {
      auto const& handle = m_model.handles().at(number);
      if (!cells_of(number).spoilt) m_arrays.compare(handle.array, handle.region, cells_of(number).values, true);
    }
  }
  // Tasks that tasks submit have no handles: the next wait for everything is for them, too.
  void look(WaitTask const& step) {
    if (m_tasks.contains(step.task)) compare(step.task);
  }
  void compare(Name task) const {
    auto const& expected = m_model.tasks().at(task);
    auto const found = m_model.if_run().find(task);
    bool const old = !expected && m_seen[task] != 0 && found != m_model.if_run().end() && m_seen[task] != found->second;
    if (old) fail("task " + std::to_string(task) + " found old values after a failure");
    if (!expected || m_seen[task] == *expected) return;
    fail("task " + std::to_string(task) +
         (m_seen[task] == torn ? " found data that changed while it ran" : " found other values than the model's"));
  }

  // Whether a task needs at most half of each memory: the other half is enough for what passes through.
  [[nodiscard]] bool fits(Step const& step) const {
    auto const& options = m_program.options;
    auto const* const task = std::get_if<Submit>(&step);
    if (task == nullptr) return !m_program.bounded;
    Bytes on_host = 0, on_device = 0;
    auto const form = task_form(task->form);
    for (std::size_t s = 0; s < form.count; ++s) {
      bool const is_scratch = form.slots[s].use == Use::Scratch;
      if (!is_scratch && !cells_of(task->handles[s]).divisions.empty()) {
        auto const& cells = cells_of(task->handles[s]);  // copies are made with the whole
        on_host += round_up(cells.values.size() * sizeof(double), 2 * page);
        on_device += round_up(cells.values.size() * sizeof(double), 512);
      }
      auto const size =
          is_scratch ? task->scratch[0] * task->scratch[1] : m_model.handles().at(task->handles[s]).region.size();
      // A reduction has its copy and the combined one, a varying datum its old value and the new one.
      bool const twice = reduces(form.slots[s].use) || form.slots[s].kind == Kind::Varying;
      Bytes const bytes = size * sizeof(double) * (twice ? 2 : 1);
      on_host += round_up(bytes, 2 * page);
      on_device += round_up(bytes, 512);
    }
    return 2 * on_host <= options.host_memory && (options.devices == "none" || 2 * on_device <= options.device_memory);
  }

  void check_limits() {
    auto const statistics = m_runtime->statistics();
    auto const within = [](std::string const& name, Bytes peak, Bytes limit) {
      if (peak > limit) fail(name + " used " + std::to_string(peak) + " bytes, more than " + std::to_string(limit));
    };
    within("host memory", m_runtime->figures().host_memory_peak, m_program.options.host_memory);
    m_totals.host_evictions = statistics.planner.nodes[Runtime::host_node().index()].evictions;
    m_totals.to_scratch = m_runtime->figures().bytes_written;
    std::size_t node = 0;
    for (auto const& device : m_runtime->figures().devices) {
      within(device.name, device.peak, m_program.options.device_memory);
      m_totals.on_devices += device.tasks;
      m_totals.device_evictions += statistics.planner.nodes[Runtime::device_node(node++).index()].evictions;
    }
    m_totals.on_cores = statistics.planner.tasks_run - m_totals.on_devices;
  }

  [[nodiscard]] Kind kind_of(Name handle) const { return m_model.handles().at(handle).kind; }
  [[nodiscard]] Model::Cells const& cells_of(Name handle) const { return m_model.cells(m_model.handles().at(handle)); }
  [[nodiscard]] std::array<Held const*, most_slots> held_by(Form const& form,
                                                            std::array<Name, most_slots> const& handles) const {
    std::array<Held const*, most_slots> all{};
    for (std::size_t s = 0; s < form.count; ++s) {
      if (form.slots[s].use != Use::Scratch) all[s] = &m_handles.at(handles[s]);
    }
    return all;
  }
  void keep(Name handle, Held held) { m_handles.insert_or_assign(handle, std::move(held)); }
  [[nodiscard]] RealWork real(Work const& work) { return {work, &m_seen.at(work.task)}; }
  void count(Form const& form) {
    for (auto const& slot : std::span(form.slots).first(form.count)) {
      ++m_totals.uses[static_cast<std::size_t>(slot.use)];
      if (reduces(slot.use) && slot.in_order) ++m_totals.in_order;
      if (slot.use != Use::Scratch) ++m_totals.kinds[static_cast<std::size_t>(slot.kind)];
    }
  }

  Program const& m_program;
  Model m_model;
  std::vector<std::uint64_t> m_seen;  // by task
  std::unique_ptr<Runtime> m_runtime;
  Arrays m_arrays;
  std::map<Name, Held> m_handles;
  std::map<Name, TaskHandle> m_tasks;
  bool m_told = false;  // a wait for some data has reported a failure since the last wait for all
  Totals m_totals;
};

}  // namespace

Totals play(Program const& program) { return Player(program).play(); }

void Totals::add(Totals const& other) {
  auto const add_all = [](auto& to, auto const& from) { std::ranges::transform(to, from, to.begin(), std::plus<>()); };
  add_all(uses, other.uses);
  add_all(kinds, other.kinds);
  add_all(steps, other.steps);
  for (auto const part :
       {&Totals::in_order, &Totals::refused, &Totals::too_large, &Totals::failures, &Totals::on_cores,
        &Totals::on_devices, &Totals::host_evictions, &Totals::device_evictions, &Totals::to_scratch}) {
    this->*part += other.*part;
  }
}

}  // namespace granary::facade_test
