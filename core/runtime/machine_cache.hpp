// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/link_calibration.hpp>
#include <granary/core/engine/performance_models.hpp>
#include <granary/core/runtime/config.hpp>

#include <filesystem>
#include <memory>
#include <string>

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
  /// Reads the machine's file, and measures links that it lacks where that is wanted and the file can be written.
  explicit MachineCache(RuntimeOptions const& options);

  [[nodiscard]] std::unique_ptr<PerformanceModels> make_models() const;
  /// Of the disk that holds the scratch directory; a usual disk where it was not measured.
  [[nodiscard]] DiskSpeed disk_speed() const;
  /// Adds to the machine's file what the models learnt.
  void keep(PerformanceModels const& models) const;

 private:
  void read();
  void measure_links(std::string const& scratch);
  [[nodiscard]] LinkSpeed speed_of(std::string const& from, std::string const& to) const;

  std::filesystem::path m_file;  // empty: nothing is kept
  std::string m_disk;            // its name in the file
  MachineModels m_known;
};

}  // namespace granary
