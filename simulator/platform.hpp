// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/machine.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

enum class Precision : std::uint8_t { Single, Double };
inline constexpr std::size_t precisions = 2;

/// The times of one codelet's kernels on one model of worker.
struct KernelTimes {
  struct Point {
    double flops = 0;
    double seconds = 0;
  };
  std::vector<Point> points;    ///< measured, by increasing flops; empty: constant speed
  double flops_per_second = 0;  ///< used without points

  /// Seconds per operation for a kernel of `flops` operations: between points linear in log(flops), outside as at the
  /// nearest point. O(log points).
  [[nodiscard]] double seconds_per_flop(double flops) const;
  /// Seconds for a kernel of `flops` operations; 10 µs when it has none.
  [[nodiscard]] double seconds(double flops) const;
};

/// A machine with the times of its kernels, as a file describes it: docs/platforms.md.
class Platform {
 public:
  /// Throws IoError when the file cannot be read, InvalidArgument naming file, field and value when something in it is
  /// missing, unknown or out of range.
  [[nodiscard]] static Platform read(std::filesystem::path const& path);
  /// The same for text; `origin` names it in messages.
  [[nodiscard]] static Platform parse(std::string_view text, std::string const& origin);
  /// A path (it has a slash or ends in .json) or the name of a shipped platform. Throws InvalidArgument listing the
  /// known names for another one.
  [[nodiscard]] static Platform find(std::string const& name_or_path);
  /// The names of the shipped platforms, in alphabetical order.
  [[nodiscard]] static std::vector<std::string> known_names();
  /// Throws as write_text_file, and IoError when the file exists and `overwrite` is false.
  void write(std::filesystem::path const& path, bool overwrite = false) const;
  [[nodiscard]] std::string to_json() const;

  /// Keeps the first workers of each kind, as many as stated, and the nodes that they, the data's home and the routes
  /// between these need. Throws InvalidArgument when the platform has fewer, or no worker would be left.
  void select(std::optional<std::uint32_t> gpus, std::optional<std::uint32_t> cpus);
  /// Gives each node under pressure this capacity: those of device workers or, without any, those of CPU workers whose
  /// data live on a disk. Throws InvalidArgument when there is none or `capacity` is 0.
  void limit(Bytes capacity);
  /// The nodes that `limit` sets.
  [[nodiscard]] std::vector<NodeId> limited_nodes() const;
  /// Where data start and end: the first disk or else the first host node.
  [[nodiscard]] NodeId home_node() const;
  /// Whether workers sit there, so that data are used in place: DataDescription::in_place.
  [[nodiscard]] bool home_in_place() const;
  [[nodiscard]] std::uint32_t workers(WorkerKind kind) const;

  /// Whether the platform states times of this codelet, for some model.
  [[nodiscard]] bool names(std::string_view codelet, Precision precision) const;
  /// The codelet's times on workers of the model: as stated, or at the model's default speed for codelets that the
  /// platform does not name; empty when there are none.
  [[nodiscard]] std::optional<KernelTimes> times(std::string_view codelet, Precision precision,
                                                 std::string_view model) const;
  /// The time of a kernel of `flops` operations, without jitter; 10 µs when it has none. Throws InvalidArgument when
  /// there are no times.
  [[nodiscard]] Duration kernel_time(std::string_view codelet, double flops, Precision precision,
                                     std::string_view model) const;
  /// The model of a worker: its own, or its kind's: "cpu", "device".
  [[nodiscard]] static std::string_view model_of(Worker const& worker);

  using ByModel = std::map<std::string, KernelTimes, std::less<>>;
  using ByCodelet = std::map<std::string, ByModel, std::less<>>;

  std::string name;
  std::string source;  ///< where the figures come from
  Machine machine;
  std::array<ByCodelet, precisions> kernels;
  std::map<std::string, std::array<double, precisions>, std::less<>> speeds;  ///< flops per second by model; 0: none
  double jitter = 0;               ///< in [0, 1): kernels take a factor in [1 - jitter, 1 + jitter) of their times
  std::uint32_t depth = 0;         ///< tasks ahead for which data are fetched (PlannerOptions::depth); 0: not stated
  std::uint32_t device_issue = 0;  ///< tasks that a device worker holds (PlannerOptions::device_issue); 0: not stated
};

}  // namespace granary

#pragma GCC visibility pop
