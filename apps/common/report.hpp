// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/trace.hpp>
#include <granary/core/runtime/runtime.hpp>
#include <granary/linalg/files/matrix_file.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"

namespace granary::app {

/// What a run did, whatever it computed.
struct RunFigures {
  std::size_t workers = 0;
  std::string scheduler;
  std::string eviction;
  std::uint32_t depth = 0;
  Bytes memory_limit = 0;
  Bytes memory_peak = 0;
  double seconds = 0;
  Bytes bytes_read = 0;
  Bytes bytes_written = 0;
  std::uint64_t tasks = 0;
  double wait_seconds = 0;     ///< summed over the workers
  double blocked_seconds = 0;  ///< likewise: by kernels of other workers, with Kokkos before 4.0
  double decision_seconds = 0;
  std::vector<DeviceFigures> devices = {};
  Bytes device_memory = 0;  ///< limit for each, with what its lanes take
  unsigned device_lanes = 0;
  DeviceTraffic traffic = {};
};

/// The least that the operations read, to compare the run's traffic with where the matrices are in files.
struct LeastTraffic {
  Bytes bound = 0;                               ///< of any order of the operations (io_bounds.hpp)
  std::optional<Bytes> nonsymmetric = {};        ///< the same without using symmetry
  Bytes compulsory = 0;                          ///< to read, however large the memory is
  std::optional<Bytes> compulsory_written = {};  ///< absent: as much
  bool reads_input = true;                       ///< from the disk; false: it is generated
  bool writes_output = true;
};

/// A run's summary, as lines for people and as JSON for programs, whose keys are stable.
class Report {
 public:
  void line(std::string const& name, std::string const& value);
  template <class Value>
  void value(std::string const& key, Value const& value) {
    m_json[key] = value;
  }
  /// Both: the scaled residual under "residual", for people with the formula that it is, and how long it took to
  /// measure. Throws Error when it is not below what LAPACK's own tests accept.
  void residual(double value, std::string const& formula, double check_seconds);
  /// `flops`: real operations of the algorithm, for the rate.
  void add_run(std::uint64_t tile, ScalarType type, RunFigures const& run, double flops, LeastTraffic const& least);

  [[nodiscard]] std::string const& text() const { return m_text; }
  [[nodiscard]] nlohmann::ordered_json const& values() const { return m_json; }
  [[nodiscard]] std::string json() const {
    // A file's name may be no UTF-8.
    return m_json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  /// Prints the text, unless the JSON is printed, and writes the JSON, as the options ask for them. Throws what
  /// write_text does.
  void publish(RunOptions const& options) const;

 private:
  void add_traffic(RunFigures const& run, LeastTraffic const& least);
  void add_devices(RunFigures const& run);

  std::string m_text;
  nlohmann::ordered_json m_json;
};

/// Adds a report's values to a trace: texts to the configuration, numbers to the totals, with the bounds under the
/// names that docs/trace.md states.
void describe(Trace& trace, nlohmann::ordered_json const& values);

}  // namespace granary::app
