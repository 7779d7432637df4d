// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/mpi/mpi_transport.hpp>
#include <granary/detail/mpi/node_share.hpp>
#include <granary/detail/mpi/runtime.hpp>
#include <granary/detail/runtime/setup/warnings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace granary::mpi {

NodeShare node_share(MPI_Comm communicator, std::vector<unsigned> const& cores) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0, size = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  std::uint64_t ours = 0;
  for (auto const core : cores) ours = (ours ^ core) * 0x9e3779b97f4a7c15U;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
  MPI_Allgather(&ours, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, node);
  MPI_Comm_free(&node);
  return {.number = static_cast<unsigned>(rank),
          .count = static_cast<unsigned>(size),
          .number_on_cores = static_cast<unsigned>(std::count(all.begin(), all.begin() + rank, ours)),
          .count_on_cores = static_cast<unsigned>(std::ranges::count(all, ours))};
}

Runtime runtime(MPI_Comm communicator, RuntimeOptions const& options) {
  auto transport = std::make_shared<MpiTransport>(communicator);
  auto const resources = find_node_resources();
  auto const share = node_share(communicator, resources.cores);
  if (auto const warning = find_narrow_binding(share, resources); warning && transport->is_first()) warn_once(*warning);
  transport->start();
  return Runtime(share_node(options, share, resources), std::move(transport));
}

}  // namespace granary::mpi
