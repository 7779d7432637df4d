// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/link_calibration.hpp>
#include <granary/core/engine/performance_models.hpp>
#include <granary/core/runtime/config.hpp>
#include <granary/core/runtime/machine.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// Transfers under way at once in each direction of a disk's link: enough to keep the I/O queue full while a completion
/// is handled.
inline constexpr unsigned disk_width = 4;

/// The two links of a disk.
struct DiskSpeed {
  LinkSpeed read;
  LinkSpeed write;
};

/// The file of a machine's models below `directory`: `<directory>/<machine id>/models.json`.
[[nodiscard]] std::filesystem::path models_file(std::string const& directory, std::string const& machine_id);

/// Where the file system that holds `directory` is mounted.
[[nodiscard]] std::filesystem::path mount_point(std::filesystem::path const& directory);

/// What is known of this machine from earlier runs. Nothing here throws for what is in the cache's directory: a file
/// that cannot be used is ignored, and one that cannot be written is left, with a warning that names it.
class MachineCache {
 public:
  /// Reads the machine's file, and measures links that it lacks where that is wanted and the file can be written. With
  /// emulated devices the machine counts as another one, "<machine id>-emulated": theirs are not a real device's times.
  explicit MachineCache(RuntimeOptions const& options, Devices const& devices = {},
                        std::vector<DeviceLink> const& links = {});

  [[nodiscard]] std::unique_ptr<PerformanceModels> make_models() const;
  /// Of the disk that holds the scratch directory; a usual disk where it was not measured.
  [[nodiscard]] DiskSpeed disk_speed() const;
  /// Of a link of devices: what it is held to, or what was measured; a usual one where it was not.
  [[nodiscard]] LinkSpeed device_speed(Devices const& devices, DeviceLink const& link) const;
  /// Copies in host memory; nothing where they were not measured.
  [[nodiscard]] std::optional<LinkSpeed> memory_speed() const;
  /// Whether the disk's links were measured, now or before, and one of devices.
  [[nodiscard]] bool knows_disk() const;
  [[nodiscard]] bool knows(Devices const& devices, DeviceLink const& link) const;
  /// Where all this is kept; empty: nowhere.
  [[nodiscard]] std::filesystem::path const& file() const { return m_file; }
  /// Adds to the machine's file what the models learnt.
  void keep(PerformanceModels const& models) const;

 private:
  void read();
  void measure_links(std::string const& scratch, Devices const& devices, std::vector<DeviceLink> const& links);
  [[nodiscard]] bool lacks(Devices const& devices, DeviceLink const& link) const;
  [[nodiscard]] LinkSpeed speed_of(std::string const& from, std::string const& to, LinkSpeed const& usual) const;

  std::filesystem::path m_file;  // empty: nothing is kept
  std::string m_disk;            // its name in the file
  MachineModels m_known;
};

}  // namespace granary

#pragma GCC visibility pop
