// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/configure.hpp>

#include <granary/detail/auto/register_auto.hpp>
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/backends/host_workers.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/address_space.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/host_plan.hpp>
#include <granary/detail/trace/trace_file.hpp>

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace granary {

using namespace detail;

namespace {

constexpr unsigned most_workers = 1024;
constexpr unsigned most_cores_per_worker = 512;  // threads of an instance of Kokkos::OpenMP
constexpr unsigned most_lanes = 64;
constexpr Bytes most_memory = Bytes{1} << 47;  // the address space of a process

unsigned parse_count(char const* name, std::string const& text) {
  unsigned count = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw InvalidArgument(std::string(name) + " is '" + text + "'; a number is needed");
  }
  return count;
}

Duration parse_seconds(char const* name, std::string const& text) {
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value < 1e9)) {
    throw InvalidArgument(std::string(name) + " is '" + text + "'; a number of seconds is needed");
  }
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

Bytes parse_size(char const* name, std::string const& text) {
  try {
    return parse_bytes(text);
  } catch (InvalidArgument const& error) {
    throw InvalidArgument(std::string(name) + ": " + error.what());
  }
}

// An option of 0 asks for the default; a variable that is set does not.
template <class Number>
Number above_zero(char const* name, Number number) {
  if (number == 0) throw InvalidArgument(std::string(name) + " is 0; it must be above zero");
  return number;
}

// Sets the option from the variable if it is zero; the variable's value may end with `unit`.
void fill_in(Bytes& option, char const* name, std::string_view unit = "") {
  auto text = environment_variable(name);
  if (option != 0 || text.empty()) return;
  if (text.ends_with(unit)) text.resize(text.size() - unit.size());
  option = above_zero(name, parse_size(name, text));
}
void fill_in(unsigned& option, char const* name) {
  if (auto const text = environment_variable(name); option == 0 && !text.empty())
    option = above_zero(name, parse_count(name, text));
}

void check_directory(std::string const& directory) {
  std::error_code ignored;
  if (std::filesystem::exists(directory, ignored) && !std::filesystem::is_directory(directory, ignored))
    throw InvalidArgument("cannot use scratch directory '" + directory + "': it is not a directory");
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw InvalidArgument("cannot use scratch directory '" + directory + "': " + std::strerror(errno));
  }
}

// Sets the option from the variable if it is empty; errors of `check` then begin with the variable's name.
template <class Check>
void fill_in(std::string& option, char const* name, Check const& check) {
  auto const text = environment_variable(name);
  if (!option.empty() || text.empty()) return;
  try {
    static_cast<void>(check(text));
  } catch (InvalidArgument const& error) {
    throw InvalidArgument(std::string(name) + ": " + error.what());
  }
  option = text;
}

// Turns the option off if the variable is 0.
void switch_off(bool& option, char const* name) {
  auto const text = environment_variable(name);
  if (!text.empty() && text != "0" && text != "1") {
    throw InvalidArgument(std::string(name) + " is '" + text + "'; it must be 0 or 1");
  }
  if (text == "0") option = false;
}

// Checks look at the values where the application has them.
void configure_check(RuntimeOptions& options) {
  auto const text = environment_variable("GRANARY_CHECK");
  if (!text.empty() && text != "0" && text != "1" && text != "reads" && text != "orders")
    throw InvalidArgument("GRANARY_CHECK is '" + text + "'; it must be 0, 1, reads or orders");
  options.check_reads = options.check_reads || text == "reads";
  options.check_orders = options.check_orders || text == "orders";
  options.check = options.check || options.check_reads || options.check_orders || text == "1";
  if (!options.check) return;
  // A submission that sleeps would wait for tasks that wait for it.
  if (options.check_reads) options.booking = "none";
  if (options.devices.empty()) options.devices = environment_variable("GRANARY_DEVICES");
  if (options.devices.empty()) options.devices = "none";
  if (options.devices != "none" || options.workers == 0U) {
    throw InvalidArgument(
        "tasks are checked on cores only: use at least one worker and no devices (GRANARY_CHECK, "
        "RuntimeOptions::check, devices and workers)");
  }
}

void configure_live_tasks(RuntimeOptions& options) {
  constexpr auto name = "GRANARY_MAX_LIVE_TASKS";
  if (options.max_live_tasks > 0) return;
  auto const text = environment_variable(name);
  options.max_live_tasks = text.empty() ? EngineOptions{}.booking.max_live_tasks : parse_count(name, text);
  if (options.max_live_tasks == 0) throw InvalidArgument(std::string(name) + " is 0; it must be at least 1");
}

void configure_devices(RuntimeOptions& options) {
  using Kind = DeviceNames::Kind;
  fill_in(options.devices, "GRANARY_DEVICES", parse_devices);
  // Without a choice of devices, all that exist.
  bool const open = options.devices.empty();
  auto kind = open ? Kind::All : parse_devices(options.devices).kind;
  if (open) {
    auto const api = make_vendor_api();
    kind = api && api->devices() > 0 ? Kind::All : Kind::None;
    options.devices = kind == Kind::All ? "all" : "none";
  }
  if (kind != Kind::Emulated && options.link_bytes_per_second > 0) {
    throw InvalidArgument("a link bandwidth was given, but it applies only to emulated devices");
  }
  if (kind == Kind::None) {
    if (options.device_memory > 0) throw InvalidArgument("a device memory limit was given, but there are no devices");
    if (options.device_lanes > 0) throw InvalidArgument("a number of device lanes was given, but there are no devices");
    return;
  }
  fill_in(options.device_memory, "GRANARY_DEVICE_MEMORY");
  fill_in(options.device_lanes, "GRANARY_DEVICE_LANES");
  if (options.device_lanes == 0) options.device_lanes = kind == Kind::Emulated ? 1 : 4;
  if (options.device_lanes > most_lanes) {
    throw InvalidArgument(std::to_string(options.device_lanes) + " lanes on each device are more than " +
                          std::to_string(most_lanes));
  }
  if (kind == Kind::Emulated) {
    fill_in(options.link_bytes_per_second, "GRANARY_LINK_BANDWIDTH", "/s");
    if (options.device_memory == 0) options.device_memory = 256_MiB;
  }
  options.device_memory = find_devices(options).memory;
}

void configure_workers(RuntimeOptions& options) {
  if (auto const text = environment_variable("GRANARY_WORKERS"); !options.workers && !text.empty())
    options.workers = parse_count("GRANARY_WORKERS", text);
  fill_in(options.cores_per_worker, "GRANARY_CORES_PER_WORKER");
  if (options.cores_per_worker == 0) options.cores_per_worker = 1;
  if (options.cores_per_worker > most_cores_per_worker) {
    throw InvalidArgument(std::to_string(options.cores_per_worker) + " cores per worker are more than " +
                          std::to_string(most_cores_per_worker));
  }
  if (options.workers != 0U) check_cores_per_worker(options.cores_per_worker);
  if (!options.workers || (*options.workers > 0 && options.cores_per_worker > 1)) {
    auto const fitting = default_workers(options, discover_topology());
    if (!options.workers) options.workers = fitting;
  }
  if (*options.workers > most_workers) {
    throw InvalidArgument(std::to_string(*options.workers) + " workers are more than " + std::to_string(most_workers));
  }
}

void check_host_memory(Bytes limit) {
  if (limit <= most_memory) return;
  throw InvalidArgument("a memory limit of " + format_bytes(limit) + " is more than the " + format_bytes(most_memory) +
                        " of address space that a process has; this one may use " +
                        format_bytes(discover_host().memory) +
                        " of memory: lower the limit (--memory, GRANARY_MEMORY, RuntimeOptions::host_memory)");
}

}  // namespace

RuntimeOptions configure(RuntimeOptions options) {
  register_auto();
  fill_in(options.scheduler, "GRANARY_SCHEDULER", [](auto const& text) { return make_scheduler(text); });
  if (options.scheduler.empty()) options.scheduler = "auto";
  fill_in(options.eviction, "GRANARY_EVICTION",
          [&](auto const& text) { return make_policies(options.scheduler, text); });
  if (options.eviction.empty()) options.eviction = default_eviction(options.scheduler);
  fill_in(options.host_memory, "GRANARY_MEMORY");
  configure_live_tasks(options);
  fill_in(options.booking, "GRANARY_BOOKING", booking_named);
  if (options.booking.empty()) options.booking = name_of(BookingOptions::Policy::Ours);
  static_cast<void>(booking_named(options.booking));
  switch_off(options.bind_workers, "GRANARY_BIND");
  if (options.models.empty()) options.models = models_directory();
  switch_off(options.measure_links, "GRANARY_MEASURE_LINKS");
  if (auto const text = environment_variable("GRANARY_STALL_TIMEOUT");
      options.stall_timeout == Duration{0} && !text.empty())
    options.stall_timeout = parse_seconds("GRANARY_STALL_TIMEOUT", text);
  if (options.trace.empty()) options.trace = environment_variable("GRANARY_TRACE");
  if (!options.trace.empty()) check_trace_file(options.trace);
  if (options.save_schedule.empty()) options.save_schedule = environment_variable("GRANARY_SAVE_SCHEDULE");
  if (!options.save_schedule.empty()) check_text_output(options.save_schedule, {});
  configure_workers(options);
  configure_check(options);
  if (options.host_memory == 0) options.host_memory = discover_memory().least() / 2;
  check_host_memory(options.host_memory);
  configure_devices(options);
  if (*options.workers == 0 && options.devices == "none") {
    throw InvalidArgument("with 0 workers and no devices nothing can run tasks");
  }
  check_address_space(options, find_address_space(), blas_threads() != 0);
  if (options.depth == 0) throw InvalidArgument("the depth is 0; it must be at least 1");
  if (!options.scratch.empty()) check_directory(options.scratch);
  fill_in(options.scratch, "GRANARY_SCRATCH", check_directory);
  fill_in(options.scratch, "TMPDIR", check_directory);
  if (options.scratch.empty()) options.scratch = "/var/tmp";
  return options;
}

Bytes task_memory(RuntimeOptions const& options) {
  auto const device = device_capacity(options);
  return device > 0 ? std::min(options.host_memory, device) : options.host_memory;
}

}  // namespace granary
