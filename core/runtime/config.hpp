// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/planner/options.hpp>

#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// What a Runtime is made with. What is left empty or zero is taken from the environment, and from the stated default
/// where that says nothing.
struct RuntimeOptions {
  std::string scheduler = {};  ///< GRANARY_SCHEDULER; "darts"
  std::string eviction = {};   ///< GRANARY_EVICTION; by default the one that goes with the scheduler
  /// CPU workers: GRANARY_WORKERS; one per core that the process may use. 0: none, devices do all the work.
  std::optional<unsigned> workers = {};
  /// Devices that work, too: GRANARY_DEVICES; "all". "none"; "all", those of the backend that granary was built for;
  /// "0,2", some of them; "host:4", so many emulated ones, with memories and links of their own on the host.
  std::string devices = {};
  /// Limit, in bytes, for each device's memory: GRANARY_DEVICE_MEMORY; 80 % of what is free on the device where that is
  /// least, 256 MiB of an emulated one.
  Bytes device_memory = 0;
  /// Lanes of execution on each device: GRANARY_DEVICE_LANES; 4, 1 of an emulated one.
  unsigned device_lanes = 0;
  /// Of each link of an emulated device: GRANARY_LINK_BANDWIDTH; 0: as fast as copies are.
  Bytes link_bytes_per_second = 0;
  /// Limit, in bytes, for granary's own copies of data in host memory: GRANARY_MEMORY; half of what the process may
  /// use. Views that are used in place lie in the application's memory and do not count.
  Bytes host_memory = 0;
  std::string scratch =
      {};  ///< directory for data without a home that memory does not hold: GRANARY_SCRATCH, TMPDIR; /var/tmp
  Bytes disk_bytes_per_second = 0;  ///< holds disk traffic to this; 0: as fast as the disk is
  std::uint32_t depth =
      PlannerOptions{}.depth;  ///< committed tasks per group of workers beyond those that run, at least 1
  /// `submit` sleeps while so many submitted tasks have not ended (see Engine::submit), so that memory does not grow
  /// with the graph: GRANARY_MAX_LIVE_TASKS; 100,000, some 40 MB. Policies see these tasks and no later ones.
  std::uint64_t max_live_tasks = 0;
  std::uint64_t seed = 0;  ///< of what a policy draws at random
  bool bind_workers =
      true;  ///< each worker's thread to a core, as far as there are enough; GRANARY_BIND=0 turns it off
  /// Directory in which performance models are kept from run to run, a folder for each machine, or "off" for models
  /// that end with the Runtime: GRANARY_MODELS; granary in the user's cache directory.
  std::string models = {};
  bool measure_links =
      true;  ///< once per machine, ~0.2 s, where `models` keeps it; GRANARY_MEASURE_LINKS=0 turns it off
  bool record_journal = false;  ///< see Runtime::engine().journal()
  /// File that gets what happened, when the Runtime ends, in the format of its ending (docs/trace.md): GRANARY_TRACE.
  std::string trace = {};
  bool record_trace = false;                                ///< without a file: see Runtime::trace
  std::uint64_t trace_events = TraceOptions{}.most_events;  ///< the most events that are kept; the rest is counted
  /// When no task and no transfer has ended for so long, the state of the run goes to the log: GRANARY_STALL_TIMEOUT,
  /// in seconds; 0: never.
  Duration stall_timeout{0};
};

/// The value of RuntimeOptions::models that keeps nothing.
inline constexpr char const* models_off = "off";

/// What an empty RuntimeOptions::models means: GRANARY_MODELS; $XDG_CACHE_HOME/granary; where that variable is not an
/// absolute path $HOME/.cache/granary; "off" where there is no home directory.
[[nodiscard]] std::string models_directory();

/// OMP_NUM_THREADS, of the outermost level; 0 where it says nothing.
[[nodiscard]] unsigned openmp_threads();

/// Fills in what is empty or zero, from the environment, the host and its devices; variables that concern devices count
/// where there are some. This is the only reader of the environment in granary. Throws InvalidArgument for a malformed
/// value, naming the variable, for a scratch directory that is named and cannot be used, for no workers without
/// devices, for what is stated of devices where there are none, and what `find_devices` refuses.
[[nodiscard]] RuntimeOptions configure(RuntimeOptions options);

}  // namespace granary

#pragma GCC visibility pop
