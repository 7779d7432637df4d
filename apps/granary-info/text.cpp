// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <granary/detail/core/base/units.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace granary::app {
namespace {

using Json = nlohmann::ordered_json;

std::string line(std::string const& name, std::string const& value) { return fmt::format("{:<18}{}\n", name, value); }

std::string word(Json const& value, std::string const& absent = "none") {
  return value.is_null() ? absent : value.get<std::string>();
}

std::string size(Json const& bytes, std::string const& absent = "none") {
  return bytes.is_null() ? absent : format_bytes(bytes.get<Bytes>());
}

std::string number_of(Json const& number, std::string const& thing) {
  auto const n = number.get<std::uint64_t>();
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

// 0-3,8
std::string ranges(Json const& numbers) {
  std::vector<std::string> parts;
  auto const list = numbers.get<std::vector<unsigned>>();
  for (std::size_t i = 0; i < list.size();) {
    auto last = i;
    while (last + 1 < list.size() && list[last + 1] == list[last] + 1) ++last;
    parts.push_back(last == i ? fmt::format("{}", list[i]) : fmt::format("{}-{}", list[i], list[last]));
    i = last + 1;
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ","));
}

std::string software_text(Json const& of) {
  auto const& kokkos = of.at("kokkos");
  auto const& threads = of.at("blas").at("threads");
  return line("granary", of.at("version")) +
         line("Kokkos",
              fmt::format("{}: {}; host kernels on {}{}", kokkos.at("version").get<std::string>(),
                          fmt::join(kokkos.at("backends").get<std::vector<std::string>>(), ", "),
                          kokkos.at("host").get<std::string>(),
                          kokkos.at("concurrent_host_kernels").get<bool>()
                              ? ""
                              : ", one at a time: tasks that launch Kokkos kernels wait for each other (Kokkos "
                                "4.0 or newer runs them at once)")) +
         line("Kokkos Kernels", word(of.at("kokkos_kernels"))) +
         line("BLAS", of.at("blas").at("name").get<std::string>() +
                          (threads.is_null() ? "" : ", " + number_of(threads, "thread") + " per call outside runs")) +
         line("BLAS kernels", of.at("blas").at("remark")) + line("tile kernels", of.at("host_tile_kernels")) +
         line("HDF5", of.at("hdf5")) +
         line("disk I/O", of.at("io_uring").get<bool>() ? "io_uring" : "thread pool; no io_uring here");
}

std::string speed_text(Json const& of) {
  auto const peak = of.at("peak_flops").get<double>();
  auto const part = [&](char const* name, char const* key) {
    auto const speed = of.at(key).get<double>();
    return fmt::format("{} {:.1f} ({:.0f} %)", name, speed * 1e-9, 100 * speed / peak);
  };
  return line("speed of a core",
              fmt::format("peak {:.1f} GFlop/s, double; tiles of {}: {}, {}, {}, {}", peak * 1e-9,
                          of.at("tile").get<int>(), part("GEMM", "gemm_flops"), part("SYRK", "syrk_flops"),
                          part("TRSM", "trsm_flops"), part("POTRF", "potrf_flops")));
}

std::string quota_text(Json const& cores) {
  if (cores.is_null()) return "";
  return fmt::format("; control groups allow the processor time of {:.3g} cores", cores.get<double>());
}

std::string host_text(Json const& host) {
  auto text =
      line("host", fmt::format("{}: {}", host.at("name").get<std::string>(), host.at("cpu").get<std::string>()));
  text += line("processors",
               fmt::format("{}, {}, {}", number_of(host.at("packages"), "package"), number_of(host.at("cores"), "core"),
                           number_of(host.at("hardware_threads"), "hardware thread")) +
                   (host.at("vectors") == "unknown" ? "" : ", " + host.at("vectors").get<std::string>()));
  text += line("usable", fmt::format("{} on {}: {}", number_of(host.at("usable_cores").size(), "core"),
                                     number_of(host.at("usable_hardware_threads"), "hardware thread"),
                                     ranges(host.at("usable_cores"))) +
                             quota_text(host.at("cpu_quota_cores")));
  if (host.at("numa_domains").empty()) text += line("NUMA domains", "unknown: hwloc does not support this system");
  for (auto const& domain : host.at("numa_domains")) {
    text +=
        line(fmt::format("NUMA domain {}", domain.at("number").get<unsigned>()),
             fmt::format("{}, usable cores {}", size(domain.at("memory_bytes")), ranges(domain.at("usable_cores"))));
  }
  for (auto const& cache : host.at("caches")) {
    text += line(cache.at("name").get<std::string>() + " cache",
                 fmt::format("{} x {}, {} each", cache.at("count").get<unsigned>(), size(cache.at("bytes")),
                             number_of(cache.at("hardware_threads"), "hardware thread")));
  }
  return text;
}

std::string workers_text(Json const& workers) {
  if (workers.at("count") == 0) return line("workers", "none: devices run all tasks");
  auto const each = workers.at("cores_each").get<unsigned>();
  auto const blas = workers.at("blas_threads").get<int>();
  std::vector<std::string> bound;
  for (auto const& group : workers.at("bound_to"))
    bound.push_back(ranges(group.at("cores")) +
                    (group.at("numa_domain").is_null()
                         ? ""
                         : fmt::format(" (NUMA domain {})", group.at("numa_domain").get<unsigned>())));
  if (each == 1 && !bound.empty()) {  // of one core each: no line for every one
    std::vector<unsigned> cores;
    for (auto const& group : workers.at("bound_to")) cores.push_back(group.at("cores").at(0));
    bound = {ranges(cores)};
  }
  return line("workers", fmt::format("{} of {} each, {} per BLAS call; {}", workers.at("count").get<unsigned>(),
                                     number_of(each, "core"), number_of(blas, "thread"),
                                     bound.empty() ? "not bound" : fmt::format("bound to {}", fmt::join(bound, ", "))));
}

std::string memory_text(Json const& memory) {
  auto const& domains = memory.at("interleaved_over");
  return line("memory",
              fmt::format("{} physical, control groups {}, RLIMIT_AS {}, RLIMIT_DATA {}",
                          size(memory.at("physical_bytes")), size(memory.at("control_groups_bytes"), "unlimited"),
                          size(memory.at("address_space_bytes"), "unlimited"),
                          size(memory.at("data_segment_bytes"), "unlimited"))) +
         line("usable memory",
              fmt::format("{} ({}); granary's limit {}", size(memory.at("usable_bytes")),
                          memory.at("limited_by").get<std::string>(), size(memory.at("granary_limit_bytes")))) +
         (domains.empty() ? "" : line("pages", "interleaved over NUMA domains " + ranges(domains)));
}

std::string devices_text(Json const& devices) {
  auto text = line("devices", devices.at("list").empty()
                                  ? "none: " + devices.at("reason").get<std::string>()
                                  : fmt::format("{}, {}", devices.at("list").size(), word(devices.at("backend"))));
  for (auto const& device : devices.at("list")) {
    auto const bus = device.at("bus").is_null() ? "" : ", bus " + device.at("bus").get<std::string>();
    text += line(fmt::format("device {}", device.at("number").get<int>()),
                 fmt::format("{}, {}{}: {}, {} free, granary's limit {}, {}", device.at("name").get<std::string>(),
                             device.at("architecture").get<std::string>(), bus, size(device.at("memory_bytes")),
                             size(device.at("free_bytes")), size(device.at("granary_limit_bytes")),
                             number_of(device.at("lanes"), "lane")));
  }
  return text;
}

std::string links_text(Json const& links) {
  std::string text;
  for (auto const& link : links) {
    text +=
        line("link", fmt::format("{} -> {}: {:.3f} GB/s, latency {:.1f} us, {}", link.at("from").get<std::string>(),
                                 link.at("to").get<std::string>(), link.at("bytes_per_second").get<double>() * 1e-9,
                                 link.at("latency_seconds").get<double>() * 1e6, link.at("source").get<std::string>()));
  }
  return text;
}

std::string policies_text(Json const& policies) {
  std::vector<std::string> schedulers;
  for (auto const& scheduler : policies.at("schedulers")) {
    schedulers.push_back(
        fmt::format("{} ({})", scheduler.at("name").get<std::string>(), scheduler.at("eviction").get<std::string>()));
  }
  return line("policies", fmt::format("{} with {}", policies.at("scheduler").get<std::string>(),
                                      policies.at("eviction").get<std::string>())) +
         line("schedulers", fmt::format("{}", fmt::join(schedulers, ", "))) +
         line("evictions",
              fmt::format("{}", fmt::join(policies.at("evictions").get<std::vector<std::string>>(), ", ")));
}

std::string models_text(Json const& models) {
  if (models.at("file").is_null()) return line("models", "off: nothing is kept between runs");
  return line("models", models.at("file").get<std::string>() + (models.at("exists").get<bool>() ? "" : " (not yet)"));
}

}  // namespace

std::string text_of(Json const& description) {
  return software_text(description.at("granary")) + host_text(description.at("host")) +
         workers_text(description.at("workers")) + speed_text(description.at("core_speed")) +
         memory_text(description.at("memory")) + devices_text(description.at("devices")) +
         links_text(description.at("links")) + policies_text(description.at("policies")) +
         models_text(description.at("models"));
}

}  // namespace granary::app
