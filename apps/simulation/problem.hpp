// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/model/precision.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace granary::app {

/// A problem on a platform, without its size: what the programs that simulate have in common.
struct ProblemOptions {
  std::string platform;
  std::string algorithm = "cholesky";
  std::optional<std::string> graph;
  std::string precision = "s";
  std::uint64_t inner_tile = 0;   ///< of Cholesky and LU; 0: none
  bool commuting = false;         ///< updates of Cholesky, LU and GEMM
  std::uint64_t iterations = 16;  ///< of a stencil
  std::uint64_t dimensions = 2;   ///< of a stencil
  std::uint64_t levels = 6;       ///< of a tree
  std::uint64_t graph_seed = 1;   ///< of a random graph or tree

  /// Single for an unknown letter.
  [[nodiscard]] detail::Precision element() const {
    return precision_of_letter(precision).value_or(detail::Precision::Single);
  }
};

}  // namespace granary::app
