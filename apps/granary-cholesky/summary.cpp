// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "summary.hpp"

#include <granary/linalg/io_bounds.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace granary::app {
namespace {

struct Bounds {
  explicit Bounds(Report const& report)
      : symmetric(cholesky_io_bound(report.n, report.memory_limit, size_of(report.type))),
        nonsymmetric(cholesky_io_bound_nonsymmetric(report.n, report.memory_limit, size_of(report.type))),
        compulsory(cholesky_compulsory(report.n, size_of(report.type))) {}
  Bytes symmetric;
  Bytes nonsymmetric;
  Bytes compulsory;
};

double gflops(Report const& report) { return cholesky_flops(report.n) / std::max(report.seconds, 1e-9) * 1e-9; }

std::string megabytes(Bytes bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6); }

}  // namespace

std::string format_summary(Report const& report) {
  Bounds const bounds(report);
  double const floor = static_cast<double>(std::max(bounds.symmetric, bounds.compulsory));
  std::string text;
  auto const line = [&](char const* name, std::string const& value) { text += fmt::format("{:<22}{}\n", name, value); };
  line("matrix", fmt::format("n = {}, {}", report.n, name_of(report.type)));
  line("tile", fmt::format("{}", report.tile));
  line("workers", fmt::format("{}", report.workers));
  line("policies", fmt::format("{} with {}, {} tasks ahead", report.scheduler, report.eviction, report.depth));
  line("memory limit", megabytes(report.memory_limit));
  line("peak tile memory", megabytes(report.memory_peak));
  line("time", fmt::format("{:.3f} s", report.seconds));
  line("speed", fmt::format("{:.1f} GFlop/s", gflops(report)));
  line("read from disk", fmt::format("{}, {:.2f} times the least", megabytes(report.bytes_read),
                                     static_cast<double>(report.bytes_read) / floor));
  line("written to disk", megabytes(report.bytes_written));
  line("I/O lower bound",
       fmt::format("{}; {} without using symmetry", megabytes(bounds.symmetric), megabytes(bounds.nonsymmetric)));
  line("compulsory", fmt::format("{} to read, as much to write", megabytes(bounds.compulsory)));
  line("tasks", fmt::format("{}", report.tasks));
  line("waiting for data", fmt::format("{:.3f} s, all workers together", report.wait_seconds));
  line("deciding", fmt::format("{:.3f} s", report.decision_seconds));
  if (report.residual) line("residual", fmt::format("{:.3g} = |A - L L^T| / (n eps |A|)", *report.residual));
  return text;
}

std::string format_json(Report const& report) {
  Bounds const bounds(report);
  nlohmann::ordered_json json{
      {"n", report.n},
      {"tile", report.tile},
      {"precision", name_of(report.type)},
      {"workers", report.workers},
      {"scheduler", report.scheduler},
      {"eviction", report.eviction},
      {"depth", report.depth},
      {"memory_limit_bytes", report.memory_limit},
      {"memory_peak_bytes", report.memory_peak},
      {"seconds", report.seconds},
      {"gflops", gflops(report)},
      {"bytes_read", report.bytes_read},
      {"bytes_written", report.bytes_written},
      {"io_bound_bytes", bounds.symmetric},
      {"io_bound_nonsymmetric_bytes", bounds.nonsymmetric},
      {"compulsory_bytes", bounds.compulsory},
      {"tasks", report.tasks},
      {"wait_seconds", report.wait_seconds},
      {"decision_seconds", report.decision_seconds},
  };
  if (report.residual) json["residual"] = *report.residual;
  return json.dump(2) + "\n";
}

}  // namespace granary::app
