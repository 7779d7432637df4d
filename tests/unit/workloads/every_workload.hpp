// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/workloads/assembly_tree.hpp>
#include <granary/detail/workloads/random_dag.hpp>
#include <granary/detail/workloads/random_layers.hpp>
#include <granary/detail/workloads/sliced_stencil.hpp>
#include <granary/detail/workloads/stencil.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>
#include <granary/detail/workloads/tiled_cholesky.hpp>
#include <granary/detail/workloads/tiled_gemm.hpp>
#include <granary/detail/workloads/tiled_lu.hpp>

#include <memory>
#include <vector>

namespace granary::test {

/// One or more of each kind, small: data of at most 128 KiB, at most 13 of them in a task.
inline std::vector<std::unique_ptr<workloads::Workload>> every_workload() {
  workloads::Tiling const tiling{6, 64};
  std::vector<std::unique_ptr<workloads::Workload>> all;
  all.push_back(std::make_unique<workloads::TiledCholesky>(tiling));
  all.push_back(std::make_unique<workloads::TiledCholesky>(tiling, true));
  all.push_back(std::make_unique<workloads::TiledLu>(tiling));
  all.push_back(std::make_unique<workloads::TiledLu>(tiling, true));
  all.push_back(std::make_unique<workloads::TiledGemm>(tiling));
  all.push_back(std::make_unique<workloads::TiledGemm>(tiling, workloads::GemmOrder::ByStep));
  all.push_back(std::make_unique<workloads::Stencil>(workloads::Stencil::Options{
      .blocks = {4, 3, 1}, .iterations = 5, .block_bytes = 32768, .halo_bytes = 0, .flops = 1e5}));
  all.push_back(std::make_unique<workloads::Stencil>(workloads::Stencil::Options{
      .blocks = {3, 3, 2}, .iterations = 5, .block_bytes = 32768, .halo_bytes = 1024, .flops = 1e5}));
  all.push_back(std::make_unique<workloads::SlicedStencil>(
      workloads::SlicedStencil::Options{.size = {62, 30, 24}, .slices = 5, .iterations = 4}));
  all.push_back(std::make_unique<workloads::RandomLayers>(
      workloads::RandomLayers::Options{.layers = 8, .width = 8, .bytes = 8192, .flops = 1e6, .cpu_only = 0.2}));
  all.push_back(std::make_unique<workloads::RandomDag>(
      workloads::RandomDag::Options{.tasks = 64, .inputs = 16, .bytes = 8192, .flops = 1e6}));
  all.push_back(std::make_unique<workloads::AssemblyTree>(workloads::AssemblyTree::Options{
      .shape = workloads::AssemblyTree::Shape::Qr, .levels = 4, .root_blocks = 8, .block = 32}));
  all.push_back(std::make_unique<workloads::AssemblyTree>(workloads::AssemblyTree::Options{
      .shape = workloads::AssemblyTree::Shape::QrTiles, .levels = 4, .root_blocks = 8, .block = 32}));
  all.push_back(std::make_unique<workloads::AssemblyTree>(workloads::AssemblyTree::Options{
      .shape = workloads::AssemblyTree::Shape::Ldlt, .levels = 4, .root_blocks = 8, .block = 32}));
  all.push_back(std::make_unique<workloads::TaskGraphFile>(workloads::TaskGraphFile::record(*all.back())));
  return all;
}

}  // namespace granary::test
