// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads task graphs, and simulates the small ones.
#include <granary/detail/workloads/random_layers.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>

#include "tests/fuzz/json_format.hpp"
#include "tests/fuzz/simulate_small.hpp"
#include "tests/fuzz/target.hpp"

namespace granary::fuzz {
namespace {

Platform const& platform() {
  static auto const small = Platform::parse(R"({
 "name": "small", "source": "invented",
 "nodes": [{"name": "host", "kind": "host"}, {"name": "gpu", "kind": "device", "capacity": 100000}],
 "links": [{"from": "host", "to": "gpu", "bandwidth": 1e9, "latency": 1e-5, "both_ways": true}],
 "workers": [{"name": "core", "node": "host", "kind": "cpu", "count": 2}, {"name": "gpu", "node": "gpu", "kind": "device"}],
 "speeds": {"cpu": {"s": 1e10, "d": 1e10}, "device": {"s": 1e12, "d": 1e12}}
})",
                                            "small.json");
  return small;
}

}  // namespace

std::vector<std::string> seeds() {
  return {
      R"({"codelets":[{"name":"f","kinds":["cpu","device"]},{"name":"g","kinds":["cpu"]}],
 "data":[{"name":"x","bytes":8000},{"name":"t","bytes":400,"temporary":true}],
 "tasks":[{"name":"first","codelet":"g","flops":1e6,"accesses":[{"data":"x","mode":"read"},{"data":"t","mode":"write"}]},
 {"codelet":"f","flops":2e9,"priority":3,"accesses":[{"data":"t","mode":"read"},{"data":"x","mode":"read-write"}],"after":["first"]},
 {"codelet":"f","flops":0,"accesses":[],"after":[0,1]}]})",
      workloads::TaskGraphFile::record(workloads::RandomLayers({.layers = 3, .width = 3, .bytes = 3000, .flops = 1e6}))
          .to_json(),
      R"({"codelets":[{"name":"f","kinds":["device"]}],"data":[{"name":"x","bytes":1}],)"
      R"("tasks":[{"codelet":"f","flops":1,"accesses":[{"data":"x","mode":"write"}],"after":[1]},{"name":"b","codelet":"f","flops":3,"accesses":[]}]})"};
}

std::vector<std::string> words() {
  return json_words({"\"after\":", "\"name\":", "\"priority\":", "\"x\"", "\"f\"", "\"read-write\"", "\"commute\"",
                     "\"bytes\":", "-", "\"temporary\":true,"});
}

}  // namespace granary::fuzz

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace granary;
  auto const text = fuzz::text_of(data, size);
  std::optional<granary::workloads::TaskGraphFile> graph;
  if (!fuzz::refuses_or(size, [&] { graph = granary::workloads::TaskGraphFile::parse(text, "graph.json"); })) return 0;
  fuzz::require_read_as_written(*graph);
  auto const scheduler = size % 3 == 0 ? "darts" : size % 3 == 1 ? "dmdas" : "heteroprio";
  fuzz::refuses_or(size, [&] { fuzz::simulate_small(*graph, fuzz::platform(), scheduler); });
  return 0;
}
