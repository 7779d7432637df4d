// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>
#include <variant>
#include <vector>

namespace granary::test {

using namespace detail;

// The operations of an application, in order. Data are named by their number in order of registration, not by id,
// because ids are reused.
struct RegisterData {
  DataDescription description;
  std::vector<FixedPlace> places{};
  std::vector<std::uint32_t> cells{};  ///< of its family, as in CoherenceOracle::add_data; empty: it shares nothing
  bool keeps_old = true;               ///< see KeepNoOldValue
};
struct GiveUpData {
  std::uint32_t datum;
};
struct SubmitGraphTask {
  std::uint32_t codelet;
  std::vector<std::pair<std::uint32_t, AccessMode>> accesses;
  std::int64_t priority;
  double flops;
};
/// Waits for this many events before the application continues.
struct LetHappen {
  std::uint32_t steps;
};
struct WaitForAll {};
using Operation = std::variant<RegisterData, GiveUpData, SubmitGraphTask, LetHappen, WaitForAll>;

struct RandomGraph {
  std::vector<Codelet> codelets;
  std::vector<Operation> operations;
};

struct GraphOptions {
  std::uint32_t max_tasks = 60;
  std::uint32_t max_data = 16;
  Bytes most_bytes = Bytes{1} << 13;  ///< of a datum, a power of two
  bool release = true;                ///< release some data before the end
  bool homes_on_devices = true;       ///< origins and homes may lie on devices
  bool families = false;              ///< `share_bytes` follows
  bool varying = false;               ///< `make_varying` follows
};

/// A random application for the machine: data of different sizes with and without origin, home and use in place; tasks
/// with one to five accesses whose data have values when they are read; codelets for one kind of worker or several;
/// data that are released.
[[nodiscard]] RandomGraph random_graph(Machine const& machine, GraphOptions const& options, Random& random);

/// Half of the tasks that write only data with homes become external ones, which do not read what they write.
void make_external(RandomGraph& graph, Random& random);
/// On half of the data that are written, tasks that change them commute, and half of those that read them, too.
void make_commuting(RandomGraph& graph, Random& random);
/// Most data that workers do not use in place vary in size; half of the codelets tell how much they may write.
void make_varying(RandomGraph& graph, Random& random);
/// Half of the data get further places on other nodes, some with their value, read-only ones if no task writes them.
void add_places(RandomGraph& graph, Machine const& machine, Random& random);
/// Most data without a home keep no old value when a task that writes them is cancelled.
void keep_no_old_values(RandomGraph& graph, Random& random);

/// Most data become families of two to eight, with their homes on one node: rectangles of a matrix of cells that are
/// nested, cross each other or are apart. No task keeps accesses to two data that share cells if it writes one.
void share_bytes(RandomGraph& graph, Machine const& machine, Random& random);

/// Bounds memories of the machine such that every task of the graph still fits on some node whose workers can run it,
/// often at exactly the minimum capacity, and such that values can be evicted to some node.
void bound_memories(Machine& machine, RandomGraph const& graph, Random& random);

}  // namespace granary::test
