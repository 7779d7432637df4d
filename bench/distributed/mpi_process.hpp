// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/host_workers.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/core/model/distribution.hpp>
#include <granary/detail/core/model/peers.hpp>
#include <granary/detail/distributed/distributed_submitter.hpp>
#include <granary/detail/mpi/mpi_transport.hpp>
#include <granary/detail/policies/registry.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/support/measure.hpp"

namespace granary::bench {

using namespace detail;

/// An engine with CPU workers and host memory, as one process of MPI.
class Process {
 public:
  Process(MpiTransport& transport, Distribution dealt, std::uint32_t workers, Bytes memory,
          std::string const& scheduler)
      : m_transport(transport),
        m_exchange(transport.self(), transport, [this](Event const& event) { m_engine->post(event); }) {
    Machine machine;
    auto const host = machine.add_node({"host", NodeKind::Host, memory, 64});
    for (std::uint32_t w = 0; w < workers; ++w) machine.add_worker({"core " + std::to_string(w), host});
    Topology topology(with_peers(machine, {.bandwidth = 5e9, .latency = std::chrono::microseconds(5)}, 16));
    NodeId const peers = topology.peers();
    EngineOptions options;
    options.outside = &m_exchange;
    EngineBackends backends{std::make_shared<HostWorkers>(workers),
                            std::vector<std::shared_ptr<CopyBackend>>(topology.machine().links.size())};
    m_engine = std::make_unique<Engine>(std::move(topology), make_policies(scheduler, default_eviction(scheduler)),
                                        std::make_unique<PerformanceModels>(), backends, options);
    transport.connect(m_exchange, *m_engine);
    m_submitter = std::make_unique<DistributedSubmitter>(
        transport.self(), [dealt](DataDescription const& datum, std::uint64_t) { return dealt.owner(datum.position); },
        *m_engine, peers, m_exchange);
    transport.start();
  }
  [[nodiscard]] Submitter& submitter() { return *m_submitter; }
  // The end of a phase, in all processes.
  void wait() {
    m_submitter->let_go_of_all();
    m_engine->wait();
    m_transport.barrier();
  }

 private:
  MpiTransport& m_transport;
  Exchange m_exchange;
  std::unique_ptr<Engine> m_engine;
  std::unique_ptr<DistributedSubmitter> m_submitter;
};

/// The rest of main(): parses the arguments and calls measure(), with Kokkos and an MPI for several threads. An error
/// ends all processes.
template <class Measure>
int run_program(int argc, char** argv, CLI::App& app, Measure&& measure) {
  warn_on_standard_error();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int status = 0;
  try {
    app.parse(argc, argv);
    if (provided < MPI_THREAD_MULTIPLE) throw InvalidArgument("this MPI has no MPI_THREAD_MULTIPLE");
    Kokkos::ScopeGuard const kokkos;
    measure();
  } catch (CLI::ParseError const& error) {
    status = app.exit(error);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

}  // namespace granary::bench
