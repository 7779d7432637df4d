// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/devices.hpp>

#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/divided_device.hpp>
#include <granary/detail/core/backends/emulated_api.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/storage.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

namespace granary {

using namespace detail;

namespace {

// Workspace per lane of the vendors' factorizations for tiles of 4096 rows, if it leaves most of the limit to data.
constexpr Bytes largest_workspace = 32_MiB;
constexpr Bytes least_workspace = 1_MiB;
constexpr Bytes workspaces_share = 8;
constexpr Bytes least_beside_emulated = 256_MiB;
constexpr std::string_view emulated_prefix = "host:";
constexpr std::size_t first_device_node = 2;  // after build_machine's nodes for the host and the disk

[[noreturn]] void refuse_devices(std::string const& text) {
  throw InvalidArgument("malformed devices '" + text +
                        "': write none, all, numbers such as 0,2, 0/4 for the four quarters of one, or host:4 for four "
                        "emulated ones");
}

int parse_number(std::string_view number, std::string const& text) {
  int value = -1;
  auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || value < 0) refuse_devices(text);
  return value;
}

void check_count(int count, std::string const& what) {
  if (count <= most_devices) return;
  throw InvalidArgument(std::to_string(count) + " " + what + " are more than " + std::to_string(most_devices));
}

std::string in_bytes(Bytes bytes) { return std::to_string(bytes) + " bytes (" + format_bytes(bytes) + ")"; }

void check_capacity(Devices const& devices) {
  if (devices.empty() || devices.capacity() > 0) return;
  throw InvalidArgument("a device memory limit of " + in_bytes(devices.memory) + " leaves no room for data: " +
                        std::to_string(devices.lanes) + " lanes take " + in_bytes(devices.lanes * devices.workspace) +
                        " and data take multiples of " + std::to_string(device_alignment) + " bytes");
}

// Emulated devices run host kernels, which allocate their workspace on the host.
Bytes vendor_workspace(Bytes memory, unsigned lanes) {
  return std::clamp(memory / workspaces_share / lanes / device_alignment * device_alignment, least_workspace,
                    largest_workspace);
}

// Kernel times are kept by kind of worker, so all devices must be of one type.
void check_alike(DeviceApi const& api, std::vector<int> const& numbers) {
  if (numbers.size() < 2) return;
  auto const first = api.properties(numbers.front());
  for (int const number : numbers) {
    auto const other = api.properties(number);
    if (other.architecture == first.architecture) continue;
    throw InvalidArgument("device " + std::to_string(numbers.front()) + " is " + first.name + " (" +
                          first.architecture + ") and device " + std::to_string(number) + " is " + other.name + " (" +
                          other.architecture +
                          "): a run uses devices of one architecture, so name those (--devices, GRANARY_DEVICES)");
  }
}

std::string count(int devices) { return devices == 1 ? "there is 1" : "there are " + std::to_string(devices); }

}  // namespace

DeviceNames parse_devices(std::string const& text) {
  using Kind = DeviceNames::Kind;
  if (text == "none") return {};
  if (text == "all") return {.kind = Kind::All};
  DeviceNames names;
  if (text.starts_with(emulated_prefix)) {
    names.kind = Kind::Emulated;
    names.emulated = parse_number(std::string_view(text).substr(emulated_prefix.size()), text);
    if (names.emulated == 0) refuse_devices(text);
    check_count(names.emulated, "emulated devices");
    return names;
  }
  names.kind = Kind::Some;
  std::string_view rest = text;
  if (auto const slash = rest.find('/'); slash != std::string_view::npos) {
    names.parts = parse_number(rest.substr(slash + 1), text);
    rest = rest.substr(0, slash);
    if (names.parts == 0 || rest.find(',') != std::string_view::npos) refuse_devices(text);
    check_count(names.parts, "parts of a device");
  }
  for (;;) {
    auto const comma = rest.find(',');
    int const number = parse_number(rest.substr(0, comma), text);
    if (std::ranges::find(names.numbers, number) != names.numbers.end()) {
      throw InvalidArgument("device " + std::to_string(number) + " is named twice in '" + text + "'");
    }
    names.numbers.push_back(number);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  check_count(static_cast<int>(names.numbers.size()), "devices");
  return names;
}

Bytes Devices::capacity() const {
  Bytes const taken = lanes * workspace;
  return memory > taken ? (memory - taken) / device_alignment * device_alignment : 0;
}

int Devices::end_at(NodeId node) const {
  return node.index() < first_device_node ? host_end : numbers.at(node.index() - first_device_node);
}

Devices choose_devices(RuntimeOptions const& options, std::shared_ptr<DeviceApi> api) {
  auto const names = parse_devices(options.devices);
  int const present = api->devices();
  Devices devices{.numbers = names.numbers, .memory = options.device_memory, .lanes = options.device_lanes};
  if (names.kind == DeviceNames::Kind::All) {
    devices.numbers.resize(static_cast<std::size_t>(std::min(present, most_devices)));
    std::iota(devices.numbers.begin(), devices.numbers.end(), 0);
  }
  for (int const number : devices.numbers) {
    if (number >= present) {
      throw InvalidArgument("device " + std::to_string(number) + " does not exist: " + count(present));
    }
  }
  check_alike(*api, devices.numbers);
  if (names.parts > 1) {
    api = divide_device(std::move(api), names.numbers.front(), names.parts);
    devices.numbers.resize(static_cast<std::size_t>(names.parts));
    std::iota(devices.numbers.begin(), devices.numbers.end(), 0);
  }
  Bytes least = unbounded;
  for (int const number : devices.numbers) {
    Bytes const free = api->properties(number).free;
    least = std::min(least, free);
    if (options.device_memory > free) {
      throw InvalidArgument("a device memory limit of " + in_bytes(options.device_memory) + " is more than the " +
                            in_bytes(free) + " that are free on device " + std::to_string(number));
    }
  }
  if (devices.memory == 0 && !devices.empty()) devices.memory = least / 5 * 4;
  if (!api->emulated()) devices.workspace = vendor_workspace(devices.memory, devices.lanes);
  devices.api = std::move(api);
  check_capacity(devices);
  return devices;
}

Devices find_devices(RuntimeOptions const& options) {
  auto const names = parse_devices(options.devices);
  if (names.kind == DeviceNames::Kind::None) return {};
  if (names.kind == DeviceNames::Kind::Emulated) {
    Devices devices{.memory = options.device_memory,
                    .lanes = options.device_lanes,
                    .link_bytes_per_second = options.link_bytes_per_second};
    devices.numbers.resize(static_cast<std::size_t>(names.emulated));
    std::iota(devices.numbers.begin(), devices.numbers.end(), 0);
    check_capacity(devices);
    Bytes const host = discover_host().memory;
    if (devices.memory > host / devices.size()) {
      throw InvalidArgument(std::to_string(devices.size()) + " emulated devices of " + in_bytes(devices.memory) +
                            " each take more than the " + in_bytes(host) + " that this process may use");
    }
    // As on a device, the limit for data is not one for arrays of the application; pages that nobody touches take no
    // memory.
    devices.api = make_emulated_api({.devices = names.emulated,
                                     .memory = options.device_memory,
                                     .beside = std::max(options.device_memory, least_beside_emulated),
                                     .link_bytes_per_second = options.link_bytes_per_second});
    return devices;
  }
  std::string const backend = vendor_backend();
  if (backend.empty()) {
    throw InvalidArgument("granary was built without CUDA and HIP, so devices '" + options.devices +
                          "' do not exist; host:4 makes four emulated devices");
  }
  std::string problem;
  auto api = make_vendor_api(&problem);
  if (!api || api->devices() == 0) {
    throw InvalidArgument(backend + " finds no device" + (problem.empty() ? "" : ": " + problem));
  }
  return choose_devices(options, std::move(api));
}

Bytes device_capacity(RuntimeOptions const& options) {
  auto const names = parse_devices(options.devices);
  if (names.kind == DeviceNames::Kind::None) return 0;
  Devices devices{.memory = options.device_memory, .lanes = options.device_lanes};
  if (names.kind != DeviceNames::Kind::Emulated) devices.workspace = vendor_workspace(devices.memory, devices.lanes);
  return devices.capacity();
}

std::vector<DeviceLink> device_links(Devices const& devices) {
  std::vector<DeviceLink> links;
  for (int const device : devices.numbers) {
    links.push_back({host_end, device});
    links.push_back({device, host_end});
  }
  for (int const from : devices.numbers) {
    for (int const to : devices.numbers) {
      if (from != to && devices.api->connect(from, to)) links.push_back({from, to});
    }
  }
  return links;
}

}  // namespace granary
