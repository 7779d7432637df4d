// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/address_space.hpp>

#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/start_thread.hpp>
#include <granary/detail/runtime/setup/devices.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace granary {

using namespace detail;

namespace {

constexpr Bytes openblas_buffer = 128_MiB;  // on x86-64; less elsewhere
constexpr unsigned other_threads = 8;       // I/O, signals, progress, driver
constexpr Bytes heap = 32_MiB;

// Emulated devices lie in the process; each has one thread per lane and two for its links.
struct Emulated {
  Bytes memory = 0;
  unsigned threads = 0;
};
Emulated emulated_of(RuntimeOptions const& options) {
  auto const names = parse_devices(options.devices);
  if (names.kind != DeviceNames::Kind::Emulated) return {};
  auto const devices = static_cast<unsigned>(names.emulated);
  return {devices * options.device_memory, devices * (options.device_lanes + 2)};
}

}  // namespace

AddressSpace find_address_space() {
  auto const limits = discover_memory();
  // In pages: all, resident, shared, text, libraries, data with stacks.
  std::array<Bytes, 6> pages{};
  std::ifstream file("/proc/self/statm");
  for (auto& count : pages) file >> count;
  auto const page = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  AddressSpace const all{.limit = limits.address_space, .used = pages[0] * page};
  AddressSpace const data{.limit = limits.data_segment, .used = pages[5] * page, .of = "data (ulimit -d)"};
  return data.left() < all.left() ? data : all;
}

Bytes addresses_beside_data(RuntimeOptions const& options, bool openblas) {
  auto const emulated = emulated_of(options);
  auto const callers = *options.workers * std::max(options.cores_per_worker, 1U) + emulated.threads;
  return heap + (callers + other_threads) * thread_stack() + (openblas ? callers * openblas_buffer : 0);
}

void check_address_space(RuntimeOptions const& options, AddressSpace const& space, bool openblas) {
  if (space.limit >= unbounded) return;
  Bytes const devices = emulated_of(options).memory;
  Bytes const beside = addresses_beside_data(options, openblas);
  Bytes const left = space.left();
  if (options.host_memory <= left && devices <= left - options.host_memory &&
      beside <= left - options.host_memory - devices) {
    return;
  }
  throw InvalidArgument("the process may use " + format_bytes(space.limit) + " of " + space.of + ", of which " +
                        format_bytes(left) + " are free, but the runtime needs about " + format_bytes(beside) +
                        " for " + std::to_string(*options.workers) + " workers and other threads" +
                        (openblas ? " that call OpenBLAS" : "") + ", and " +
                        format_bytes(options.host_memory + devices) +
                        " for data: raise the limit, use fewer workers (--workers, GRANARY_WORKERS) or lower the "
                        "memory limit (--memory, "
                        "GRANARY_MEMORY)");
}

}  // namespace granary
