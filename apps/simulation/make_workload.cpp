// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "make_workload.hpp"

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/algorithms/io_bounds.hpp>
#include <granary/detail/workloads/assembly_tree.hpp>
#include <granary/detail/workloads/growing_cholesky.hpp>
#include <granary/detail/workloads/random_dag.hpp>
#include <granary/detail/workloads/random_layers.hpp>
#include <granary/detail/workloads/sliced_stencil.hpp>
#include <granary/detail/workloads/stencil.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>
#include <granary/detail/workloads/tiled_gemm.hpp>
#include <granary/detail/workloads/tiled_lu.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

namespace granary::app {
namespace {

using Bound = Bytes (*)(std::uint64_t n, Bytes memory, Bytes element);

struct Algorithm {
  std::function<std::unique_ptr<workloads::Workload>(ProblemOptions const&, workloads::Tiling const&)> make;
  Bound bound = nullptr;        // none known
  bool has_priorities = false;  // of its own
};

Bytes square_gemm_io_bound(std::uint64_t n, Bytes memory, Bytes element) {
  return gemm_io_bound(n, n, n, memory, element);
}

std::unique_ptr<workloads::Workload> make_stencil(ProblemOptions const& options, workloads::Tiling const& tiling) {
  bool const solid = options.dimensions == 3;
  auto const face = solid ? tiling.tile * tiling.tile : tiling.tile;
  auto const elements = face * tiling.tile;
  // The sum of 2 d + 1 neighbours, scaled by a real number; complex elements are two numbers.
  auto const numbers = has_complex_scalars(tiling.precision) ? 2 * elements : elements;
  double const flops = static_cast<double>(numbers) * static_cast<double>(2 * options.dimensions + 2);
  return std::make_unique<workloads::Stencil>(
      workloads::Stencil::Options{.blocks = {tiling.tiles, tiling.tiles, solid ? tiling.tiles : 1},
                                  .iterations = options.iterations,
                                  .block_bytes = elements * tiling.element(),
                                  .halo_bytes = face * tiling.element(),
                                  .flops = flops,
                                  .variant = tiling.variant()});
}

std::unique_ptr<workloads::Workload> make_sliced_stencil(ProblemOptions const& options,
                                                         workloads::Tiling const& tiling) {
  return std::make_unique<workloads::SlicedStencil>(
      workloads::SlicedStencil::Options{.size = {tiling.tile, tiling.tile, tiling.tile},
                                        .slices = tiling.tiles,
                                        .iterations = options.iterations,
                                        .variant = tiling.variant()});
}

std::unique_ptr<workloads::Workload> make_random(ProblemOptions const& options, workloads::Tiling const& tiling) {
  return std::make_unique<workloads::RandomLayers>(
      workloads::RandomLayers::Options{.layers = tiling.tiles,
                                       .width = tiling.tiles,
                                       .bytes = tiling.tile_bytes(),
                                       .flops = tiling.flops(2 * tiling.cube()),
                                       .seed = options.graph_seed,
                                       .variant = tiling.variant()});
}

std::unique_ptr<workloads::Workload> make_random_dag(ProblemOptions const& options, workloads::Tiling const& tiling) {
  auto const tasks = tiling.tiles * tiling.tiles;
  return std::make_unique<workloads::RandomDag>(workloads::RandomDag::Options{.tasks = tasks,
                                                                              .inputs = (tasks + 3) / 4,
                                                                              .bytes = tiling.tile_bytes(),
                                                                              .flops = tiling.flops(2 * tiling.cube()),
                                                                              .seed = options.graph_seed,
                                                                              .variant = tiling.variant()});
}

template <workloads::AssemblyTree::Shape shape>
std::unique_ptr<workloads::Workload> make_tree(ProblemOptions const& options, workloads::Tiling const& tiling) {
  return std::make_unique<workloads::AssemblyTree>(workloads::AssemblyTree::Options{.shape = shape,
                                                                                    .levels = options.levels,
                                                                                    .root_blocks = tiling.tiles,
                                                                                    .block = tiling.tile,
                                                                                    .seed = options.graph_seed,
                                                                                    .precision = tiling.precision});
}

template <class TiledWorkload, auto... variant>
std::unique_ptr<workloads::Workload> make_tiled(ProblemOptions const&, workloads::Tiling const& tiling) {
  return std::make_unique<TiledWorkload>(tiling, variant...);
}

std::unique_ptr<workloads::Workload> make_growing(ProblemOptions const& options, workloads::Tiling const& tiling) {
  if (tiling.precision != detail::Precision::ComplexDouble)
    throw InvalidArgument("cholesky-growing is in complex double precision: --precision z");
  return std::make_unique<workloads::GrowingCholesky>(
      workloads::GrowingCholesky::Options{.tiles = tiling.tiles, .tile = tiling.tile, .seed = options.graph_seed});
}

std::map<std::string, Algorithm, std::less<>> const& algorithms() {
  static std::map<std::string, Algorithm, std::less<>> const known{
      {"cholesky", {make_tiled<workloads::TiledCholesky>, cholesky_io_bound}},
      {"cholesky-left", {make_tiled<workloads::TiledCholesky, true>, cholesky_io_bound}},
      {"cholesky-growing", {make_growing, nullptr, true}},
      {"lu", {make_tiled<workloads::TiledLu>, lu_io_bound}},
      {"lu-left", {make_tiled<workloads::TiledLu, true>, lu_io_bound}},
      {"lu-pivot", {make_tiled<workloads::TiledPivotedLu>, lu_io_bound}},
      {"lu-pivot-left", {make_tiled<workloads::TiledPivotedLu, true>, lu_io_bound}},
      {"gemm", {make_tiled<workloads::TiledGemm>, square_gemm_io_bound}},
      {"gemm-outer", {make_tiled<workloads::TiledGemm, workloads::GemmOrder::ByStep>, square_gemm_io_bound}},
      {"stencil", {make_stencil}},
      {"stencil-z", {make_sliced_stencil}},
      {"random", {make_random}},
      {"random-dag", {make_random_dag}},
      {"tree", {make_tree<workloads::AssemblyTree::Shape::Qr>}},
      {"tree-qr-tiles", {make_tree<workloads::AssemblyTree::Shape::QrTiles>}},
      {"tree-ldlt", {make_tree<workloads::AssemblyTree::Shape::Ldlt>}},
      {"graph", {}}};
  return known;
}

Problem read_graph(std::string const& path) {
  try {
    auto graph = std::make_unique<workloads::TaskGraphFile>(workloads::TaskGraphFile::read(path));
    bool const has_priorities = graph->has_priorities();
    return {std::move(graph), has_priorities};
  } catch (IoError const& error) {
    throw InvalidArgument(error.what());
  }
}

workloads::Tiling tiling_of(ProblemOptions const& options, ProblemSize const& size) {
  workloads::Tiling const tiling{size.tiles,         size.tile,         options.element(),
                                 options.inner_tile, options.commuting, size.n};
  tiling.check();
  return tiling;
}

}  // namespace

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (auto const& [name, algorithm] : algorithms()) names.push_back(name);
  return names;
}

void check_algorithm(std::string const& name) {
  if (algorithms().contains(name)) return;
  throw InvalidArgument(
      fmt::format("unknown algorithm '{}'; known ones: {}", name, fmt::join(algorithm_names(), ", ")));
}

Problem make_problem(ProblemOptions const& options, ProblemSize const& size) {
  if (options.algorithm == "graph") return read_graph(*options.graph);
  auto const& algorithm = algorithms().at(options.algorithm);
  if (size.n != 0 && algorithm.bound == nullptr) {
    throw InvalidArgument("--n is for Cholesky and LU factorizations and products, not " + options.algorithm);
  }
  return {algorithm.make(options, tiling_of(options, size)), algorithm.has_priorities};
}

Bytes io_bound(ProblemOptions const& options, ProblemSize const& size, Bytes memory, std::uint32_t memories) {
  auto const bound = algorithms().at(options.algorithm).bound;
  if (bound == nullptr || memories == 0) return 0;
  auto const tiling = tiling_of(options, size);
  if (memory >= make_problem(options, size).workload->working_set()) return 0;
  auto const of_one = [&](Bytes bytes) { return bound(tiling.order(), bytes, tiling.element()); };
  return io_bound_of_memories(of_one, memory, memories).all;
}

}  // namespace granary::app
