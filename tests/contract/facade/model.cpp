// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/facade/model.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace granary::facade_test {

using namespace detail;

namespace {

bool on_memory(Place place) { return place < Place::Temporary; }

std::vector<std::size_t> sorted_cells(Region const& region) {
  std::vector<std::size_t> cells;
  region.for_each([&](std::size_t cell, std::size_t) { cells.push_back(cell); });
  std::ranges::sort(cells);
  return cells;
}

}  // namespace

Model::Model(Program const& program) {
  Name number = 0;
  for (auto const& array : program.arrays) {
    Cells cells{.shape = array, .values = {}, .free = {}};
    for (std::size_t cell = 0; cell < array.rows * array.cols; ++cell) {
      cells.values.push_back(changed(number, cell));
      cells.free.push_back(true);
    }
    m_arrays.emplace(number++, std::move(cells));
  }
}

Model::Handle const* Model::find(Name handle) const {
  auto const found = m_handles.find(handle);
  return found == m_handles.end() ? nullptr : &found->second;
}
Model::Handle const* Model::find(Name handle, Kind kind) const {
  auto const* const found = find(handle);
  return found != nullptr && found->kind == kind ? found : nullptr;
}

bool Model::free(Name array, Region const& region) const {
  auto const& cells = m_arrays.at(array);
  bool all = on_memory(cells.shape.place);
  region.for_each([&](std::size_t cell, std::size_t) { all = all && cells.free[cell]; });
  return all;
}

bool Model::share_cells(Handle const& a, Handle const& b) const {
  if (a.array != b.array) return false;
  auto const of_a = sorted_cells(a.region), of_b = sorted_cells(b.region);
  return std::ranges::any_of(of_a, [&](std::size_t cell) { return std::ranges::binary_search(of_b, cell); });
}
bool Model::same_cells(Handle const& a, Handle const& b) const {
  return a.array == b.array && sorted_cells(a.region) == sorted_cells(b.region);
}

bool Model::has_value(Handle const& handle) const {
  auto const& array = cells(handle);
  return array.defined || (handle.division > 0 && array.begun == handle.division && array.begun_parts[handle.part]);
}

// Whether the data has no value that the task needs: its own, or, for a part, that of the others.
bool Model::is_refused(Use use, Handle const& handle) const {
  auto const& array = cells(handle);
  if (reduces(use) && !array.divisions.empty()) return true;
  if (use != Use::Write) return !has_value(handle);
  return !array.defined && handle.division > 0 && array.begun > 0 && array.begun != handle.division;
}

void Model::define(Cells& array, Handle const& handle) {
  if (array.defined) return;
  if (handle.division == 0) {
    array.defined = true;
    return;
  }
  if (array.begun != handle.division) {
    array.begun_parts.assign(cut(array.shape.all(), array.divisions[handle.division - 1]).size(), false);
  }
  array.begun = handle.division;
  array.begun_parts[handle.part] = true;
  array.defined = std::ranges::count(array.begun_parts, false) == 0;
}

// The elements that there are.
Region Model::present(Cells const& array, Handle const& handle) {
  return array.shape.place == Place::Varying ? handle.region.part({0, 0}, {1, array.present}) : handle.region;
}

Verdict Model::verdict_of_accesses(Form const& form, std::span<Name const> handles) const {
  bool refused = false;
  for (std::size_t s = 0; s < form.count; ++s) {
    auto const& slot = form.slots[s];
    if (slot.use == Use::Scratch) continue;
    auto const* const one = find(handles[s], slot.kind);
    if (one == nullptr || cells(*one).busy) return Verdict::Impossible;
    refused = refused || is_refused(slot.use, *one);
    for (std::size_t t = 0; t < s; ++t) {
      auto const& before = form.slots[t];
      if (before.use == Use::Scratch || (before.use == Use::Read && slot.use == Use::Read)) continue;
      auto const& other = *find(handles[t]);
      refused = refused || (one->array == other.array && one->division != other.division);
      if (one->division != other.division || !share_cells(*one, other)) continue;
      // Two accesses to the same datum are one of both modes: its order of reads and writes is the body's affair.
      if (same_cells(*one, other) && !reduces(slot.use) && !reduces(before.use)) return Verdict::Impossible;
      refused = true;
    }
  }
  for (std::size_t s = 0; s < form.count; ++s) {
    if (form.slots[s].use != Use::Scratch && cells(*find(handles[s])).spoilt) return Verdict::Uncertain;
  }
  return refused ? Verdict::Refused : Verdict::Accepted;
}

struct Model::Asked {
  Model const& model;

  Verdict given(bool possible) const { return possible ? Verdict::Accepted : Verdict::Impossible; }

  Verdict operator()(MakeHandle const& step) const { return given(model.m_arrays.contains(step.array)); }
  Verdict operator()(MakePart const& step) const { return has_parts(step.of); }
  Verdict operator()(Partition const& step) const {
    auto const* const whole = model.find(step.of);
    if (whole == nullptr || model.cells(*whole).shape.place != Place::Temporary) return has_parts(step.of);
    if (whole->division > 0) return Verdict::Refused;
    return model.cells(*whole).spoilt ? Verdict::Uncertain : Verdict::Accepted;
  }
  Verdict has_parts(Name of) const {
    auto const* const whole = model.find(of);
    if (whole == nullptr) return Verdict::Impossible;
    return given(on_memory(model.cells(*whole).shape.place) && model.cells(*whole).shape.place != Place::Dual &&
                 whole->kind != Kind::Constant);
  }
  Verdict operator()(MakeOwn const&) const { return Verdict::Accepted; }
  Verdict operator()(Drop const& step) const { return given(model.find(step.handle) != nullptr); }
  Verdict operator()(Submit const& step) const { return model.verdict_of_accesses(task_form(step.form), step.handles); }
  Verdict operator()(Outside const& step) const {
    auto const form = outside_form(step.form);
    for (std::size_t s = 0; s < form.count; ++s) {
      auto const* const one = model.find(step.handles[s], form.slots[s].kind);
      if (one == nullptr || model.cells(*one).shape.place == Place::Dual) return Verdict::Impossible;
      if ((step.after || looks(form.slots[s].use)) && !model.free(one->array, one->region)) return Verdict::Impossible;
    }
    auto verdict = model.verdict_of_accesses(form, step.handles);
    for (std::size_t s = 0; s < form.count && verdict == Verdict::Accepted; ++s) {
      if (model.cells(*model.find(step.handles[s])).shape.place == Place::Temporary) verdict = Verdict::Refused;
    }
    return step.after && verdict != Verdict::Accepted ? Verdict::Impossible : verdict;
  }
  Verdict operator()(Nest const& step) const {
    auto const* const outer = model.find(step.outer);
    auto const* const inner = model.find(step.inner, Kind::Number);
    if (outer == nullptr || inner == nullptr || outer->array == inner->array) return Verdict::Impossible;
    if (outer->kind != Kind::Vector && outer->kind != Kind::Number) return Verdict::Impossible;
    for (auto const* const one : {outer, inner}) {
      if (model.cells(*one).busy || model.cells(*one).spoilt) return Verdict::Impossible;
    }
    return Verdict::Accepted;
  }
  Verdict operator()(WaitAll const&) const { return Verdict::Accepted; }
  Verdict operator()(WaitFor const& step) const {
    bool spoilt = false;
    for (auto const number : step.handles) {
      auto const* const one = model.find(number);
      if (one == nullptr || model.cells(*one).busy) return Verdict::Impossible;
      spoilt = spoilt || model.cells(*one).spoilt;
    }
    return spoilt ? Verdict::Uncertain : Verdict::Accepted;
  }
  Verdict operator()(WaitTask const& step) const {
    auto const found = model.m_tasks.find(step.task);
    if (found == model.m_tasks.end()) return Verdict::Impossible;
    return found->second ? Verdict::Accepted : Verdict::Uncertain;
  }
  Verdict operator()(Get const& step) const {
    auto const* const one = model.find(step.handle, Kind::Number);
    if (one == nullptr || model.cells(*one).busy) return Verdict::Impossible;
    return model.cells(*one).spoilt ? Verdict::Uncertain : Verdict::Accepted;
  }
  Verdict operator()(Change const& step) const {
    auto const found = model.m_arrays.find(step.array);
    return given(found != model.m_arrays.end() && !found->second.spoilt && model.free(step.array, step.region));
  }
  Verdict operator()(Prefetch const& step) const { return given(model.find(step.handle) != nullptr); }
  Verdict operator()(WillNotUse const& step) const { return given(model.find(step.handle) != nullptr); }
  Verdict operator()(Recover const& step) const {
    auto const& cells = model.m_arrays.at(step.array);
    return given(cells.spoilt && model.free(step.array, cells.shape.all()));
  }
  Verdict operator()(Refuse const& step) const {
    using Call = Refuse::Call;
    auto const* const one = model.find(step.handle);
    if (one == nullptr || model.cells(*one).busy || model.cells(*one).spoilt) return Verdict::Impossible;
    auto const place = model.cells(*one).shape.place;
    switch (step.call) {
      case Call::OutsideOnTemporary:
      case Call::PartOfTemporary:
        return place == Place::Temporary ? Verdict::Refused : Verdict::Impossible;
      case Call::OutsideOnDual:
        return place == Place::Dual ? Verdict::Refused : Verdict::Impossible;
      case Call::PartBeyond:
        return has_parts(step.handle) == Verdict::Accepted ? Verdict::Refused : Verdict::Impossible;
      case Call::PrefetchNowhere:
        return Verdict::Refused;
      case Call::Larger:
        return one->kind == Kind::Number ? Verdict::Refused : Verdict::Impossible;
    }
    return Verdict::Impossible;
  }
};

Verdict Model::verdict(Step const& step) const { return std::visit(Asked{*this}, step); }

void Model::run(Form const& form, std::span<Name const> handles, Work const& work) {
  bool unknown = work.fails, unsure = false;
  if (work.fails) ++m_failures;
  auto const for_slots = [&](auto&& function) {
    for (std::size_t s = 0; s < form.count; ++s) {
      if (form.slots[s].use == Use::Scratch) continue;
      auto const& handle = *find(handles[s]);
      function(s, form.slots[s].use, handle, m_arrays.at(handle.array));
    }
  };
  auto sum = work.salt;
  for_slots([&](std::size_t, Use use, Handle const& handle, Cells& array) {
    unknown = unknown || array.spoilt;
    unsure = unsure || array.unsure;
    if (!looks(use)) return;
    present(array, handle).for_each([&](std::size_t cell, std::size_t) { sum = mix(sum, array.values[cell]); });
  });
  bool out_of_order = false;
  for_slots([&](std::size_t s, Use use, Handle const& handle, Cells& array) {
    if (array.shape.place == Place::Varying && use != Use::Read) {
      auto const most = array.shape.cols, bound = form.bounds_results ? most_left(use, array.present) : most;
      array.present = left_elements(sum, s, std::min(bound, most));
    }
    present(array, handle).for_each([&](std::size_t cell, std::size_t n) {
      array.free[cell] = false;
      if (use == Use::Read) return;
      auto const made = term(use, sum, s, n);
      array.values[cell] = combines(use) ? combined(use, array.values[cell], made) : made;
    });
    define(array, handle);
    array.written = array.written || use != Use::Read;
    if (use != Use::Read && unknown) array.spoilt = true;
    if (use != Use::Read && unknown && (unsure || array.divisions.empty())) array.unsure = true;
    out_of_order = out_of_order || combines(use);
  });
  // Of tasks that commute with a failing one, those before it in the order of submission may be cancelled, too.
  if (unknown && out_of_order) spoil_all();
  if (!unsure) m_if_run[work.task] = sum;
  m_tasks[work.task] = unknown ? std::nullopt : std::optional(sum);
}

void Model::spoil_all() {
  for (auto& [number, array] : m_arrays) {
    array.spoilt = array.spoilt || array.written;
    array.unsure = array.unsure || (array.spoilt && array.divisions.empty());
  }
  for (auto task = m_tasks.lower_bound(m_first_task); task != m_tasks.end(); ++task) task->second = std::nullopt;
}

struct Model::Applied {
  Model& model;

  void operator()(MakeHandle const& step) { model.m_handles[step.handle] = {step.array, step.kind, step.region}; }
  void operator()(MakePart const& step) {
    auto const& of = *model.find(step.of);
    Handle const part{of.array, kind_of_parts(of.kind), of.region.part(step.from, step.to)};
    model.m_handles[step.handle] = part;
  }
  void operator()(Partition const& step) {
    auto const of = *model.find(step.of);
    auto next = step.handle;
    std::size_t division = 0, number = 0;
    if (auto& array = model.m_arrays.at(of.array); array.shape.place == Place::Temporary) {
      std::array const tiles{std::min(step.tiles[0], of.region.extents[0]),
                             std::min(step.tiles[1], of.region.extents[1])};
      auto const known = std::ranges::find(array.divisions, tiles);
      division = 1 + static_cast<std::size_t>(known - array.divisions.begin());
      if (known == array.divisions.end()) array.divisions.push_back(tiles);
    }
    for (auto const& part : cut(of.region, step.tiles))
      model.m_handles[next++] = {of.array, kind_of_parts(of.kind), part, division, number++};
  }
  void operator()(MakeOwn const& step) {
    auto const size = step.shape.rows * step.shape.cols;
    bool const scalar = step.shape.place == Place::Number;
    model.m_arrays[step.array] = {.shape = step.shape,
                                  .values = std::vector<double>(size, first_of_scalar(step.array)),
                                  .free = std::vector<bool>(size, false),
                                  .defined = scalar};
    auto const kind = scalar ? Kind::Number : step.shape.place == Place::Varying ? Kind::Varying : Kind::Temporary;
    model.m_handles[step.handle] = {step.array, kind, step.shape.all()};
  }
  void operator()(Drop const& step) { model.m_handles.erase(step.handle); }
  void operator()(Submit const& step) { model.run(task_form(step.form), step.handles, step.work); }
  void operator()(Outside const& step) { model.run(outside_form(step.form), step.handles, step.work); }
  void operator()(Nest const& step) {
    auto work = step.work;
    auto const outer = *model.find(step.outer);
    Form const reads{.slots = {Slot{Use::Read, false, outer.kind}}, .count = 1};
    model.run(reads, {&step.outer, 1}, work);
    Form const changes{.slots = {Slot{step.use, false, Kind::Number}}, .count = 1};
    for (unsigned level = 0; level < step.depth; ++level) {
      work.salt = *model.m_tasks[work.task++];
      model.run(changes, {&step.inner, 1}, work);
    }
    model.m_arrays.at(model.find(step.inner)->array).busy = true;
  }
  void operator()(WaitAll const&) {
    for (auto& [number, array] : model.m_arrays) {
      array.busy = array.written = false;
      std::fill(array.free.begin(), array.free.end(), true);
    }
    model.m_failures = 0;
    if (!model.m_tasks.empty()) model.m_first_task = model.m_tasks.rbegin()->first + 1;
  }
  void operator()(WaitFor const& step) {
    if (model.verdict(step) == Verdict::Uncertain) return;
    for (auto const number : step.handles) {
      auto const& handle = *model.find(number);
      auto& array = model.m_arrays.at(handle.array);
      handle.region.for_each([&](std::size_t cell, std::size_t) { array.free[cell] = true; });
    }
  }
  void operator()(WaitTask const&) {}
  void operator()(Get const&) {}
  void operator()(Change const& step) {
    auto& array = model.m_arrays.at(step.array);
    step.region.for_each([&](std::size_t cell, std::size_t) { array.values[cell] = changed(step.salt, cell); });
  }
  void operator()(Prefetch const& step) {
    auto const& handle = *model.find(step.handle);
    auto& array = model.m_arrays.at(handle.array);
    handle.region.for_each([&](std::size_t cell, std::size_t) { array.free[cell] = false; });
  }
  void operator()(WillNotUse const& step) { model.use_dual(step.handle); }
  void operator()(Recover const& step) {
    std::erase_if(model.m_handles, [&](auto const& entry) { return entry.second.array == step.array; });
    auto& array = model.m_arrays.at(step.array);
    array.spoilt = array.unsure = false;
    for (std::size_t cell = 0; cell < array.values.size(); ++cell) array.values[cell] = changed(step.salt, cell);
  }
  void operator()(Refuse const&) {}
};

void Model::use_dual(Name number) {
  auto const* const handle = find(number);
  if (handle == nullptr || cells(*handle).shape.place != Place::Dual) return;
  auto& free = m_arrays.at(handle->array).free;
  std::fill(free.begin(), free.end(), false);
}

void Model::refused(Step const& step) {
  if (auto const* const task = std::get_if<Submit>(&step)) {
    auto const form = task_form(task->form);
    for (std::size_t s = 0; s < form.count; ++s) {
      if (form.slots[s].use != Use::Scratch) use_dual(task->handles[s]);
    }
  }
  if (auto const* const task = std::get_if<Nest>(&step)) use_dual(task->outer);
  if (auto const* const call = std::get_if<Refuse>(&step)) use_dual(call->handle);
}

void Model::apply(Step const& step) { std::visit(Applied{*this}, step); }

}  // namespace granary::facade_test
