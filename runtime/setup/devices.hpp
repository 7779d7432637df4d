// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/machine.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <memory>
#include <string>
#include <vector>

namespace granary {

/// Alignment of replicas in device memory.
inline constexpr Bytes device_alignment = 256;

/// Concurrent transfers on a device's link: the next one is queued while one is performed.
inline constexpr unsigned device_link_width = 2;

/// The parsed RuntimeOptions::devices.
struct GRANARY_EXPORT DeviceNames {
  enum class Kind : std::uint8_t { None, All, Some, Emulated } kind = Kind::None;
  std::vector<int> numbers = {};  ///< of Some, in the order given
  int emulated = 0;               ///< how many
  int parts = 1;                  ///< the only device of Some is divided into this many
};

/// Parses "none", "all", "0,2", "0/4" or "host:4". Throws InvalidArgument for other text, for a device that is named
/// twice, and for more devices than `most_devices`.
[[nodiscard]] GRANARY_EXPORT DeviceNames parse_devices(std::string const& text);
inline constexpr int most_devices = 62;  // with the host, one group of workers each: a machine has at most 64

/// The devices that a run uses.
struct GRANARY_EXPORT Devices {
  std::shared_ptr<detail::DeviceApi> api = {};  ///< null if there are none
  std::vector<int> numbers = {};                ///< the API's, in the order of the machine's nodes
  Bytes memory = 0;                             ///< limit for each
  unsigned lanes = 0;                           ///< of each
  Bytes workspace = 0;                          ///< of each lane, within the limit
  Bytes link_bytes_per_second = 0;              ///< limit for the links; 0: none

  [[nodiscard]] std::size_t size() const { return numbers.size(); }
  [[nodiscard]] bool empty() const { return numbers.empty(); }
  /// The bytes for data on each: the limit without the lanes' workspaces, a multiple of device_alignment.
  [[nodiscard]] Bytes capacity() const;
  /// The API's number of the device at this node of the machine; host_end at a node of no device.
  [[nodiscard]] int end_at(NodeId node) const;
};

/// The vendor's devices that the options name. By default each may use 80 % of the free memory of the device with the
/// least. Throws InvalidArgument, with the numbers, for a device that does not exist, for a limit above the free memory
/// of a device, and for a limit that leaves no room for data.
[[nodiscard]] GRANARY_EXPORT Devices choose_devices(RuntimeOptions const& options,
                                                    std::shared_ptr<detail::DeviceApi> api);
/// The devices of options that `configure` filled in, emulated or the vendor's. Throws as choose_devices; also if
/// granary was built for no vendor, or the vendor's runtime finds no device.
[[nodiscard]] GRANARY_EXPORT Devices find_devices(RuntimeOptions const& options);

/// The bytes for data in each device's memory with options that `configure` filled in; 0 if there are no devices.
[[nodiscard]] GRANARY_EXPORT Bytes device_capacity(RuntimeOptions const& options);

/// A connection between the host and a device, or between two devices, by the API's numbers; host_end is the host.
struct GRANARY_EXPORT DeviceLink {
  int from;
  int to;
};
/// Per device from and to the host, then those between devices that can copy directly. Enables these direct copies.
[[nodiscard]] GRANARY_EXPORT std::vector<DeviceLink> device_links(Devices const& devices);

}  // namespace granary
