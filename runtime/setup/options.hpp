// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/core/planner/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace granary {

/// The options of a Runtime. An option that is empty or zero is taken from its environment variable, or else has the
/// stated default.
///
/// ```cpp
/// using namespace granary::literals;
/// granary::Runtime runtime({.scheduler = "darts", .workers = 2, .host_memory = 64_MiB});
/// assert(runtime.options().host_memory == 64_MiB);
/// std::puts(runtime.options().scratch.c_str());  // where data go that do not fit
/// ```
struct GRANARY_EXPORT RuntimeOptions {
  std::string scheduler = {};  ///< GRANARY_SCHEDULER; "auto", which chooses by simulation
  std::string eviction = {};   ///< GRANARY_EVICTION; by default the one that belongs to the scheduler
  /// CPU workers: GRANARY_WORKERS; as many as `cores` has room for. 0: none, devices run all tasks.
  std::optional<unsigned> workers = {};
  /// Cores of each CPU worker: GRANARY_CORES_PER_WORKER; 1. Bodies on a worker of several cores get an instance of
  /// Kokkos::OpenMP with a thread on each (docs/kokkos.md); Kokkos 4.0 or newer with OpenMP is needed.
  unsigned cores_per_worker = 0;
  /// The system's numbers of the cores for workers; by default all that the process may use.
  std::vector<unsigned> cores = {};
  /// Devices to use besides the cores: GRANARY_DEVICES; "all". Values: "none"; "all" devices of the backend that
  /// granary was built for; "0,2", some of them; "0/4", device 0 divided into four; "host:4", four emulated devices
  /// with their own memories and links on the host.
  std::string devices = {};
  /// Limit, in bytes, for each device's memory: GRANARY_DEVICE_MEMORY; 80 % of the free memory of the device with the
  /// least, 256 MiB for emulated devices.
  Bytes device_memory = 0;
  /// Execution lanes per device: GRANARY_DEVICE_LANES; 4, 1 for emulated devices.
  unsigned device_lanes = 0;
  /// Bandwidth of each link of an emulated device: GRANARY_LINK_BANDWIDTH; 0: as fast as copies are.
  Bytes link_bytes_per_second = 0;
  /// Limit, in bytes, for granary's own copies of data in host memory: GRANARY_MEMORY; half of the memory that the
  /// process may use. Views that are used in place belong to the application and do not count.
  Bytes host_memory = 0;
  std::string scratch =
      {};  ///< directory for data without a home that do not fit in memory: GRANARY_SCRATCH, TMPDIR; /var/tmp
  Bytes disk_bytes_per_second = 0;  ///< limit for disk traffic; 0: as fast as the disk is
  std::uint32_t depth =
      detail::PlannerOptions{}.depth;  ///< committed tasks per group of workers beyond those that run, at least 1
  /// `submit` sleeps while this many submitted tasks have not ended (see Engine::submit), so that memory does not grow
  /// with the graph: GRANARY_MAX_LIVE_TASKS; 100,000, about 40 MB. Policies see only these tasks.
  std::uint64_t max_live_tasks = 0;
  /// How long submitted tasks book memory: "ours", "paper" (BookingOptions::Policy), or "none": `submit` never sleeps,
  /// whatever `max_live_tasks` is; and what of data that grow, as "ours:safe" (BookingOptions::Estimate).
  /// GRANARY_BOOKING; "ours".
  std::string booking = {};
  std::uint64_t seed = 0;  ///< of the policies' random numbers
  /// Binds each worker's threads to its cores, which are of one NUMA domain, if there are enough; GRANARY_BIND=0 turns
  /// it off.
  bool bind_workers = true;
  /// Directory in which performance models are kept between runs, one folder per machine; "off" keeps them only until
  /// the Runtime ends: GRANARY_MODELS; granary in the user's cache directory.
  std::string models = {};
  /// Measures links once per machine, in about 0.2 s, if `models` keeps the result. The programs also measure the
  /// speeds of tile kernels, in about 0.5 s. GRANARY_MEASURE_LINKS=0 turns both off.
  bool measure_links = true;
  bool record_journal = false;  ///< see Engine::journal
  /// File for the trace, written when the Runtime ends, in the format of its extension (docs/trace.md): GRANARY_TRACE.
  std::string trace = {};
  bool record_trace = false;                                ///< records the trace without a file: see Runtime::trace
  std::uint64_t trace_events = TraceOptions{}.most_events;  ///< limit of recorded events; the rest is only counted
  /// File for the schedule, which worker ran which tasks, written when the Runtime ends (docs/schedules.md):
  /// GRANARY_SAVE_SCHEDULE.
  std::string save_schedule = {};
  bool record_schedule = false;  ///< records it without a file: see Runtime::schedule
  /// Checks the tasks of the application while they run, one at a time and on cores only: a use of data that would give
  /// wrong results fails its task, its submission or the next wait with CheckFailed (docs/checking.md). GRANARY_CHECK=1
  /// turns it on.
  bool check = false;
  /// Also ends the program, with a sentence, where it reads or writes elements that a submitted task uses before it has
  /// waited for them: no task starts before a wait, or 0.2 s after the last submission. GRANARY_CHECK=reads. Implies
  /// `check`.
  bool check_reads = false;
  /// Also finds data that depend on the order of tasks that commute on them: the bodies of two such tasks run again, in
  /// the other order, on copies of what they had. GRANARY_CHECK=orders. Implies `check`.
  bool check_orders = false;
  /// When no task and no transfer has ended for this long, the state of the run is logged: GRANARY_STALL_TIMEOUT, in
  /// seconds; 0: never.
  Duration stall_timeout{0};
  /// Of several processes: the grid over which tiles of matrices are dealt; as square as their number allows.
  std::optional<Distribution> grid = {};
};

/// The value of RuntimeOptions::models that saves nothing.
inline constexpr char const* models_off = "off";

}  // namespace granary
