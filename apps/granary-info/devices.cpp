// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "devices.hpp"

#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace granary::app {

using namespace detail;

namespace {

using Json = nlohmann::ordered_json;

std::string reason_for_none(RuntimeOptions const& options) {
  std::string const vendor = vendor_backend();
  if (vendor.empty()) return "granary was built without CUDA and HIP";
  std::string problem;
  auto const api = make_vendor_api(&problem);
  if (!problem.empty()) return vendor + ": " + problem;
  if (api == nullptr || api->devices() == 0) return vendor + " finds no device";
  return "'" + options.devices + "' was requested";
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto const pattern = std::filesystem::temp_directory_path() / "granary-info-XXXXXX";
    std::string name = pattern.string();
    if (::mkdtemp(name.data()) == nullptr) throw Error("cannot create " + name + ": " + std::strerror(errno));
    m_path = name;
  }
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(m_path, error);
  }
  TemporaryDirectory(TemporaryDirectory const&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;
  [[nodiscard]] std::string path() const { return m_path.string(); }

 private:
  std::filesystem::path m_path;
};

// Measures the links into an empty cache; its results then replace those in the machine's own cache.
MachineCache measured_anew(RuntimeOptions options, Devices const& devices, std::vector<DeviceLink> const& links) {
  TemporaryDirectory const directory;
  auto const kept = options.models == models_off ? std::filesystem::path() : MachineCache(options, devices).file();
  options.measure_links = true;
  options.models = directory.path();
  MachineCache cache(options, devices, links);
  auto const measured = read_models(cache.file());
  if (!kept.empty() && measured) {
    update_models(kept, [&](MachineModels& models) {
      for (auto const& link : measured->links) {
        std::erase_if(models.links, [&](CopyModel const& old) { return old.from == link.from && old.to == link.to; });
        models.links.push_back(link);
      }
    });
  }
  return cache;
}

std::string name_of_end(int end) { return end == host_end ? "host memory" : "device " + std::to_string(end); }

Json describe_link(std::string const& from, std::string const& to, LinkSpeed const& speed, char const* source) {
  return {{"from", from},
          {"to", to},
          {"bytes_per_second", speed.bytes_per_second},
          {"latency_seconds", seconds(speed.latency)},
          {"source", source}};
}

}  // namespace

Json describe_devices(RuntimeOptions const& options, Devices const& devices) {
  Json list = Json::array();
  for (int const number : devices.numbers) {
    auto const properties = devices.api->properties(number);
    list.push_back({{"number", number},
                    {"name", properties.name},
                    {"architecture", properties.architecture},
                    {"bus", properties.bus.empty() ? Json() : Json(properties.bus)},
                    {"memory_bytes", properties.memory},
                    {"free_bytes", properties.free},
                    {"granary_limit_bytes", devices.memory},
                    {"lanes", devices.lanes}});
  }
  return {{"backend", devices.empty() ? Json() : Json(devices.api->name())},
          {"reason", devices.empty() ? Json(reason_for_none(options)) : Json()},
          {"list", list}};
}

Json describe_links(InfoOptions const& options, Devices const& devices) {
  auto const links = device_links(devices);
  auto const& runtime = options.runtime;
  auto const cache = options.measure ? measured_anew(runtime, devices, links) : MachineCache(runtime, devices, links);
  auto const source = [](bool measured) { return measured ? "measured" : "assumed"; };
  Json list = Json::array();
  if (auto const speed = cache.memory_speed()) {
    list.push_back(describe_link("host memory", "host memory", *speed, source(true)));
  }
  auto const disk = cache.disk_speed();
  auto const name = "disk " + mount_point(runtime.scratch).string();
  list.push_back(describe_link("host memory", name, disk.write, source(cache.knows_disk())));
  list.push_back(describe_link(name, "host memory", disk.read, source(cache.knows_disk())));
  for (auto const& link : links) {
    auto const* const origin = devices.link_bytes_per_second > 0 ? "limited" : source(cache.knows(devices, link));
    list.push_back(
        describe_link(name_of_end(link.from), name_of_end(link.to), cache.device_speed(devices, link), origin));
  }
  return list;
}

}  // namespace granary::app
