// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of one size from process 0 to process 1: with MPI alone, and as values that tasks of
// process 1 read, with all that this implies; each value has its own memory. Prints one line of JSON with the best
// rates.
#include "bench/distributed/mpi_process.hpp"

#include <granary/detail/core/base/error.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

using namespace granary;
using namespace granary::detail;
using Clock = std::chrono::steady_clock;

constexpr int window = 8;  // messages under way, as MpiWireOptions::sends

struct Options {
  Bytes bytes = 2_MiB;
  int values = 256;
  int repeats = 5;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double with_mpi_alone(Options const& options, int self, std::vector<std::byte>& memory) {
  std::vector<MPI_Request> requests(window, MPI_REQUEST_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  auto const start = Clock::now();
  auto* place = memory.data();
  for (int v = 0; v < options.values; ++v) {
    auto& request = requests[static_cast<std::size_t>(v % window)];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    auto const count = static_cast<int>(options.bytes);
    if (self == 0) MPI_Isend(place, count, MPI_BYTE, 1, v, MPI_COMM_WORLD, &request);
    if (self == 1) MPI_Irecv(place, count, MPI_BYTE, 0, v, MPI_COMM_WORLD, &request);
    place += options.bytes;
  }
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  return seconds_since(start);
}

void run_nothing(KernelCall const&) {}
void run_fill(KernelCall const& call) {
  std::fill_n(call.data[0], *static_cast<Bytes const*>(call.parameters), std::byte{1});
}

double with_values(bench::Process& process, Options const& options) {
  auto& submitter = process.submitter();
  Codelet fill{.name = "fill", .kernels = {run_fill, nullptr}, .launches_kokkos_kernels = false};
  Codelet read{.name = "read", .kernels = {run_nothing, nullptr}, .launches_kokkos_kernels = false};
  auto const fill_id = submitter.add_codelet(fill), read_id = submitter.add_codelet(read);
  std::vector<DataId> values;
  // The mark belongs to process 1, which so runs the tasks that write it and read a value.
  auto const mark = submitter.add_data({.name = "mark", .bytes = 8, .position = {.row = 0, .column = 1}});
  for (int v = 0; v < options.values; ++v) {
    values.push_back(
        submitter.add_data({.name = "value", .bytes = options.bytes, .position = {.row = 0, .column = 0}}));
    Access const written[] = {{values.back(), AccessMode::Write}};
    submitter.submit({fill_id, written, 0, 0}, Parameters(Bytes{options.bytes}));
  }
  process.wait();
  auto const start = Clock::now();
  for (auto const value : values) {
    Access const accesses[] = {{value, AccessMode::Read}, {mark, AccessMode::Write}};
    submitter.submit({read_id, accesses, 0, 0}, Parameters(0));
  }
  process.wait();
  auto const seconds = seconds_since(start);
  for (auto const value : values) submitter.release_data(value);
  submitter.release_data(mark);
  process.wait();
  return seconds;
}

void measure(Options const& options) {
  int self = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (processes != 2) throw InvalidArgument("transport_bench needs two processes, not " + std::to_string(processes));
  double alone = 1e30, ours = 1e30;
  for (int r = 0; r < options.repeats; ++r) {
    {
      std::vector<std::byte> memory(static_cast<Bytes>(options.values) * options.bytes, std::byte{1});
      for (int again = 0; again < 3; ++again) alone = std::min(alone, with_mpi_alone(options, self, memory));
    }
    MpiTransport transport(MPI_COMM_WORLD);
    bench::Process process(transport, Distribution(1, 2), 1,
                           static_cast<Bytes>(options.values) * options.bytes * 2 + 64_MiB, "prio");
    for (int again = 0; again < 3; ++again) ours = std::min(ours, with_values(process, options));
  }
  if (self != 0) return;
  auto const bytes = static_cast<double>(options.bytes) * options.values;
  nlohmann::ordered_json const line{{"bytes", options.bytes},
                                    {"values", options.values},
                                    {"mpi_bytes_per_second", bytes / alone},
                                    {"wire_bytes_per_second", bytes / ours},
                                    {"ratio", alone / ours}};
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Bandwidth of values between two processes; one line of JSON.");
  app.add_option("--bytes", options.bytes)->check(CLI::Range(1, 1 << 30));
  app.add_option("--values", options.values)->check(CLI::Range(1, 1 << 20));
  app.add_option("--repeat", options.repeats)->check(CLI::Range(1, 1000));
  return bench::run_program(argc, argv, app, [&] { measure(options); });
}
