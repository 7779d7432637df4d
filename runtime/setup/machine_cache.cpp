// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/machine_cache.hpp>

#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/disk_node.hpp>
#include <granary/detail/outofcore/io_engine_choice.hpp>
#include <granary/detail/outofcore/scratch_storage.hpp>

#include <spdlog/spdlog.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace granary {

using namespace detail;

namespace {

// The default for a disk that was not measured.
constexpr LinkSpeed usual_disk{1.5e9, std::chrono::microseconds(100)};
// The default for links of devices that were not measured: PCIe 4.0.
constexpr LinkSpeed usual_device_link{2e10, std::chrono::microseconds(10)};
constexpr LinkSpeed usual_emulated_link{5e9, std::chrono::microseconds(10)};
constexpr std::chrono::milliseconds memory_time(20);
constexpr std::chrono::milliseconds device_time(20);  // each way
constexpr Bytes longest_device_copy = 8_MiB;
constexpr std::chrono::milliseconds disk_time(30);  // each way
constexpr Bytes longest_disk_copy = 4_MiB;
std::string const memory_end = "memory";

struct AlignedDelete {
  void operator()(std::byte* memory_of_lanes) const {
    ::operator delete[](memory_of_lanes, std::align_val_t{io_alignment});
  }
};

// The copies between memory and scratch on a disk node, as a run performs them.
DiskSpeed measure_disk(std::string const& directory) {
  auto const io = make_async_file_io();
  DiskNode node([&] { return std::make_unique<ScratchStorage>(io, directory); });
  std::unique_ptr<std::byte[], AlignedDelete> const lanes(
      static_cast<std::byte*>(::operator new[](disk_width* longest_disk_copy, std::align_val_t{io_alignment})));
  std::fill_n(lanes.get(), disk_width * longest_disk_copy, std::byte{1});
  CalibrationOptions const options{
      .width = disk_width, .least = io_alignment, .largest = longest_disk_copy, .time = disk_time};
  auto const place = [](unsigned lane) { return Place{NodeId(0), Slot::Pool, lane * longest_disk_copy}; };
  Bytes written = 0;
  DiskSpeed speed;
  speed.write = measure_link(
      node,
      [&](unsigned lane, Bytes bytes) {
        written = bytes;
        CopyRequest copy{.data = DataId(0), .from = {}, .to = place(lane)};
        copy.source = lanes.get() + lane * longest_disk_copy;
        copy.bytes = bytes;
        return copy;
      },
      options);
  auto reading = options;
  reading.largest = written;
  speed.read = measure_link(
      node,
      [&](unsigned lane, Bytes bytes) {
        CopyRequest copy{.data = DataId(0), .from = place(lane), .to = {}};
        copy.destination = lanes.get() + lane * longest_disk_copy;
        copy.bytes = bytes;
        return copy;
      },
      reading);
  return speed;
}

// The name of an end of a device's link in the file. All emulated devices share one name.
std::string name_of_end(Devices const& devices, int end) {
  if (end == host_end) return memory_end;
  if (devices.api->emulated()) return "emulated device";
  auto const properties = devices.api->properties(end);
  return "device " + std::to_string(end) + " " + properties.name;
}

std::pair<std::string, std::string> names_of(Devices const& devices, DeviceLink const& link) {
  auto names = std::pair(name_of_end(devices, link.from), name_of_end(devices, link.to));
  if (link.from != host_end && link.to != host_end && devices.api->emulated()) names.second = "other emulated device";
  return names;
}

// Measures copies over a device's link, between memories of the same kinds as in a run.
LinkSpeed measure_device_link(Devices const& devices, DeviceLink const& link) {
  auto const pinned = std::make_shared<PinnedMemory>(devices.api);
  auto const take = [&](int end) -> std::unique_ptr<NodeMemory> {
    constexpr Bytes bytes = device_link_width * longest_device_copy;
    if (end == host_end) return std::make_unique<PinnedPool>(pinned, memory_end, bytes);
    return std::make_unique<DeviceMemory>(devices.api, end, bytes);
  };
  auto const from = take(link.from);
  auto const to = take(link.to);
  if (link.from == host_end) std::fill_n(from->base(), device_link_width * longest_device_copy, std::byte{1});
  auto const copies = DeviceCopies(devices.api, pinned).link(link.from, link.to);
  auto const request = [&](unsigned lane, Bytes bytes) {
    CopyRequest copy{.data = DataId(0), .from = {NodeId(0), Slot::Pool, 0}, .to = {NodeId(1), Slot::Pool, 0}};
    copy.source = from->base() + lane * longest_device_copy;
    copy.destination = to->base() + lane * longest_device_copy;
    copy.bytes = bytes;
    return copy;
  };
  return measure_link(*copies, request,
                      {.width = device_link_width, .least = 4096, .largest = longest_device_copy, .time = device_time});
}

void enter(MachineModels& models, std::string const& from, std::string const& to, LinkSpeed const& speed) {
  std::erase_if(models.links, [&](CopyModel const& link) { return link.from == from && link.to == to; });
  models.links.push_back({from, to, speed.bytes_per_second, speed.latency});
}

}  // namespace

void identify(MachineModels& models) {
  auto const identity = identify_machine();
  models.host = identity.host;
  models.cpu = identity.cpu;
  models.cores = identity.cores;
}

std::filesystem::path models_file(std::string const& directory, std::string const& machine_id) {
  return std::filesystem::path(directory) / machine_id / "models.json";
}

std::filesystem::path mount_point(std::filesystem::path const& directory) {
  std::error_code error;
  auto path = std::filesystem::canonical(directory, error);
  if (error) return directory;
  struct stat here {};
  struct stat above {};
  if (::stat(path.c_str(), &here) != 0) return path;
  while (path.has_relative_path() && ::stat(path.parent_path().c_str(), &above) == 0 && above.st_dev == here.st_dev) {
    path = path.parent_path();
  }
  return path;
}

MachineCache::MachineCache(RuntimeOptions const& options, Devices const& devices, std::vector<DeviceLink> const& links)
    : m_disk("disk " + mount_point(options.scratch).string()) {
  if (options.models == models_off) return;
  bool const emulated = devices.api && devices.api->emulated();
  auto const each = options.cores_per_worker;
  m_file = models_file(options.models, identify_machine().id() + (emulated ? "-emulated" : "") +
                                           (each > 1 ? "-" + std::to_string(each) + "-cores-each" : ""));
  read();
  bool const unknown = m_known.link(memory_end, memory_end) == nullptr || m_known.link(memory_end, m_disk) == nullptr ||
                       m_known.link(m_disk, memory_end) == nullptr ||
                       std::ranges::any_of(links, [&](DeviceLink const& link) { return lacks(devices, link); });
  if (!m_file.empty() && unknown && options.measure_links) measure_links(options.scratch, devices, links);
}

bool MachineCache::lacks(Devices const& devices, DeviceLink const& link) const {
  auto const [from, to] = names_of(devices, link);
  return devices.link_bytes_per_second == 0 && m_known.link(from, to) == nullptr;
}

void MachineCache::read() {
  try {
    if (auto known = read_models(m_file)) m_known = std::move(*known);
  } catch (std::exception const& error) {
    spdlog::warn("granary: {}; its content is ignored", error.what());
  }
}

void MachineCache::measure_links(std::string const& scratch, Devices const& devices,
                                 std::vector<DeviceLink> const& links) {
  try {
    // Measure only what can be saved; otherwise every run would measure again.
    update_models(m_file, identify);
  } catch (std::exception const& error) {
    spdlog::warn("granary: performance models cannot be saved: {}", error.what());
    m_file.clear();
    return;
  }
  try {
    bool const memory_known = m_known.link(memory_end, memory_end) != nullptr;
    bool const disk_known = m_known.link(memory_end, m_disk) != nullptr && m_known.link(m_disk, memory_end) != nullptr;
    if (!memory_known) enter(m_known, memory_end, memory_end, measure_host_memory(memory_time));
    if (!disk_known) {
      auto const speed = measure_disk(scratch);
      enter(m_known, m_disk, memory_end, speed.read);
      enter(m_known, memory_end, m_disk, speed.write);
    }
    for (auto const& link : links) {
      if (!lacks(devices, link)) continue;
      auto const [from, to] = names_of(devices, link);
      enter(m_known, from, to, measure_device_link(devices, link));
    }
    update_models(m_file, [&](MachineModels& models) {
      for (auto const& link : m_known.links) enter(models, link.from, link.to, {link.bytes_per_second, link.latency});
    });
  } catch (std::exception const& error) {
    spdlog::warn("granary: the links were not measured: {}", error.what());
  }
}

std::unique_ptr<PerformanceModels> MachineCache::make_models() const {
  return std::make_unique<PerformanceModels>(m_known.kernels);
}

LinkSpeed MachineCache::speed_of(std::string const& from, std::string const& to, LinkSpeed const& usual) const {
  auto const* link = m_known.link(from, to);
  return link != nullptr ? LinkSpeed{link->bytes_per_second, link->latency} : usual;
}

DiskSpeed MachineCache::disk_speed() const {
  return {speed_of(m_disk, memory_end, usual_disk), speed_of(memory_end, m_disk, usual_disk)};
}

std::optional<LinkSpeed> MachineCache::memory_speed() const {
  auto const* link = m_known.link(memory_end, memory_end);
  return link != nullptr ? std::optional(LinkSpeed{link->bytes_per_second, link->latency}) : std::nullopt;
}

bool MachineCache::knows_disk() const {
  return m_known.link(m_disk, memory_end) != nullptr && m_known.link(memory_end, m_disk) != nullptr;
}

bool MachineCache::knows(Devices const& devices, DeviceLink const& link) const {
  auto const [from, to] = names_of(devices, link);
  return m_known.link(from, to) != nullptr;
}

LinkSpeed MachineCache::device_speed(Devices const& devices, DeviceLink const& link) const {
  if (devices.link_bytes_per_second > 0) return {static_cast<double>(devices.link_bytes_per_second), Duration{0}};
  auto const [from, to] = names_of(devices, link);
  return speed_of(from, to, devices.api->emulated() ? usual_emulated_link : usual_device_link);
}

void MachineCache::keep(PerformanceModels const& models) const {
  if (m_file.empty() || !models.changed()) return;
  try {
    update_models(m_file, [&](MachineModels& stored) {
      identify(stored);
      models.merge_into(stored.kernels);
    });
  } catch (std::exception const& error) {
    spdlog::warn("granary: the performance models were not saved: {}", error.what());
  }
}

}  // namespace granary
