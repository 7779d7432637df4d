// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/linalg/runtime/factor.hpp>

#include <bit>
#include <cstdint>

namespace granary {

using namespace detail;

PivotGrowth growth_of_all(detail::Session& session, PivotGrowth growth) {
  auto* const others = session.others();
  if (others == nullptr) return growth;
  // NaN is the largest, as in TileMaxima.
  auto const larger = [](double a, double b) { return a >= b || a != a ? a : b; };
  for (auto const& of :
       others->gather({std::bit_cast<std::uint64_t>(growth.matrix), std::bit_cast<std::uint64_t>(growth.factor)})) {
    growth.matrix = larger(growth.matrix, std::bit_cast<double>(of[0]));
    growth.factor = larger(growth.factor, std::bit_cast<double>(of[1]));
  }
  return growth;
}

}  // namespace granary
