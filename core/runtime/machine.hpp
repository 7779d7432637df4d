// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/device_api.hpp>
#include <granary/core/backends/link_calibration.hpp>
#include <granary/core/model/machine.hpp>
#include <granary/core/runtime/config.hpp>

#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Replicas in the memory of a device start at multiples of this.
inline constexpr Bytes device_alignment = 256;

/// Transfers under way at once on a device's link: while one is performed the next one stands behind it.
inline constexpr unsigned device_link_width = 2;

/// What RuntimeOptions::devices names.
struct DeviceNames {
  enum class Kind : std::uint8_t { None, All, Some, Emulated } kind = Kind::None;
  std::vector<int> numbers = {};  ///< of Some, in the order given
  int emulated = 0;               ///< how many
  int parts = 1;                  ///< that the only device of Some is divided into
};

/// Reads "none", "all", "0,2", "0/4" or "host:4". Throws InvalidArgument for what is none of these, for a device that
/// is named twice, and for more devices than `most_devices`.
[[nodiscard]] DeviceNames parse_devices(std::string const& text);
inline constexpr int most_devices = 62;  // with the host's one a group of workers each: a machine has at most 64

/// The devices that a run uses.
struct Devices {
  std::shared_ptr<DeviceApi> api = {};  ///< null where there are none
  std::vector<int> numbers = {};        ///< the API's, in the order of the machine's nodes
  Bytes memory = 0;                     ///< limit for each
  unsigned lanes = 0;                   ///< of each
  Bytes workspace = 0;                  ///< of each lane, within the limit
  Bytes link_bytes_per_second = 0;      ///< that the links are held to; 0: none

  [[nodiscard]] std::size_t size() const { return numbers.size(); }
  [[nodiscard]] bool empty() const { return numbers.empty(); }
  /// What data may take on each: the limit without the lanes' workspaces, a multiple of device_alignment.
  [[nodiscard]] Bytes capacity() const;
};

/// The vendor's devices that the options name. Without a stated memory each gets 80 % of what is free on the one with
/// the least. Throws InvalidArgument, with the numbers, for a device that does not exist, for a limit above what is
/// free on one, and for one that leaves nothing for data.
[[nodiscard]] Devices choose_devices(RuntimeOptions const& options, std::shared_ptr<DeviceApi> api);
/// The devices of options that `configure` filled in, emulated or the vendor's. Throws as choose_devices, and where
/// granary was built for no vendor, or the vendor's runtime finds no device.
[[nodiscard]] Devices find_devices(RuntimeOptions const& options);

/// What data may take in each device's memory under options that `configure` filled in; 0 where there are no devices.
[[nodiscard]] Bytes device_capacity(RuntimeOptions const& options);
/// The least of the memories of such options that data of tasks pass through or lie in: what the sizes of tasks are
/// chosen for.
[[nodiscard]] Bytes task_memory(RuntimeOptions const& options);

/// A way between the host and a device, or between two devices, by the API's numbers; host_end is the host.
struct DeviceLink {
  int from;
  int to;
};
/// In the machine's order, behind the disk's two: per device from the host and to the host, then those between devices
/// that can copy directly. Connects these.
[[nodiscard]] std::vector<DeviceLink> device_links(Devices const& devices);

class MachineCache;

/// Node 0 is host memory, 1 the disk, then the devices; links 0 and 1 are to and from the disk, then those of
/// `device_links`; workers are the cores, then each device's lanes.
[[nodiscard]] Machine build_machine(RuntimeOptions const& options, Devices const& devices,
                                    std::vector<DeviceLink> const& links, MachineCache const& cache);

}  // namespace granary

#pragma GCC visibility pop
