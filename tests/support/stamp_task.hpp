// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/inner_graph.hpp>
#include <granary/detail/core/model/parameters.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace granary::test {

using namespace detail;

using Bytewise = std::vector<std::byte>;

/// Bytes that show which task wrote them, and that they are complete.
inline Bytewise stamped(std::uint64_t stamp, Bytes bytes) {
  Random random(stamp);
  Bytewise value(bytes);
  for (auto& byte : value) byte = static_cast<std::byte>(random.next());
  return value;
}

/// A datum's bytes in memory: packed, or in lines `pitch` bytes apart. Bytes between lines are unused.
struct Layout {
  Bytes bytes = 0;
  Lines lines = {};
  Bytes pitch = 0;  ///< 0: packed

  /// Calls with the offset of each line in the packed datum, its offset in memory, and its length.
  template <class Function>
  void for_each_line(Function&& function) const {
    if (lines.count == 0) return function(Bytes{0}, Bytes{0}, bytes);
    for (std::uint64_t i = 0; i < lines.count; ++i) {
      function(i * lines.packed, i * (pitch != 0 ? pitch : lines.packed), lines.line);
    }
  }
  [[nodiscard]] bool holds(std::byte const* memory, Bytewise const& value) const {
    bool same = true;
    for_each_line([&](Bytes packed, Bytes there, Bytes length) {
      same = same && std::memcmp(memory + there, value.data() + packed, length) == 0;
    });
    return same;
  }
  void write(std::byte* memory, Bytewise const& value) const {
    for_each_line(
        [&](Bytes packed, Bytes there, Bytes length) { std::memcpy(memory + there, value.data() + packed, length); });
  }
};

struct ExpectedAccess {
  AccessMode mode;
  std::uint64_t stamp;  ///< read before; 0: nothing to be read
  Bytes bytes;
  Lines lines = {};
};

/// The parameters of a task that checks its inputs, and stamps its outputs.
struct StampTask {
  std::vector<ExpectedAccess> accesses;
  std::uint64_t stamp = 0;  ///< written
  bool fails = false;
  bool polls = false;  ///< takes a while, and looks whether it shall stop: then it leaves nonsense
  std::atomic<std::uint64_t>* wrong = nullptr;
  std::atomic<std::uint64_t>* ran = nullptr;
};

struct Injected : std::runtime_error {
  Injected() : std::runtime_error("injected") {}
};

inline void run_stamp_task(KernelCall const& call) {
  auto const& task = *static_cast<StampTask const*>(call.parameters);
  auto const layout = [&](std::size_t i) {
    return Layout{task.accesses[i].bytes, task.accesses[i].lines, call.pitch(i)};
  };
  std::ranges::fill(call.workspace, std::byte{0x5a});
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    auto const& access = task.accesses[i];
    if (reads(access.mode) && !layout(i).holds(call.data[i], stamped(access.stamp, access.bytes))) ++*task.wrong;
  }
  auto const write_all = [&](std::uint64_t stamp) {
    for (std::size_t i = 0; i < call.data.size(); ++i) {
      if (writes(task.accesses[i].mode)) layout(i).write(call.data[i], stamped(stamp, task.accesses[i].bytes));
    }
  };
  auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(task.polls ? task.stamp % 7 * 10 : 0);
  while (task.polls && std::chrono::steady_clock::now() < until) {
    if (!call.stop.requested()) continue;
    write_all(~task.stamp);
    if (task.stamp % 2 == 0) throw Injected();
    return;
  }
  if (task.fails) throw Injected();
  write_all(task.stamp);
  ++*task.ran;
}

namespace helpers {

//// The same as an inner graph: a check for each access that reads, a write for each that writes, and a last task.
struct InnerStamp {
  StampTask const* task;
  ExpectedAccess access;
};

inline void check_stamp(KernelCall const& call) {
  auto const& [task, access] = *static_cast<InnerStamp const*>(call.parameters);
  auto const expected = stamped(access.stamp, access.bytes);
  if (std::memcmp(call.data[0], expected.data(), expected.size()) != 0) ++*task->wrong;
}
inline void write_stamp(KernelCall const& call) {
  auto const& [task, access] = *static_cast<InnerStamp const*>(call.parameters);
  auto const value = stamped(task->stamp, access.bytes);
  std::memcpy(call.data[0], value.data(), value.size());
}
inline void end_stamp(KernelCall const& call) {
  auto const& task = *static_cast<InnerStamp const*>(call.parameters)->task;
  if (task.fails) throw Injected();
  ++*task.ran;
}

}  // namespace helpers

inline void expand_stamp_task(void const* parameters, InnerGraph& graph) {
  auto const& task = *static_cast<StampTask const*>(parameters);
  auto const add = [&](Kernel kernel) {
    return graph.add_codelet({.name = "inner", .kernels = {kernel, nullptr}, .launches_kokkos_kernels = false});
  };
  auto const check = add(helpers::check_stamp), write = add(helpers::write_stamp), end = add(helpers::end_stamp);
  std::vector<Access> all;
  auto const submit_where = [&](AccessMode mode, CodeletId codelet) {
    for (std::size_t i = 0; i < task.accesses.size(); ++i) {
      auto const& access = task.accesses[i];
      if ((access.mode | mode) != access.mode) continue;
      all.push_back({graph.part(i, 0), AccessMode::Read});
      graph.submit({codelet, std::array{Access{all.back().data, mode}}, 0, 0},
                   Parameters(helpers::InnerStamp{&task, access}));
    }
  };
  submit_where(AccessMode::Read, check);
  submit_where(AccessMode::Write, write);
  graph.submit({end, all, 0, 0}, Parameters(helpers::InnerStamp{&task, {}}));
}

}  // namespace granary::test
