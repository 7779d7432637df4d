// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/bottom_levels.hpp>
#include <granary/detail/linalg/priorities/cholesky.hpp>
#include <granary/detail/workloads/priorities.hpp>

namespace granary::workloads {

std::vector<std::int64_t> bottom_levels(detail::GraphRecorder const& record, ExpectedTime const& time) {
  auto const& tasks = record.tasks();
  return detail::bottom_levels(
      tasks.size(), [&](std::size_t i) { return detail::AccessList(record.accesses_of(tasks[i])); },
      [&](std::size_t i) { return time(tasks[i].codelet, tasks[i].flops); });
}

std::vector<std::int64_t> starpu_cholesky_priorities(std::uint64_t tiles) {
  std::vector<std::int64_t> priorities;
  auto const count = static_cast<std::int64_t>(tiles);
  for (std::int64_t k = 0; k < count; ++k) {
    priorities.push_back(2 * count - 2 * k);
    for (std::int64_t m = k + 1; m < count; ++m) priorities.push_back(2 * count - 2 * k - m);
    for (std::int64_t n = k + 1; n < count; ++n) {
      for (std::int64_t m = n; m < count; ++m) priorities.push_back(2 * count - 2 * k - m - n);
    }
  }
  return priorities;
}

std::vector<std::int64_t> library_cholesky_priorities(std::uint64_t tiles) {
  std::vector<std::int64_t> priorities;
  detail::CholeskyPriorities const of(tiles, {});
  for (std::uint64_t k = 0; k < tiles; ++k) {
    priorities.push_back(of.potrf(k));
    for (std::uint64_t i = k + 1; i < tiles; ++i) priorities.push_back(of.trsm(i, k));
    for (std::uint64_t j = k + 1; j < tiles; ++j) {
      priorities.push_back(of.syrk(j, k));
      for (std::uint64_t i = j + 1; i < tiles; ++i) priorities.push_back(of.gemm(i, j, k));
    }
  }
  return priorities;
}

}  // namespace granary::workloads
