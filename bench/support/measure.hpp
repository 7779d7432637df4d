// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Common parts of the benchmarks.
namespace granary::bench {

/// Standard output has the results, which scripts read: granary's warnings go to standard error. Call it first.
inline void warn_on_standard_error() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

/// Calls `measure` and returns the exit status of main(): 1, with a message, if it throws.
template <class Measure>
int exit_status(char const* program, Measure&& measure) {
  warn_on_standard_error();
  try {
    measure();
    return 0;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

/// The wall time of a call.
template <class Function>
double seconds_of(Function&& function) {
  auto const start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  auto const middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

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

/// A CSV that begins with the machine, and is written line by line. Without a name it takes no lines.
class CsvFile {
 public:
  /// `lines` end with a line end.
  CsvFile(std::string name, std::string const& lines) : m_name(std::move(name)) {
    if (m_name.empty()) return;
    m_file.open(m_name);
    add(machine_line() + "\n" + lines);
  }
  /// Throws Error if the file cannot be written.
  void add(std::string const& lines) {
    if (!m_name.empty() && !(m_file << lines).flush()) throw Error("cannot write " + m_name);
  }

 private:
  std::string m_name;
  std::ofstream m_file;
};

}  // namespace granary::bench
