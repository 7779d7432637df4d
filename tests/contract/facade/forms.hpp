// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses of tasks: types of Views and uses are fixed when the test is compiled, so a program chooses among forms
// that were drawn then.
#pragma once

#include "contract/facade/arithmetic.hpp"

#include <granary/detail/core/base/random.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace granary::facade_test {

/// The types of Views of data.
enum class Kind : std::uint8_t {
  Vector,      ///< rank 1, contiguous; also a DualView
  Left,        ///< rank 2, LayoutLeft; as all of rank 2, contiguous or with gaps
  Right,       ///< rank 2, LayoutRight
  Line,        ///< rank 1, LayoutStride
  Block,       ///< rank 2, LayoutStride
  Constant,    ///< rank 2, LayoutRight, of const elements
  OnDevice,    ///< an array on a device, rank 2
  DevicePart,  ///< a part of one
  Temporary,   ///< rank 2
  Number,      ///< a scalar
  Varying      ///< of varying size
};
inline constexpr std::size_t kind_count = 11;
inline constexpr std::size_t kinds_with_home = 8;  ///< the first ones

struct Slot {
  Use use = Use::Read;
  bool in_order = false;  ///< of a reduction
  Kind kind = Kind::Vector;
};

inline constexpr std::size_t most_slots = 4;
struct Form {
  std::array<Slot, most_slots> slots{};
  std::size_t count = 0;
  bool bounds_results = false;  ///< of varying size: they have at most most_left() elements
};

/// How many elements a task that bounds its results leaves at most in a varying datum.
constexpr std::size_t most_left(Use use, std::size_t present) { return use == Use::Write ? 9 : 2 * present + 4; }

inline constexpr std::size_t task_forms = 128;
inline constexpr std::size_t outside_forms = 24;

constexpr Use drawn_use(detail::Random& random) {
  auto const drawn = random.below(100);
  if (drawn < 32) return Use::Read;
  if (drawn < 48) return Use::Write;
  if (drawn < 66) return Use::ReadWrite;
  if (drawn < 76) return Use::Commute;
  if (drawn < 83) return Use::Scratch;
  return static_cast<Use>(static_cast<std::uint64_t>(Use::Sum) + random.below(5));
}

/// The accesses of a task.
constexpr Form task_form(std::size_t number) {
  detail::Random random(number);
  Form form{.slots = {}, .count = 1 + random.below(most_slots), .bounds_results = number % 3 == 0};
  for (auto& slot : form.slots) {
    slot = {drawn_use(random), random.chance(0.4), static_cast<Kind>(random.below(kind_count))};
    if (slot.kind == Kind::Constant && slot.use != Use::Read) slot.kind = Kind::Block;
    if (slot.kind == Kind::Varying && combines(slot.use)) slot.use = Use::ReadWrite;
  }
  return form;
}

/// The accesses of work outside: one or two data with a home.
constexpr Form outside_form(std::size_t number) {
  detail::Random random(number);
  Form form{.slots = {}, .count = 1 + random.below(2)};
  for (auto& slot : form.slots) {
    slot = {static_cast<Use>(random.below(3)), false, static_cast<Kind>(random.below(kinds_with_home))};
    if (slot.kind == Kind::Constant) slot.use = Use::Read;
  }
  return form;
}

}  // namespace granary::facade_test
