// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/command_line.hpp"

#include <granary/detail/core/base/error.hpp>

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "apps/common/choose_blas.hpp"
#include "apps/common/load_policies.hpp"
#include "apps/common/parse_arguments.hpp"
#include "apps/common/processes.hpp"
#include "apps/common/version.hpp"

namespace granary::app {
namespace {

bool has_unit(std::string const& size) {
  return !size.empty() && std::isalpha(static_cast<unsigned char>(size.back())) != 0;
}

constexpr char const* chosen = "auto";
constexpr char const* off = "off";

// CLI11's own range accepts NaN, which is neither below nor above the limits.
CLI::Validator seconds_in(double least, double most) {
  auto const range = fmt::format("[{} - {}]", least, most);
  return {[=](std::string& text) {
            double value = 0;
            bool const good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
            return good ? std::string() : "Value " + text + " not in range " + range;
          },
          "FLOAT in " + range, "seconds"};
}

}  // namespace

Bytes parse_rate(std::string text) {
  constexpr Bytes least = 1000;
  auto const whole = text;
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  Bytes rate = 0;
  try {
    if (has_unit(text)) rate = parse_bytes(text);
  } catch (InvalidArgument const&) {
    rate = 0;  // the error about rates has the remedy
  }
  if (rate >= least) return rate;
  throw InvalidArgument("malformed rate '" + whole +
                        "': write a number and a unit (case matters), at least 1kB/s, for example 200MB/s");
}

Bytes parse_memory(std::string const& text) {
  Bytes const memory = parse_bytes(text);
  if (memory == 0) throw InvalidArgument("malformed size '" + text + "': a memory limit must be above zero");
  return memory;
}

CommandLine::CommandLine(std::string const& name, std::string const& description, RunOptions& options)
    : m_options(options), m_app(description, name) {}

void CommandLine::add_common_options() {
  auto& runtime = m_options.runtime;
  m_app.add_option(
      "--memory", m_memory,
      "limit for tile data in memory, e.g. 512MiB or 150MB (default: half of the memory that the process may use)");
  m_app
      .add_option("--tile", m_tile,
                  "tile size (default: auto, which takes the input's chunk size, or what this machine is fastest with, "
                  "or 512; smaller if memory is small)")
      ->transform(whole_number(1, 32768, {chosen}));
  m_app.add_option("--scheduler", runtime.scheduler,
                   "scheduler (default: auto, which simulates several and takes the fastest)");
  m_app.add_option("--eviction", runtime.eviction, "eviction policy (default: the scheduler's own)");
  add_load_option(m_app, m_options.load);
  m_app
      .add_option("--workers", runtime.workers,
                  "CPU workers (default: one per available core); 0: only devices compute")
      ->transform(whole_number(0, 1024));
  m_app.add_option("--cores-per-worker", runtime.cores_per_worker, cores_per_worker_help)
      ->transform(whole_number(1, 512));
  add_device_options();
  m_app.add_option("--blas", m_options.blas, blas_option_help);
  m_app.add_option("--depth", runtime.depth, "number of tasks per worker group whose data are prefetched")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  m_app
      .add_option("--max-live-tasks", runtime.max_live_tasks,
                  "limit of submitted tasks that have not ended, about 300 bytes each (default: 100000)")
      ->transform(whole_number(1));
  m_app.add_option("--booking", runtime.booking,
                   "memory booked by submitted tasks, for which submission sleeps: ours, paper, or none, which also "
                   "lifts --max-live-tasks (default: ours)");
  m_app.add_option("--scratch", runtime.scratch,
                   "directory for temporary data (default: OUTPUT's directory, else TMPDIR or /var/tmp)");
  m_app.add_option("--disk-bandwidth", m_rate, "limit the disk to this many bytes per second, e.g. 200MB/s");
  m_app.add_flag("--float", m_options.single_precision, "generated matrices: single precision instead of double");
  m_app.add_flag("--complex", m_options.complex, "generated matrices: complex elements");
  m_app.add_option("--json", m_options.json,
                   "write the summary as JSON to this file; -: to standard output instead of the text");
  m_app
      .add_option("--progress", m_options.progress_seconds,
                  "print a progress line every N seconds, also if stderr is a file")
      ->check(seconds_in(0.01, 1e6));
  m_app
      .add_option("--stall-timeout", m_stall_seconds,
                  "print running and waiting tasks if no task and no transfer has ended for N seconds")
      ->check(seconds_in(0.01, 1e6));
  m_app.add_option("--trace", m_options.trace, "write a trace to this file: .json for Perfetto (docs/trace.md)");
  m_app.add_option("--report", m_options.report, "write a report of the run to this .html file (docs/report.md)");
  m_app.add_option("--save-schedule", m_options.save_schedule,
                   "write which worker ran which tasks to this .json file (docs/schedules.md)");
  m_app
      .add_option("--trace-events", runtime.trace_events,
                  "maximum number of recorded events; further ones are only counted")
      ->capture_default_str()
      ->transform(whole_number(1));
  m_app.add_flag("--quiet", m_options.quiet, "print only errors");
  m_app.set_version_flag("--version", [] { return version_text(); });
}

void CommandLine::add_run_options(std::string const& check) {
  add_common_options();
  m_app
      .add_option("--inner-tile", m_inner_tile,
                  "sub-tile size: large tasks may run as finer graphs of sub-tiles; off: they do not (default: auto)")
      ->transform(whole_number(1, 32768, {chosen, off}));
  m_app.add_option("--grid", m_grid,
                   "ROWSxCOLUMNS: several processes (mpirun) own tiles as in this grid (default: as square as their "
                   "number allows)");
  m_app.add_flag("--left-looking", m_options.left_looking, "submit the tasks in left-looking order");
  m_app.add_flag("--check", m_options.check, check);
}

void CommandLine::add_device_options() {
  auto& runtime = m_options.runtime;
  m_app.add_option("--devices", runtime.devices,
                   "devices to use: none, all, their numbers (0,2), or host:4 for four emulated ones (default: "
                   "all)");
  m_app.add_option("--device-memory", m_device_memory,
                   "limit for each device's memory (default: 80 % of the free memory; 256MiB if emulated)");
  m_app
      .add_option("--device-lanes", runtime.device_lanes,
                  "tasks that run concurrently on a device (default: 4; 1 if emulated)")
      ->transform(whole_number(1, 64));
  m_app.add_option("--link-bandwidth", m_link_rate,
                   "limit each link of emulated devices to this many bytes per second, e.g. 2GB/s");
}

bool CommandLine::parse(int argc, char const* const* argv) {
  if (!parse_arguments(m_app, argc, argv)) return false;
  load_policies(m_options.load);
  auto& runtime = m_options.runtime;
  runtime.record_trace = m_options.trace || m_options.report;
  runtime.record_schedule = m_options.save_schedule.has_value();
  if (!m_tile.empty() && m_tile != chosen) m_options.tile = std::stoull(m_tile);
  if (!m_inner_tile.empty() && m_inner_tile != chosen)
    m_options.inner_tile = m_inner_tile == off ? 0 : std::stoi(m_inner_tile);
  if (!m_memory.empty()) runtime.host_memory = parse_memory(m_memory);
  if (!m_rate.empty()) runtime.disk_bytes_per_second = parse_rate(m_rate);
  if (!m_device_memory.empty()) runtime.device_memory = parse_memory(m_device_memory);
  if (!m_link_rate.empty()) runtime.link_bytes_per_second = parse_rate(m_link_rate);
  if (!m_grid.empty()) runtime.grid = parse_grid(m_grid);
  auto const number = processes() ? processes()->count() : 1;
  if (runtime.grid && runtime.grid->processes() != number) {
    throw InvalidArgument(
        fmt::format("--grid {} has {} processes, and there {}", m_grid, runtime.grid->processes(),
                    number == 1 ? "is 1: start the program with mpirun or srun" : fmt::format("are {}", number)));
  }
  if (!is_first_process()) {
    m_options.json.reset();
    m_options.quiet = true;
  }
  for (auto* file : {&m_options.trace, &m_options.report, &m_options.save_schedule}) {
    if (*file) *file = own_file(**file);
  }
  if (m_stall_seconds > 0) runtime.stall_timeout = from_seconds(m_stall_seconds);
  if (runtime.scratch.empty() && m_options.output) {
    auto const directory = std::filesystem::path(*m_options.output).parent_path().string();
    runtime.scratch = directory.empty() ? "." : directory;
  }
  return true;
}

}  // namespace granary::app
