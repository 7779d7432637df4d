// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fstream>
#include <string>
#include <thread>

namespace granary::bench {

/// The machine of the measurements, for the first line of a CSV: `# AMD EPYC, 2 cores`.
inline std::string machine_line() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  return "# " + model + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

}  // namespace granary::bench
