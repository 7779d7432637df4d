// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/link_calibration.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace granary {

/// Concurrent transfers in each direction of a disk's link: enough to keep the I/O queue full while a completion is
/// handled.
inline constexpr unsigned disk_width = 4;

/// The two links of a disk.
struct GRANARY_EXPORT DiskSpeed {
  detail::LinkSpeed read;
  detail::LinkSpeed write;
};

/// The file of a machine's models below `directory`: `<directory>/<machine id>/models.json`.
[[nodiscard]] GRANARY_EXPORT std::filesystem::path models_file(std::string const& directory,
                                                               std::string const& machine_id);

/// Enters which machine the models are of.
GRANARY_EXPORT void identify(detail::MachineModels& models);

/// The mount point of the file system that holds `directory`.
[[nodiscard]] GRANARY_EXPORT std::filesystem::path mount_point(std::filesystem::path const& directory);

/// The data about this machine from earlier runs. No error in the cache's directory throws: a file that cannot be read
/// is ignored, and one that cannot be written is left unchanged, with a warning that names it.
class GRANARY_EXPORT MachineCache {
 public:
  /// Reads the machine's file, and measures missing links if the options ask for it and the file can be written. With
  /// emulated devices the machine has another file, "<machine id>-emulated": their times differ from real devices';
  /// likewise with workers of several cores, "<machine id>-2-cores-each".
  explicit MachineCache(RuntimeOptions const& options, Devices const& devices = {},
                        std::vector<DeviceLink> const& links = {});

  [[nodiscard]] std::unique_ptr<detail::PerformanceModels> make_models() const;
  /// The speed of the disk that holds the scratch directory; a default if it was not measured.
  [[nodiscard]] DiskSpeed disk_speed() const;
  /// The speed of a device's link: its limit, the measured speed, or a default.
  [[nodiscard]] detail::LinkSpeed device_speed(Devices const& devices, DeviceLink const& link) const;
  /// The speed of copies in host memory; empty if it was not measured.
  [[nodiscard]] std::optional<detail::LinkSpeed> memory_speed() const;
  /// True if the disk's links, or this link of devices, were measured, now or earlier.
  [[nodiscard]] bool knows_disk() const;
  [[nodiscard]] bool knows(Devices const& devices, DeviceLink const& link) const;
  /// The file of these data; empty: none.
  [[nodiscard]] std::filesystem::path const& file() const { return m_file; }
  /// Adds what the models learnt to the machine's file.
  void keep(detail::PerformanceModels const& models) const;

 private:
  void read();
  void measure_links(std::string const& scratch, Devices const& devices, std::vector<DeviceLink> const& links);
  [[nodiscard]] bool lacks(Devices const& devices, DeviceLink const& link) const;
  [[nodiscard]] detail::LinkSpeed speed_of(std::string const& from, std::string const& to,
                                           detail::LinkSpeed const& usual) const;

  std::filesystem::path m_file;  // empty: nothing is saved
  std::string m_disk;            // its name in the file
  detail::MachineModels m_known;
};

}  // namespace granary
