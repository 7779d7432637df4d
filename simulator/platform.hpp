// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/core/model/precision.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace granary {

/// The search for names is linear.
inline constexpr std::size_t most_platform_workers = 16384;

namespace detail {

/// The kernel times of one codelet on one model of worker.
struct GRANARY_EXPORT KernelTimes {
  struct Point {
    double flops = 0;
    double seconds = 0;
  };
  std::vector<Point> points;    ///< measured, by increasing flops; empty: constant speed
  double flops_per_second = 0;  ///< used without points

  /// Seconds per operation for a kernel of `flops` operations: linear in log(flops) between points, constant beyond the
  /// first and last point. O(log points).
  [[nodiscard]] double seconds_per_flop(double flops) const;
  /// Seconds for a kernel of `flops` operations; 10 µs when it has none.
  [[nodiscard]] double seconds(double flops) const;
  /// The part, up to 1, of the worker's highest speed that a kernel of `flops` operations reaches; 0 when it has none.
  /// O(points).
  [[nodiscard]] double share(double flops) const;
};

}  // namespace detail

/// A machine and the times of its kernels, read from a file: docs/platforms.md.
///
/// ```cpp
/// using namespace granary::literals;
/// auto platform = granary::Platform::find("v100x4");  // or a path; the others: Platform::known_names()
/// platform.select(/*gpus=*/2, /*cpus=*/0);
/// platform.share_devices(4);  // each GPU is four workers, as with four streams
/// platform.limit(1_GiB);  // of each GPU's memory
/// assert(platform.workers(granary::WorkerKind::Device) == 8);
/// auto const time = platform.kernel_time("gemm", 7e9, granary::Precision::Double, "gpu");
/// assert(time >= std::chrono::milliseconds(1));  // at 7 TFlop/s or less
/// platform.write("v100x2-1GiB.json", /*overwrite=*/true);
/// ```
class GRANARY_EXPORT Platform {
 public:
  /// Throws IoError when the file cannot be read. Throws InvalidArgument, with file, field and value, when a field is
  /// missing, unknown or out of range.
  [[nodiscard]] static Platform read(std::filesystem::path const& path);
  /// The same from text; `origin` is its name in messages.
  [[nodiscard]] static Platform parse(std::string_view text, std::string const& origin);
  /// Reads a path (with a slash or the ending .json) or the shipped platform of that name. Throws InvalidArgument, with
  /// the known names, for other names.
  [[nodiscard]] static Platform find(std::string const& name_or_path);
  /// The names of the shipped platforms, in alphabetical order.
  [[nodiscard]] static std::vector<std::string> known_names();
  /// Throws as write_text_file, and IoError when the file exists and `overwrite` is false.
  void write(std::filesystem::path const& path, bool overwrite = false) const;
  [[nodiscard]] std::string to_json() const;

  /// Keeps the first workers of each kind, as many as given, and the nodes needed by them, by the data's home and by
  /// the routes between these. Throws InvalidArgument when the platform has fewer workers, or none would be left.
  void select(std::optional<std::uint32_t> gpus, std::optional<std::uint32_t> cpus);
  /// Replaces each device worker by `workers` that share its speed, such as the streams of a GPU: docs/platforms.md,
  /// "Several workers per device". Throws InvalidArgument when that is 0, or too many, or devices are shared already.
  void share_devices(std::uint32_t workers);
  /// Sets the capacity of the nodes that tasks fill: the nodes of device workers or, without any, of CPU workers whose
  /// data live on a disk. Throws InvalidArgument when there is none or `capacity` is 0.
  void limit(Bytes capacity);
  /// Makes the two directions between any two nodes share one bandwidth, the faster one's: adds a bus for each pair of
  /// opposite links, and makes one of two buses when the links of one are the opposites of the other's. Both directions
  /// of PCIe and NVLink are independent; the directions of a memory, a disk or a simulation with one bus are not.
  void share_directions();
  /// The nodes that `limit` sets.
  [[nodiscard]] std::vector<NodeId> limited_nodes() const;
  /// The origin and home of data: the first disk, or the first host node if there is no disk.
  [[nodiscard]] NodeId home_node() const;
  /// True if the home node has workers, which use the data in place: DataDescription::in_place.
  [[nodiscard]] bool home_in_place() const;
  [[nodiscard]] std::uint32_t workers(detail::WorkerKind kind) const;

  /// True if the platform has times of this codelet, for any model; see `times` for complex scalars.
  [[nodiscard]] bool names(std::string_view codelet, detail::Precision precision) const;
  /// The codelet's times on workers of the model: as given in the file, or at the model's default speed if the file
  /// does not name the codelet; empty if there is neither. On complex scalars, if the file has neither, the times of
  /// the operation on real scalars, by the number of real operations.
  [[nodiscard]] std::optional<detail::KernelTimes> times(std::string_view codelet, detail::Precision precision,
                                                         std::string_view model) const;
  /// The time of a kernel of `flops` operations, without jitter; 10 µs when it has none. Throws InvalidArgument when
  /// there are no times.
  [[nodiscard]] Duration kernel_time(std::string_view codelet, double flops, detail::Precision precision,
                                     std::string_view model) const;
  /// The model of a worker: its own, or "cpu" or "device" by its kind.
  [[nodiscard]] static std::string_view model_of(detail::Worker const& worker);

  using ByModel = std::map<std::string, detail::KernelTimes, std::less<>>;
  using ByCodelet = std::map<std::string, ByModel, std::less<>>;

  std::string name;
  std::string source;  ///< source of the figures
  detail::Machine machine;
  std::array<ByCodelet, precisions> kernels;
  std::map<std::string, std::array<double, precisions>, std::less<>> speeds;  ///< flops per second by model; 0: none
  double jitter = 0;                   ///< in [0, 1): the times of kernels vary by a factor in [1 - jitter, 1 + jitter)
  std::optional<std::uint32_t> depth;  ///< tasks for which data are fetched ahead (PlannerOptions::depth)
  bool shared_devices = false;         ///< the device workers of a node share its speed
  std::optional<detail::Network> network;  ///< between nodes that are such platforms; absent: none known
  std::uint32_t device_issue = 0;  ///< tasks that a device worker holds (PlannerOptions::device_issue); 0: default
};

}  // namespace granary
