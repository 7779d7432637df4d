// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads platforms, and simulates a stencil on the small ones.
#include <granary/detail/workloads/stencil.hpp>

#include "tests/fuzz/json_format.hpp"
#include "tests/fuzz/simulate_small.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {

std::vector<std::string> seeds() {
  return {
      R"({"name": "small", "source": "invented", "jitter": 0.1, "depth": 3, "device_issue": 2, "network": {"bandwidth": 5e9, "latency": 1e-6},
 "nodes": [{"name": "host", "kind": "host"}, {"name": "gpu0", "kind": "device", "capacity": 100000},
           {"name": "gpu1", "kind": "device", "capacity": 200000}],
 "buses": [{"name": "socket", "bandwidth": 6e9}, {"name": "peers", "bandwidth": 9e9}],
 "links": [
  {"from": "host", "to": "gpu0", "bandwidth": 4e9, "latency": 1e-5, "buses": ["socket"], "both_ways": true},
  {"from": "host", "to": "gpu1", "bandwidth": 4e9, "width": 2, "buses": ["socket"], "both_ways": true},
  {"from": "gpu0", "to": "gpu1", "bandwidth": 8e9, "buses": ["peers", "peers"], "in_order": true, "both_ways": true}],
 "workers": [{"name": "core", "node": "host", "kind": "cpu", "count": 3, "peak": 2e10},
             {"name": "gpu0", "node": "gpu0", "kind": "device", "model": "fast"},
             {"name": "gpu1", "node": "gpu1", "kind": "device", "model": "slow"}],
 "kernels": {"s": {"gemm": {"cpu": 1e10, "fast": [[1e6, 1e-5], [1e8, 5e-4]], "slow": 1e11}},
             "d": {"potrf": {"cpu": [[1e6, 2e-4]]}}, "z": {"potrf": {"cpu": [[1e6, 3e-4]]}}},
 "speeds": {"cpu": {"s": 1e9, "d": 5e8}, "fast": {"s": 1e12, "d": 1e11}, "slow": {"d": 1e11}}})",
      R"({"name": "disk", "source": "x", "nodes": [{"name": "ram", "kind": "host", "capacity": 50000},
 {"name": "disk", "kind": "disk"}], "links": [{"from": "disk", "to": "ram", "bandwidth": 1e8, "latency": 1e-3, "width": 4, "both_ways": true}],
 "workers": [{"name": "c", "node": "ram", "kind": "cpu", "count": 2}], "speeds": {"cpu": {"d": 1e10}}})"};
}

std::vector<std::string> words() {
  return json_words({"\"latency\":", "\"bandwidth\":", "\"host\"", "\"gpu0\"", "\"device\"", "\"cpu\"",
                     "\"buses\":", "\"both_ways\": true,", "\"count\": 9,", "\"capacity\": 70000,", "[1e7, 1e-3],"});
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  auto const text = fuzz::text_of(data, size);
  std::optional<Platform> platform;
  if (!fuzz::refuses_or(size, [&] { platform = Platform::parse(text, "platform.json"); })) return 0;
  fuzz::require_read_as_written(*platform);
  static granary::workloads::Stencil const workload(
      {.blocks = {3, 3, 1}, .iterations = 4, .block_bytes = 8192, .halo_bytes = 256, .flops = 1e6, .variant = "d"});
  auto const scheduler = size % 3 == 0 ? "darts" : size % 3 == 1 ? "dmdas" : "lws";
  fuzz::refuses_or(size, [&] { fuzz::simulate_small(workload, *platform, scheduler); });
  return 0;
}
