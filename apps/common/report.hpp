// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/trace.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/run_plan.hpp"

namespace granary::app {

/// The figures of a run.
struct RunFigures {
  std::size_t workers = 0;
  unsigned cores_per_worker = 1;
  std::vector<std::string> loaded = {};  ///< the libraries of --load
  std::string scheduler;
  std::string remark;  ///< Scheduler::remark
  std::string eviction;
  std::uint32_t depth = 0;
  Bytes memory_limit = 0;
  Bytes memory_peak = 0;
  double seconds = 0;
  Bytes bytes_read = 0;
  Bytes bytes_written = 0;
  std::uint64_t tasks = 0;
  Bytes booked_peak = 0;       ///< BookingStatistics
  std::uint64_t sleeps = 0;    ///< likewise: of submission
  double wait_seconds = 0;     ///< summed over the workers
  double blocked_seconds = 0;  ///< likewise: by kernels of other workers, with Kokkos before 4.0
  double decision_seconds = 0;
  std::vector<DeviceFigures> devices = {};
  Bytes device_memory = 0;  ///< limit per device, including the workspace of its lanes
  unsigned device_lanes = 0;
  RuntimeFigures::DeviceTraffic traffic = {};
  // With several processes, figures are sums. The limit holds for each; the peak and the time are the largest.
  Bytes bytes_sent = 0;
  std::uint32_t processes = 1;
  std::string grid = {};

  /// Of all processes together, for bounds of what they read.
  [[nodiscard]] Bytes all_memory() const { return memory_limit * processes; }
};

/// Lower bounds of the run's disk traffic, for matrices in files.
struct LeastTraffic {
  Bytes bound = 0;                               ///< for any order of the operations (io_bounds.hpp)
  std::optional<Bytes> nonsymmetric = {};        ///< the same without using symmetry
  Bytes compulsory = 0;                          ///< bytes to read, however large the memory is
  std::optional<Bytes> compulsory_written = {};  ///< absent: the same number
  bool reads_input = true;                       ///< from the disk; false: it is generated
  bool writes_output = true;
};

/// Residuals of the columns of a solution.
struct ColumnResiduals {
  std::vector<double> values = {};
  std::vector<std::string> names = {};  ///< empty without names
};

/// `column 3`, counted from 1, or with its name `column 3 (rain)`.
[[nodiscard]] std::string column_name(std::uint64_t column, std::vector<std::string> const& names);

/// A run's summary, as text and as JSON with stable keys.
class Report {
 public:
  void line(std::string const& name, std::string const& value);
  template <class Value>
  void value(std::string const& key, Value const& value) {
    m_json[key] = value;
  }
  /// Adds the scaled residual, as text with its formula and as "residual" in JSON, and the seconds of measuring it.
  /// Residuals of columns are "column_residuals", in the text the first ones. Throws Error, with the column, if the
  /// residual is not below the limit of LAPACK's own tests.
  void residual(double value, std::string const& formula, double check_seconds, ColumnResiduals const& columns = {});
  /// `flops`: real operations of the algorithm, for the rate.
  void add_run(RunPlan const& plan, RunFigures const& run, double flops, LeastTraffic const& least);

  [[nodiscard]] std::string const& text() const { return m_text; }
  [[nodiscard]] nlohmann::ordered_json const& values() const { return m_json; }
  [[nodiscard]] std::string json() const {
    // A file's name may not be valid UTF-8.
    return m_json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  /// Writes the text or the JSON as the options ask. Throws what write_text throws.
  void publish(RunOptions const& options) const;

 private:
  void add_traffic(RunFigures const& run, LeastTraffic const& least);
  void add_devices(RunFigures const& run);

  std::string m_text;
  nlohmann::ordered_json m_json;
};

/// Adds a report's values to a trace: texts to the configuration, numbers to the totals. Bounds get the names in
/// docs/trace.md.
void describe(Trace& trace, nlohmann::ordered_json const& values);

}  // namespace granary::app
