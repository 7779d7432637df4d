// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/register_auto.hpp>
#include <granary/detail/core/backends/device_api.hpp>
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/policies/registry.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>

#include "apps/cli_test.hpp"

namespace granary::info_cli_test {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class InfoCli : public testing::CliTest {
 protected:
  InfoCli() : CliTest("granary-info") {}
  [[nodiscard]] json described(std::vector<std::string> arguments = {},
                               testing::ChildOptions const& options = {}) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    auto const result = run(arguments, options);
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out);
  }
  // The value of `key` in a file such as /proc/meminfo: "key: value unit".
  static std::string value_in(std::string const& path, std::string const& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with(key)) continue;
      auto const start = line.find_first_not_of(" \t", line.find(':') + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
    return "";
  }
  static json link(json const& description, std::string const& from, std::string const& to) {
    for (auto const& each : description.at("links")) {
      if (each.at("from") == from && each.at("to").get<std::string>().starts_with(to)) return each;
    }
    return nullptr;
  }
};

TEST_F(InfoCli, ProcessorsAreThoseOfTheSystem) {
  auto const host = described().at("host");
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  EXPECT_EQ(host.at("name"), name.data());
  auto const model = value_in("/proc/cpuinfo", "model name");
  EXPECT_TRUE(model.empty() || host.at("cpu") == model) << model;
  cpu_set_t mask;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
  EXPECT_EQ(host.at("usable_hardware_threads"), CPU_COUNT(&mask));  // what nproc says
  std::set<unsigned> cores;
  for (auto const core : host.at("usable_cores").get<std::vector<unsigned>>()) {
    EXPECT_TRUE(CPU_ISSET(core, &mask));
    EXPECT_TRUE(cores.insert(core).second);
  }
  EXPECT_GE(cores.size(), 1U);
  EXPECT_LE(cores.size(), host.at("cores").get<std::size_t>());
  EXPECT_LE(host.at("hardware_threads").get<long>(), ::sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_GE(host.at("packages"), 1);
  std::set<unsigned> in_domains;
  for (auto const& domain : host.at("numa_domains")) {
    EXPECT_TRUE(fs::exists("/sys/devices/system/node") == false ||
                fs::exists("/sys/devices/system/node/node" + std::to_string(domain.at("number").get<unsigned>())));
    for (auto const core : domain.at("usable_cores").get<std::vector<unsigned>>()) in_domains.insert(core);
  }
  EXPECT_EQ(in_domains, cores);
}

TEST_F(InfoCli, AProcessThatIsBoundSeesItsCoreAlone) {
  cpu_set_t mask, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &mask)) --last;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  auto const host = described().at("host");
  ::sched_setaffinity(0, sizeof(mask), &mask);
  EXPECT_EQ(host.at("usable_cores"), json::array({last}));
  EXPECT_EQ(host.at("usable_hardware_threads"), 1);
}

TEST_F(InfoCli, CachesAreThoseOfTheSystem) {
  long const first = ::sysconf(_SC_LEVEL1_DCACHE_SIZE);
  if (first <= 0) GTEST_SKIP() << "the system does not say";
  auto const caches = described().at("host").at("caches");
  ASSERT_FALSE(caches.empty());
  EXPECT_THAT(caches[0].at("name").get<std::string>(), ::testing::StartsWith("L1"));
  EXPECT_EQ(caches[0].at("bytes"), first);
}

TEST_F(InfoCli, MemoryIsThatOfTheSystemAndOfItsLimits) {
  auto const memory = described().at("memory");
  auto const physical = memory.at("physical_bytes").get<Bytes>();
  EXPECT_EQ(physical, std::stoull(value_in("/proc/meminfo", "MemTotal")) * 1024);
  auto least = physical;
  for (auto const* key : {"control_groups_bytes", "address_space_bytes", "data_segment_bytes"}) {
    if (!memory.at(key).is_null()) least = std::min(least, memory.at(key).get<Bytes>());
  }
  EXPECT_EQ(memory.at("usable_bytes"), least);
  EXPECT_EQ(memory.at("granary_limit_bytes"), least / 2);
}

TEST_F(InfoCli, ALimitOnTheAddressSpaceCounts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve address space of their own";
#endif
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  auto const limit = (Bytes{1} << 31) + 4096;
  auto const physical = std::stoull(value_in("/proc/meminfo", "MemTotal")) * 1024;
  if (physical < limit) GTEST_SKIP() << "the machine has less memory";
  rlimit lower = before;
  lower.rlim_cur = limit;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &lower), 0);
  auto const memory = described().at("memory");
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(memory.at("address_space_bytes"), limit);
  EXPECT_LE(memory.at("usable_bytes").get<Bytes>(), limit);
}

TEST_F(InfoCli, SoftwareAndPolicies) {
  register_auto();
  auto const description = described();
  auto const& software = description.at("granary");
  EXPECT_THAT(software.at("version").get<std::string>(), ContainsRegex("^[0-9]+\\.[0-9]+\\.[0-9]+$"));
  EXPECT_THAT(software.at("kokkos").at("version").get<std::string>(), ContainsRegex("^[0-9]+\\.[0-9]+\\.[0-9]+$"));
  EXPECT_THAT(software.at("kokkos").at("backends"), Not(::testing::IsEmpty()));
  EXPECT_EQ(software.at("kokkos").at("concurrent_host_kernels"), concurrent_host_kernels);
  EXPECT_FALSE(software.at("blas").at("name").get<std::string>().empty());
  EXPECT_EQ(software.at("device_backend").is_null(), std::string(vendor_backend()).empty());
  auto const& policies = description.at("policies");
  std::vector<std::string> schedulers;
  for (auto const& scheduler : policies.at("schedulers")) {
    schedulers.push_back(scheduler.at("name"));
    EXPECT_EQ(scheduler.at("eviction"), default_eviction(schedulers.back()));
  }
  EXPECT_EQ(schedulers, all_scheduler_names());
  EXPECT_EQ(policies.at("evictions"), json(eviction_names()));
  EXPECT_EQ(policies.at("scheduler"), "auto");
  EXPECT_EQ(policies.at("eviction"), default_eviction("auto"));
}

TEST_F(InfoCli, EmulatedDevicesAndTheirLinks) {
  auto const description = described({"--devices", "host:3", "--device-memory", "32MiB", "--link-bandwidth", "2GB/s"});
  auto const& devices = description.at("devices");
  EXPECT_TRUE(devices.at("reason").is_null());
  ASSERT_EQ(devices.at("list").size(), 3U);
  for (int d = 0; d < 3; ++d) {
    auto const& device = devices.at("list")[static_cast<std::size_t>(d)];
    EXPECT_EQ(device.at("number"), d);
    EXPECT_EQ(device.at("memory_bytes"), 32_MiB);
    EXPECT_EQ(device.at("granary_limit_bytes"), 32_MiB);
    auto const name = "device " + std::to_string(d);
    for (auto const& way : {link(description, "host memory", name), link(description, name, "host memory"),
                            link(description, name, d == 0 ? "device 1" : "device 0")}) {
      ASSERT_TRUE(way.is_object()) << name;
      EXPECT_EQ(way.at("bytes_per_second"), 2e9);
      EXPECT_EQ(way.at("source"), "limited");
    }
  }
}

TEST_F(InfoCli, LinksAreMeasuredOnceAndKept) {
  auto const unknown = described();  // models are off
  EXPECT_EQ(link(unknown, "host memory", "disk ").at("source"), "assumed");
  EXPECT_TRUE(unknown.at("models").at("file").is_null());
  auto const models = m_directory.path() / "models";
  auto const first = described({"--devices", "host:2"}, {.models = models});
  for (auto const& each : first.at("links")) {
    EXPECT_EQ(each.at("source"), "measured") << each;
    EXPECT_GT(each.at("bytes_per_second"), 0.0);
    EXPECT_GT(each.at("latency_seconds"), 0.0);
  }
  EXPECT_EQ(first.at("links").size(), 3U + 4U + 2U);
  EXPECT_TRUE(fs::exists(first.at("models").at("file").get<std::string>()));
  auto const second = described({"--devices", "host:2"}, {.models = models});
  EXPECT_EQ(second.at("links"), first.at("links"));
}

TEST_F(InfoCli, MeasuringAnewReplacesWhatWasKept) {
  auto const models = m_directory.path() / "models";
  auto const file = described({}, {.models = models}).at("models").at("file").get<std::string>();
  constexpr double never = 1;
  update_models(file, [&](MachineModels& kept) {
    kept.kernels = {{"gemm", "d", WorkerKind::Cpu, 1048576, 1e-10, 41}};
    for (auto& each : kept.links) each.bytes_per_second = never;
  });
  EXPECT_EQ(link(described({}, {.models = models}), "host memory", "disk ").at("bytes_per_second"), never);
  auto const anew = described({"--measure"}, {.models = models});
  for (auto const* end : {"disk ", "host memory"}) {
    auto const speed = link(anew, "host memory", end).at("bytes_per_second").get<double>();
    EXPECT_GT(speed, 0) << end;
    EXPECT_NE(speed, never) << end;
  }
  EXPECT_EQ(described({}, {.models = models}).at("links"), anew.at("links"));
  EXPECT_EQ(read_models(file)->kernels.size(), 1U) << "what kernels took stays";
  EXPECT_EQ(link(described({"--measure"}), "host memory", "disk ").at("source"), "measured") << "models are off";
}

TEST_F(InfoCli, TheTextSaysTheSame) {
  auto const result = run({"--json", "out.json", "--devices", "host:1"});
  ASSERT_EQ(result.status, 0) << result.err;
  auto const description = read_json("out.json");
  EXPECT_THAT(result.out, AllOf(HasSubstr(description.at("granary").at("version").get<std::string>()),
                                HasSubstr(description.at("host").at("cpu").get<std::string>()),
                                HasSubstr(description.at("granary").at("blas").at("name").get<std::string>()),
                                HasSubstr("\ndevice 0 "), HasSubstr("darts (")));
  EXPECT_EQ(run({"--devices", "none"}).status, 0);
}

TEST_F(InfoCli, WorkersAndPagesOfTwoNumaDomains) {
  ::setenv("HWLOC_SYNTHETIC", "numa:2 core:4 pu:2", 1);
  auto const alone = described();
  auto const text = run({}).out;
  auto const fours = has_team_space ? described({"--cores-per-worker", "4"}) : json();
  auto const too_many = run({"--cores-per-worker", "5"});
  ::unsetenv("HWLOC_SYNTHETIC");
  ASSERT_EQ(alone.at("host").at("numa_domains").size(), 2U);
  EXPECT_EQ(alone.at("host").at("numa_domains")[1].at("usable_cores"), json::array({8, 10, 12, 14}));
  EXPECT_EQ(alone.at("workers").at("count"), 8);
  EXPECT_EQ(alone.at("workers").at("bound_to")[7], json({{"cores", {14}}, {"numa_domain", 1}}));
  EXPECT_EQ(alone.at("memory").at("interleaved_over"), json::array({0, 1}));
  EXPECT_THAT(text, AllOf(HasSubstr("\nworkers           8 of 1 core each, 1 thread per BLAS call; bound to 0,2,4"),
                          HasSubstr("\npages             interleaved over NUMA domains 0-1\n")));
  EXPECT_EQ(too_many.status, 2);
  EXPECT_EQ(alone.at("granary").at("kokkos").at("several_cores_per_worker"), has_team_space);
  if (!has_team_space) {
    EXPECT_THAT(too_many.err, HasSubstr("need Kokkos 4.0 or newer with OpenMP"));
    return;
  }
  EXPECT_THAT(too_many.err, HasSubstr("a worker of 5 cores does not fit a NUMA domain, of which the largest has 4"));
  EXPECT_EQ(fours.at("workers").at("cores_each"), 4);
  EXPECT_EQ(fours.at("workers").at("bound_to"), json::array({{{"cores", {0, 2, 4, 6}}, {"numa_domain", 0}},
                                                             {{"cores", {8, 10, 12, 14}}, {"numa_domain", 1}}}));
}

TEST_F(InfoCli, OnOneNumaDomainTheSystemPlacesPages) {
  ::setenv("HWLOC_SYNTHETIC", "numa:1 core:3 pu:1", 1);
  auto const description = described();
  ::unsetenv("HWLOC_SYNTHETIC");
  EXPECT_EQ(description.at("workers").at("count"), 3);
  EXPECT_EQ(description.at("memory").at("interleaved_over"), json::array());
}

TEST_F(InfoCli, RefusesBadInput) {
  expect_refused({"--cores-per-worker", "0"}, 2, "--cores-per-worker");
  expect_refused({"--cores-per-worker", "two"}, 2, "two");
  expect_refused({"--paint"}, 2, "--paint");
  expect_refused({"machine"}, 2, "machine");
  expect_refused({"--json"}, 2, "--json");
  expect_refused({"--json", "nowhere/out.json"}, 2, "nowhere/out.json");
  expect_refused({"--devices", "host:0"}, 2, "host:0");
  expect_refused({"--devices", "many"}, 2, "many");
  expect_refused({"--devices", "99"}, 2, std::string(vendor_backend()).empty() ? "without CUDA" : "99");
  expect_refused({"--devices", "host:2", "--device-memory", "plenty"}, 2, "plenty");
  expect_refused({"--devices", "host:2", "--link-bandwidth", "0"}, 2, "'0'");
  expect_refused({"--devices", "none", "--device-memory", "1GiB"}, 2, "no devices");
  expect_refused({"--scratch", "/nowhere"}, 2, "/nowhere");
  for (std::string const option :
       {"--json", "--devices", "--device-memory", "--link-bandwidth", "--scratch", "--models"}) {
    expect_refused({option, ""}, 2, "the value of " + option + " is empty");
  }
}

}  // namespace
}  // namespace granary::info_cli_test
