// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/workloads/workload.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace granary::workloads {

/// A task graph as plain data, and its JSON form: docs/simulate.md.
struct GRANARY_EXPORT TaskGraphDescription {
  struct CodeletEntry {
    std::string name;
    bool cpu = true;
    bool device = true;
  };
  struct DatumEntry {
    std::string name;
    Bytes bytes = 0;
    bool temporary = false;                ///< neither origin nor home
    detail::MatrixPosition position = {};  ///< of the tile in its matrix, for pictures and traces
  };
  struct AccessEntry {
    std::size_t datum = 0;
    detail::AccessMode mode = detail::AccessMode::Read;
  };
  struct TaskEntry {
    std::string name;  ///< may be empty
    std::size_t codelet = 0;
    double flops = 0;
    std::optional<std::int64_t> priority;
    std::vector<AccessEntry> accesses;
    std::vector<std::size_t> after;  ///< tasks that must end before, in addition to dependencies by accesses
  };
  std::vector<CodeletEntry> codelets;
  std::vector<DatumEntry> data;
  std::vector<TaskEntry> tasks;  ///< in submission order, except where `after` requires another

  /// The task's name, or its number, and its codelet, for messages.
  [[nodiscard]] std::string describe(std::size_t task) const;
};

/// A task graph of the user.
///
/// ```cpp
/// auto const graph = granary::workloads::TaskGraphFile::parse(R"({
///     "codelets": [{"name": "solve", "kinds": ["cpu", "device"]}],
///     "data": [{"name": "x", "bytes": 8000000}],
///     "tasks": [{"codelet": "solve", "flops": 2e9, "accesses": [{"data": "x", "mode": "read-write"}]}]
///   })", "example");
/// assert(graph.working_set() == 8'000'000 && graph.flops() == 2e9);
/// graph.write("graph.json");
/// assert(granary::workloads::TaskGraphFile::read("graph.json").to_json() == graph.to_json());
/// ```
class GRANARY_EXPORT TaskGraphFile final : public Workload {
 public:
  /// A datum without a position has the one in its name, such as `A(3,2)`, if there is one.
  /// Throws InvalidArgument if a task names an unknown datum or codelet, tasks form a dependency cycle (with the
  /// cycle), or a temporary datum is read that no task wrote; `origin` names the graph in messages.
  explicit TaskGraphFile(TaskGraphDescription description, std::string origin = "the task graph");
  /// Throws IoError if the file cannot be read, InvalidArgument with file, entry and value if it is malformed.
  [[nodiscard]] static TaskGraphFile read(std::filesystem::path const& path);
  [[nodiscard]] static TaskGraphFile parse(std::string_view text, std::string const& origin);
  /// The graph of another workload, without task parameters; a datum with a home also has its origin there.
  [[nodiscard]] static TaskGraphFile record(Workload const& workload);

  [[nodiscard]] std::string to_json() const;
  /// Throws as write_text_file.
  void write(std::filesystem::path const& path) const;

  /// Names the task in exceptions that the submitter throws for it.
  void submit(Submitter& submitter, DataHome home) const override;
  [[nodiscard]] std::string name() const override { return "graph"; }
  [[nodiscard]] Bytes working_set() const override;
  [[nodiscard]] double flops() const override;
  /// True if a task states a priority; the others then have priority 0.
  [[nodiscard]] bool has_priorities() const;
  [[nodiscard]] TaskGraphDescription const& description() const { return m_description; }
  /// Tasks in the order in which they are submitted.
  [[nodiscard]] std::vector<std::size_t> const& order() const { return m_order; }

 private:
  void check_entries() const;
  void check_first_values() const;

  std::string m_origin;
  TaskGraphDescription m_description;
  std::vector<std::size_t> m_order;
};

}  // namespace granary::workloads

namespace granary::detail {

/// The lexicographically first order of the tasks, by number, that respects accesses and `after`. Throws
/// InvalidArgument with a cycle.
[[nodiscard]] GRANARY_EXPORT std::vector<std::size_t> submission_order(workloads::TaskGraphDescription const& graph,
                                                                       std::string const& origin);
[[nodiscard]] GRANARY_EXPORT workloads::TaskGraphDescription parse_task_graph(std::string_view text,
                                                                              std::string const& origin);
[[nodiscard]] GRANARY_EXPORT std::string format_task_graph(workloads::TaskGraphDescription const& graph);
/// Row and column in a name such as `A(3,2)` or `A(3, 2, 1)`: the first two numbers in its last brackets; -1 without.
[[nodiscard]] GRANARY_EXPORT MatrixPosition position_in_name(std::string_view name);

}  // namespace granary::detail
