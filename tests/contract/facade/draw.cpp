// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/facade/draw.hpp"

#include "contract/facade/model.hpp"

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/policies/registry.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace granary::facade_test {

using namespace detail;

namespace {

std::string one_of(std::vector<std::string> const& names, Random& random) { return names[random.below(names.size())]; }

void draw_machine(Program& program, Random& random) {
  auto& options = program.options;
  std::vector<std::string> const devices{"none", "none", "none", "host:1", "host:2", "host:3", "host:4"};
  options.scheduler = one_of(scheduler_names(), random);
  options.eviction = random.chance(0.5) ? default_eviction(options.scheduler) : one_of(eviction_names(), random);
  options.devices = one_of(devices, random);
  bool const cores_alone = options.devices == "none";
  options.workers = static_cast<unsigned>(random.between(cores_alone ? 1 : 0, 3));
  bool const little = random.chance(0.4);
  // No memory is a multiple of what its pool is aligned to.
  options.host_memory = little ? page * static_cast<Bytes>(random.between(2, 12)) + random.below(page) : 16_MiB;
  bool little_there = false;
  if (!cores_alone) {
    little_there = random.chance(0.5);
    options.device_memory =
        little_there ? 1_KiB * static_cast<Bytes>(random.between(4, 16)) + random.below(1_KiB) : 1_MiB;
    options.device_lanes = static_cast<unsigned>(random.between(1, 2));
    if (random.chance(0.3)) options.link_bytes_per_second = 20'000'000;
  }
  program.bounded = little || little_there;
  options.depth = static_cast<std::uint32_t>(random.between(1, 3));
  if (random.chance(0.25)) options.max_live_tasks = static_cast<std::uint64_t>(random.between(1, 20));
  std::vector<std::string> const bookings{"ours", "ours", "paper", "none"};
  options.booking = bookings[program.seed % bookings.size()];
  options.seed = random.next();
  options.bind_workers = false;
  options.models = models_off;
  program.waits = random.chance(0.8);
}

unsigned devices_of(RuntimeOptions const& options) {
  return options.devices == "none" ? 0 : static_cast<unsigned>(options.devices.back() - '0');
}

std::size_t draw_extent(Random& random, std::int64_t most) {
  return static_cast<std::size_t>(random.chance(0.2) ? 1 : random.between(1, most));
}

void draw_arrays(Program& program, Random& random) {
  for (auto count = random.between(2, 4); count > 0; --count) {
    auto const place = random.chance(0.5) ? Place::HostLeft : Place::HostRight;
    bool const large = random.chance(0.2);  // beyond some memories
    program.arrays.push_back({place, draw_extent(random, large ? 30 : 8), draw_extent(random, large ? 100 : 30)});
  }
  auto const devices = devices_of(program.options);
  if (devices == 0) return;
  auto const device = [&] { return static_cast<unsigned>(random.below(devices)); };
  for (auto count = random.between(0, 4); count > 0; --count) {
    program.arrays.push_back({Place::Device, draw_extent(random, 6), draw_extent(random, 20), device()});
  }
  if (random.chance(0.4)) program.arrays.push_back({Place::Dual, 1, draw_extent(random, 100), device()});
}

class Drawing {
 public:
  Drawing(Program& program, Random& random, bool failing)
      : m_program(program), m_random(random), m_failing(failing), m_model(program) {
    m_array = static_cast<Name>(program.arrays.size());
    static constexpr std::array patience{0.05, 0.3, 1.0};
    m_patience = patience[random.below(patience.size())];
  }

  void draw() {
    for (Name array = 0; array < m_program.arrays.size(); ++array) {
      auto const all = m_program.arrays[array].all();
      add(make_handle(array, {0, 0}, all.extents));
    }
    add(make_own(Place::Number));
    for (int t = 0; t < 3; ++t) add(make_own(Place::Temporary));
    for (int v = 0; v < 2; ++v) add(make_own(Place::Varying));
    auto const end = m_program.steps.size() + static_cast<std::size_t>(m_random.between(20, 150));
    while (m_program.steps.size() < end) {
      if (auto const step = draw_step()) add(*step);
    }
    m_program.tasks = m_task;
  }

 private:
  // Refusals are rare, and nothing is added that is impossible.
  void add(Step const& step) {
    auto const verdict = m_model.verdict(step);
    if (verdict == Verdict::Impossible) return;
    bool const meant = std::holds_alternative<Refuse>(step);
    if (verdict == Verdict::Refused && !meant && !m_random.chance(0.05)) return;
    if (verdict == Verdict::Uncertain && !m_random.chance(0.3)) return;
    m_program.steps.push_back(step);
    verdict == Verdict::Refused ? m_model.refused(step) : m_model.apply(step);
    auto const* const waited = std::get_if<WaitFor>(&step);
    if (waited != nullptr && m_random.chance(0.5)) change(waited->handles[0]);
    if (std::holds_alternative<WaitAll>(step)) recover();
    auto const* const made = std::get_if<MakeHandle>(&step);
    if (made != nullptr && m_random.chance(0.2)) add(Prefetch{made->handle, any_node()});
    auto const* const own = std::get_if<MakeOwn>(&step);
    if (own == nullptr || own->shape.place != Place::Temporary) return;
    while (m_random.chance(0.4)) add(partition(own->handle));
  }

  std::optional<Step> draw_step() {
    auto const drawn = m_random.below(100);
    bool const with_wait = drawn >= 63 && drawn < 87;
    if (with_wait && !m_random.chance(m_patience)) return std::nullopt;
    if (drawn < 50) return submit();
    if (drawn < 58) return make();
    if (drawn < 63) return Drop{any()};
    if (drawn < 75) return wait();
    if (drawn < 78) return change_anywhere();
    if (drawn < 87) return outside();
    if (drawn < 94) return hint();
    if (drawn < 97) return nest();
    return refuse();
  }

  [[nodiscard]] Name any() {
    if (m_model.handles().empty()) return 0;
    auto chosen = m_model.handles().begin();
    std::advance(chosen, m_random.below(m_model.handles().size()));
    return chosen->first;
  }
  [[nodiscard]] Name any(Kind kind) {
    std::vector<Name> of_kind;
    for (auto const& [number, handle] : m_model.handles()) {
      if (handle.kind == kind) of_kind.push_back(number);
    }
    return of_kind.empty() ? none : of_kind[m_random.below(of_kind.size())];
  }
  Work work() {
    Work work{m_task++, m_random.next()};
    if (m_random.chance(0.4)) work.pause = static_cast<unsigned>(m_random.below(m_random.chance(0.1) ? 1000 : 60));
    work.fails = m_failing && m_random.chance(0.03);
    return work;
  }

  // The first of some forms for which there are handles.
  template <class FormOf>
  std::optional<std::pair<std::size_t, std::array<Name, most_slots>>> bind(std::size_t forms, FormOf&& form_of) {
    for (int attempt = 0; attempt < 30; ++attempt) {
      auto const number = m_random.below(forms);
      Form const form = form_of(number);
      std::array<Name, most_slots> handles{};
      bool bound = true;
      for (std::size_t s = 0; s < form.count; ++s) {
        if (form.slots[s].use == Use::Scratch) continue;
        handles[s] = any(form.slots[s].kind);
        bound = bound && handles[s] != none;
      }
      if (bound) return std::pair(number, handles);
    }
    return std::nullopt;
  }
  std::optional<Step> submit() {
    auto const bound = bind(task_forms, task_form);
    if (!bound) return std::nullopt;
    return Submit{bound->first, bound->second, {draw_extent(m_random, 10), draw_extent(m_random, 40)}, work()};
  }
  // What the application reads outside, it waits for.
  std::optional<Step> outside() {
    auto const bound = bind(outside_forms, outside_form);
    if (!bound) return std::nullopt;
    auto const form = outside_form(bound->first);
    bool const after = m_random.chance(0.4);
    for (std::size_t s = 0; s < form.count; ++s) {
      if ((after || looks(form.slots[s].use)) && m_random.chance(0.7))
        add(WaitFor{{bound->second[s], bound->second[s]}});
    }
    Outside step{bound->first, bound->second, static_cast<unsigned>(m_random.between(1, 6)), after, work()};
    if (after) step.work.fails = false;  // it runs in the application
    return step;
  }
  std::optional<Step> nest() {
    static constexpr std::array uses{Use::ReadWrite, Use::Commute, Use::Sum, Use::Xor};
    auto const outer = any(m_random.chance(0.5) ? Kind::Vector : Kind::Number);
    auto const depth = static_cast<unsigned>(m_random.between(1, 3));
    Nest const step{outer, any(Kind::Number), uses[m_random.below(uses.size())], depth, {m_task, m_random.next(), 0}};
    m_task += depth + 1;
    return step;
  }

  std::pair<std::array<std::size_t, 2>, std::array<std::size_t, 2>> draw_part(std::array<std::size_t, 2> extents) {
    std::array<std::size_t, 2> from{0, 0};
    auto to = extents;
    for (std::size_t d = 0; d < 2; ++d) {
      if (m_random.chance(0.4)) continue;
      from[d] = m_random.below(extents[d]);
      to[d] = from[d] + 1 + (m_random.chance(0.3) ? 0 : m_random.below(extents[d] - from[d]));
    }
    return {from, to};
  }

  MakeHandle make_handle(Name array, std::array<std::size_t, 2> from, std::array<std::size_t, 2> to) {
    auto const& shape = m_program.arrays[array];
    auto const handle = m_handle++;
    auto region = shape.all().part(from, to);
    if (shape.place == Place::Device) return {handle, array, Kind::OnDevice, shape.all()};
    auto const& [rows, cols] = region.extents;
    Region const column{region.first, {rows, 1}, {region.strides[0], 0}};
    Region const row{region.first, {cols, 1}, {region.strides[1], 0}};
    if (shape.place == Place::Dual) return {handle, array, Kind::Vector, {0, {shape.cols, 1}, {1, 0}}};
    bool const is_whole = rows * cols == shape.rows * shape.cols;
    bool const left = shape.place == Place::HostLeft;
    switch (m_random.below(5)) {
      case 0:
        if (is_whole) return {handle, array, Kind::Vector, {0, {rows * cols, 1}, {1, 0}}};
        return {handle, array, Kind::Vector, left ? column : row};
      case 1:
        return {handle, array, Kind::Line, m_random.chance(0.5) ? column : row};
      case 2:
        return {handle, array, Kind::Block, region};
      case 3:
        if (!left) return {handle, array, Kind::Constant, region};
        [[fallthrough]];
      default:
        return {handle, array, left ? Kind::Left : Kind::Right, region};
    }
  }
  MakeOwn make_own(Place place) {
    Array shape{place};
    if (place == Place::Temporary) {
      shape.rows = draw_extent(m_random, 12);
      shape.cols = draw_extent(m_random, m_random.chance(0.5) ? 100 : 20);
    }
    if (place == Place::Varying) {
      shape.cols = draw_extent(m_random, m_random.chance(0.2) ? 800 : 100);  // beyond some memories
      shape.expected = m_random.chance(0.5) ? shape.cols : m_random.below(shape.cols + 1);
    }
    return {m_handle++, m_array++, shape};
  }
  Partition partition(Name of) {
    auto const& extents = m_model.handles().at(of).region.extents;
    std::array<std::size_t, 2> tiles{};
    for (std::size_t d = 0; d < 2; ++d)
      tiles[d] = (extents[d] + 1) / static_cast<std::size_t>(m_random.between(1, 3)) + 1;
    m_handle += 16;
    return {m_handle - 16, of, tiles};
  }
  std::optional<Step> make() {
    auto const drawn = m_random.below(10);
    if (drawn < 3) {
      auto const array = static_cast<Name>(m_random.below(m_program.arrays.size()));
      auto const [from, to] = draw_part(m_program.arrays[array].all().extents);
      return make_handle(array, from, to);
    }
    if (drawn < 7 && !m_model.handles().empty()) {
      auto const of = any();
      auto const& extents = m_model.handles().at(of).region.extents;
      if (drawn == 3) return partition(of);
      auto const [from, to] = draw_part(extents);
      return MakePart{m_handle++, of, from, to};
    }
    return make_own(drawn == 7 ? Place::Number : drawn == 8 ? Place::Varying : Place::Temporary);
  }

  std::optional<Step> wait() {
    auto const drawn = m_random.below(10);
    if (drawn < 1) return WaitAll{};
    if (drawn < 6) {
      auto const first = any();
      return WaitFor{{first, m_random.chance(0.2) ? any() : first}};
    }
    if (drawn < 8) return Get{any(Kind::Number)};
    return WaitTask{static_cast<Name>(m_random.below(m_task + 1))};
  }
  void change(Name waited) {
    auto const& handle = m_model.handles().at(waited);
    add_change(handle.array, handle.region);
  }
  Step change_anywhere() {
    auto const array = static_cast<Name>(m_random.below(m_program.arrays.size()));
    auto const all = m_program.arrays[array].all();
    auto const [from, to] = draw_part(all.extents);
    bool const dual = m_program.arrays[array].place == Place::Dual;
    return Change{array, dual ? all : all.part(from, to), m_random.next(), m_random.chance(0.5)};
  }
  void add_change(Name array, Region const& region) {
    add(Change{array, region, m_random.next(), m_random.chance(0.5)});
  }
  void recover() {
    for (Name array = 0; array < m_program.arrays.size(); ++array) {
      if (m_model.arrays().at(array).spoilt && m_random.chance(0.7)) add(Recover{array, m_random.next()});
    }
  }
  std::optional<Step> hint() {
    if (m_random.chance(0.4)) return WillNotUse{any()};
    return Prefetch{any(), any_node()};
  }
  unsigned any_node() { return static_cast<unsigned>(m_random.below(2 + devices_of(m_program.options))); }
  Step refuse() { return Refuse{static_cast<Refuse::Call>(m_random.below(6)), any()}; }

  static constexpr Name none = ~Name{0};
  Program& m_program;
  Random& m_random;
  bool m_failing;
  double m_patience;  // the share of waits that are kept: few leave many tasks live
  Model m_model;
  Name m_handle = 0;
  Name m_array = 0;
  Name m_task = 0;
};

}  // namespace

Program draw_program(std::uint64_t seed, bool failing) {
  Random random(seed);
  Program program;
  program.seed = seed;
  draw_machine(program, random);
  if (failing) program.waits = true;  // or else failures are logged
  draw_arrays(program, random);
  Drawing(program, random, failing).draw();
  return program;
}

}  // namespace granary::facade_test
