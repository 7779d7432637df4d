// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random program: options, arrays of the application, and what one thread does with them, as plain data.
#pragma once

#include "contract/facade/forms.hpp"

#include <granary/detail/runtime/setup/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace granary::facade_test {

using Name = std::uint32_t;  ///< a number, of an array, a handle or a task

/// Elements of an array, with the order in which a View has them.
struct Region {
  std::size_t first = 0;
  std::array<std::size_t, 2> extents{1, 1};
  std::array<std::size_t, 2> strides{0, 0};

  [[nodiscard]] std::size_t size() const { return extents[0] * extents[1]; }
  /// Calls `function(cell, n)` for the n-th element, at that cell of the array.
  template <class Function>
  void for_each(Function&& function) const {
    for (std::size_t i = 0; i < extents[0]; ++i) {
      for (std::size_t j = 0; j < extents[1]; ++j)
        function(first + i * strides[0] + j * strides[1], i * extents[1] + j);
    }
  }
  /// The rectangle of the elements from `from` to before `to`.
  [[nodiscard]] Region part(std::array<std::size_t, 2> from, std::array<std::size_t, 2> to) const {
    return {first + from[0] * strides[0] + from[1] * strides[1], {to[0] - from[0], to[1] - from[1]}, strides};
  }
};

enum class Place : std::uint8_t { HostLeft, HostRight, Device, Dual, Temporary, Number, Varying };

/// A matrix in LayoutLeft (HostLeft) or LayoutRight; a DualView has one row, and so have varying data, at most `cols`.
struct Array {
  Place place = Place::HostRight;
  std::size_t rows = 1;
  std::size_t cols = 1;
  unsigned device = 0;       ///< of Device and Dual
  std::size_t expected = 0;  ///< elements, of Varying

  [[nodiscard]] Region all() const {
    if (place == Place::HostLeft) return {0, {rows, cols}, {1, rows}};
    return {0, {rows, cols}, {cols, 1}};
  }
};

/// What a task computes with and how long it takes.
struct Work {
  Name task = 0;
  std::uint64_t salt = 0;
  unsigned pause = 0;  ///< microseconds
  bool fails = false;
};

// Steps. A step that is impossible, since what it needs was never made, for example, is left out of the run.
struct MakeHandle {  ///< `data(view)`, or dual_data
  Name handle;
  Name array;
  Kind kind;
  Region region;
};
struct MakePart {  ///< `part(of, …)`
  Name handle;
  Name of;
  std::array<std::size_t, 2> from;
  std::array<std::size_t, 2> to;
};
struct Partition {  ///< `partition(of, tiles…)`: handles from this number on
  Name handle;
  Name of;
  std::array<std::size_t, 2> tiles;
};
struct MakeOwn {  ///< a temporary, a scalar or a varying datum, and its handle
  Name handle;
  Name array;
  Array shape;
};
struct Drop {
  Name handle;
};
struct Submit {
  std::size_t form;
  std::array<Name, most_slots> handles;
  std::array<std::size_t, 2> scratch;  ///< extents
  Work work;
};
/// `submit_outside` with work that runs in the last of so many calls of `ended`, or that the application does before
/// `submit_after`.
struct Outside {
  std::size_t form;
  std::array<Name, most_slots> handles;
  unsigned calls;
  bool after;
  Work work;
};
/// A task that reads `outer` and submits one that changes the scalar `inner`, which does the same, to this depth.
struct Nest {
  Name outer;
  Name inner;
  Use use;
  unsigned depth;
  Work work;  ///< of the first; the others have the next numbers
};
struct WaitAll {};
struct WaitFor {
  std::array<Name, 2> handles;  ///< may be the same
};
struct WaitTask {
  Name task;
};
struct Get {
  Name handle;  ///< of a scalar
};
/// The application writes elements of an array, which it may do after a wait.
struct Change {
  Name array;
  Region region;
  std::uint64_t salt;
  bool on_device;  ///< of a DualView: its device side, if that is valid
};
struct Prefetch {
  Name handle;
  unsigned node;
};
struct WillNotUse {
  Name handle;
};
/// The application gives up the handles on an array that a failure has left without a value, and fills it.
struct Recover {
  Name array;
  std::uint64_t salt;
};
/// A call that is always refused.
struct Refuse {
  enum class Call : std::uint8_t {
    OutsideOnTemporary,
    OutsideOnDual,
    PartBeyond,
    PartOfTemporary,
    PrefetchNowhere,
    Larger
  };
  Call call;
  Name handle;
};

using Step = std::variant<MakeHandle, MakePart, Partition, MakeOwn, Drop, Submit, Outside, Nest, WaitAll, WaitFor,
                          WaitTask, Get, Change, Prefetch, WillNotUse, Recover, Refuse>;

inline constexpr Bytes page = 4096;  ///< data in host memory take multiples of it

struct Program {
  std::uint64_t seed = 0;
  RuntimeOptions options;
  bool bounded = false;  ///< some memory is small: tasks may be refused that do not fit
  bool waits = true;     ///< for everything before the Runtime ends
  Name tasks = 0;        ///< all numbers of tasks are less
  std::vector<Array> arrays;
  std::vector<Step> steps;
};

/// The kind of parts of data of that kind.
[[nodiscard]] Kind kind_of_parts(Kind kind);
[[nodiscard]] bool rank_one(Kind kind);
/// The parts of a region, in the order of Runtime::partition.
[[nodiscard]] std::vector<Region> cut(Region const& region, std::array<std::size_t, 2> tiles);

[[nodiscard]] std::string to_text(Step const& step);
/// The whole program, one line a step.
[[nodiscard]] std::string to_text(Program const& program);

}  // namespace granary::facade_test
