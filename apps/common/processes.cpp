// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/processes.hpp"

#include <granary/detail/core/base/signal_watch.hpp>
#include <granary/detail/runtime/setup/node_share.hpp>
#include <granary/detail/runtime/setup/warnings.hpp>

#ifdef GRANARY_HAVE_MPI
#include <granary/detail/mpi/mpi_transport.hpp>
#include <granary/detail/mpi/node_share.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#endif

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "apps/common/choose_blas.hpp"

namespace granary::app {

using namespace detail;

namespace {

std::shared_ptr<Processes> everyone;
NodeResources our_resources;
NodeShare our_share;
bool mpi_runs = false;

// Set by Open MPI, MPICH and its relatives, Slurm, and HPE's launcher. Slurm sets its own in every job step.
bool was_launched() {
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PALS_RANKID"};
  return std::ranges::any_of(variables, [](char const* name) { return is_in_environment(name); });
}

#ifdef GRANARY_HAVE_MPI
void start_processes() {
  add_error_kind<Interrupted>(
      "Interrupted", [](Interrupted const& error) { return std::to_string(error.signal()); },
      [](std::string const& signal) { return Interrupted(std::stoi(signal)); });
  if (!was_launched()) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  mpi_runs = true;
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  everyone = std::make_shared<MpiTransport>(MPI_COMM_WORLD);
  our_resources = find_node_resources();
  our_share = mpi::node_share(MPI_COMM_WORLD, our_resources.cores);
  if (!everyone->is_first()) {
    spdlog::set_level(spdlog::level::err);
    [[maybe_unused]] auto* const unread = std::freopen("/dev/null", "w", stdout);
  }
  if (auto const warning = find_narrow_binding(our_share, our_resources)) warn_once(*warning);
  everyone->start();
}

void end_processes() {
  if (!mpi_runs) return;
  if (everyone) everyone->stop();
  everyone.reset();
  MPI_Barrier(MPI_COMM_WORLD);  // what the first process prints comes before the launcher hears of a status
  MPI_Finalize();
  mpi_runs = false;
}
#else
void start_processes() {
  for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    auto const* const size = std::getenv(name);
    if (size == nullptr || std::atoi(size) < 2) continue;
    throw InvalidArgument(std::string("a launcher has started ") + size +
                          " processes, and granary was built without MPI: build it with GRANARY_MPI=ON");
  }
}
void end_processes() {}
#endif

bool prints_failure(std::exception_ptr const& error, int status) {
  if (everyone && !everyone->ended())
    static_cast<void>(everyone->leave(0, origin_of({.position = 0, .error = error}, everyone->self()), status));
  return is_first_process();
}

}  // namespace

RuntimeOptions on_this_node(RuntimeOptions const& options) {
  return everyone ? share_node(options, our_share, our_resources) : options;
}

std::shared_ptr<Processes> processes() { return everyone; }
bool is_first_process() { return !everyone || everyone->is_first(); }

std::string by_first_process(std::function<std::string()> const& function) {
  return everyone ? everyone->by_first(function) : function();
}

void require_common(std::string const& ours, std::string const& why) {
  auto const first = by_first_process([&] { return ours; });
  if (ours == first) return;
  throw InvalidArgument(
      fmt::format("process {} has {}, but process 0 has {}: {}", everyone->self().value(), ours, first, why));
}

void in_all_processes(std::function<void()> const& function) { everyone ? everyone->together(function) : function(); }

std::string own_file(std::string const& file) {
  if (is_first_process()) return file;
  auto const path = std::filesystem::path(file);
  auto const number = "." + std::to_string(everyone->self().value());
  return (path.parent_path() / (path.stem().string() + number + path.extension().string())).string();
}

ProgramHooks process_hooks(char** argv) {
  return {.start =
              [argv] {
                choose_blas(argv);
                start_processes();
              },
          .prints_failure = prints_failure,
          .end = end_processes};
}

}  // namespace granary::app
