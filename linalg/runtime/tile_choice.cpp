// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/blas_threads.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/model_file.hpp>
#include <granary/detail/core/engine/performance_models.hpp>
#include <granary/detail/linalg/kernels/cold_kernels.hpp>
#include <granary/detail/linalg/runtime/tile_choice.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace granary {

using namespace detail;

namespace {

constexpr std::array tiles = {128, 192, 256, 384, 512, 768, 1024};
// More than the caches of a core hold. With the disk and the memory, whose speed the Runtime measures, the first run
// takes 0.3 s.
constexpr ColdKernelLimits limits{.processor_time = std::chrono::milliseconds(200), .memory = 64_MiB};
// From the end of a task to the begin of the next one.
constexpr double seconds_between = 15e-6;
// A finer graph must be expected to gain this part of the time of the whole.
constexpr double worth_inner = 0.005;
// Times that differ by less than this part do not count: of smaller tiles more fit in memory, which saves transfers.
constexpr double alike = 0.02;

struct Kernel {
  char const* codelet;
  double KernelSpeeds::*speed;
  double flops;  // of a tile of order 1
};
constexpr std::array kernels_kept = {Kernel{"gemm", &KernelSpeeds::gemm, 2.0}, Kernel{"syrk", &KernelSpeeds::syrk, 1.0},
                                     Kernel{"trsm", &KernelSpeeds::trsm, 1.0},
                                     Kernel{"potrf", &KernelSpeeds::potrf, 1.0 / 3}};

double cube(double x) { return x * x * x; }

bool is_single(ScalarType type) { return type == ScalarType::Float32 || type == ScalarType::Complex64; }
std::string variant_of(ScalarType type) { return is_single(type) ? "s alone" : "d alone"; }

// Its mean is left to be filled in.
KernelModel model_of(Kernel const& kernel, ScalarType type, int tile) {
  return {.codelet = kernel.codelet,
          .variant = variant_of(type),
          .flops = SizeClass::of(kernel.flops * cube(tile)).least_flops()};
}

bool same_class(KernelModel const& a, KernelModel const& b) {
  return a.codelet == b.codelet && a.variant == b.variant && a.kind == b.kind && a.flops == b.flops;
}

std::vector<KernelSpeeds> kept_speeds(MachineModels const& models, ScalarType type) {
  std::vector<KernelSpeeds> kept;
  for (int const tile : tiles) {
    KernelSpeeds speeds{.tile = tile};
    bool const all = std::ranges::all_of(kernels_kept, [&](Kernel const& kernel) {
      auto const wanted = model_of(kernel, type, tile);
      auto const known = std::ranges::find_if(models.kernels, [&](auto const& m) { return same_class(m, wanted); });
      if (known == models.kernels.end()) return false;
      speeds.*kernel.speed = 1 / known->mean;
      return true;
    });
    if (all) kept.push_back(speeds);
  }
  return kept;
}

std::vector<KernelSpeeds> measure_speeds(ScalarType type) {
  BlasLimit const one_thread(1);
  return is_single(type) ? measure_cold_kernels<float>(tiles, limits) : measure_cold_kernels<double>(tiles, limits);
}

void enter(MachineModels& models, std::vector<KernelSpeeds> const& measured, ScalarType type) {
  for (auto const& speeds : measured) {
    for (auto const& kernel : kernels_kept) {
      auto model = model_of(kernel, type, speeds.tile);
      std::erase_if(models.kernels, [&](auto const& known) { return same_class(known, model); });
      model.mean = 1 / speeds.*kernel.speed;
      model.samples = 1;
      models.kernels.push_back(std::move(model));
    }
  }
}

// The seconds of a graph of tasks: all of them on one core, and its longest chain.
struct Graph {
  double work = 0;
  double path = 0;

  [[nodiscard]] double on(double workers) const { return work / workers + (1 - 1 / workers) * path; }
};

// The seconds of one task of each kernel.
struct KernelTimes {
  explicit KernelTimes(KernelSpeeds const& speeds)
      : gemm(2 * cube(speeds.tile) / speeds.gemm + seconds_between),
        syrk(cube(speeds.tile) / speeds.syrk + seconds_between),
        trsm(cube(speeds.tile) / speeds.trsm + seconds_between),
        potrf(cube(speeds.tile) / 3 / speeds.potrf + seconds_between) {}
  double gemm, syrk, trsm, potrf;
};

// Of `parts` tile rows.
Graph potrf_graph(KernelTimes const& of, double parts) {
  return {.work = parts * of.potrf + parts * (parts - 1) / 2 * (of.trsm + of.syrk) +
                  parts * (parts - 1) * (parts - 2) / 6 * of.gemm,
          .path = parts * of.potrf + (parts - 1) * (of.trsm + of.syrk)};
}
Graph trsm_graph(KernelTimes const& of, double parts) {
  return {.work = parts * parts * of.trsm + parts * parts * (parts - 1) / 2 * of.gemm,
          .path = parts * of.trsm + (parts - 1) * of.gemm};
}
Graph syrk_graph(KernelTimes const& of, double parts) {
  return {.work = parts * parts * of.syrk + parts * parts * (parts - 1) / 2 * of.gemm, .path = parts * of.gemm};
}

// The times of a tile's tasks that run as finer graphs while other cores are idle.
KernelTimes with_inner(KernelTimes whole, int tile, KernelSpeeds const& inner, double workers) {
  KernelTimes const parts(inner);
  double const count = static_cast<double>(tile) / inner.tile;
  whole.potrf = std::min(whole.potrf, potrf_graph(parts, count).on(workers));
  whole.trsm = std::min(whole.trsm, trsm_graph(parts, count).on(workers));
  whole.syrk = std::min(whole.syrk, syrk_graph(parts, count).on(workers));
  return whole;
}

bool contains(TileRange const& range, int tile) {
  auto const size = static_cast<std::uint64_t>(tile);
  return size >= range.least && size <= range.most;
}

}  // namespace

std::vector<KernelSpeeds> tile_speeds(std::filesystem::path const& file, ScalarType type, bool measure) {
  try {
    if (auto const models = read_models(file)) {
      if (auto kept = kept_speeds(*models, type); !kept.empty()) return kept;
    }
  } catch (Error const&) {
    // The Runtime warns of such a file, and replaces it.
    return {};
  }
  if (!measure) return {};
  try {
    // Measure only what can be saved; otherwise every run would measure again.
    update_models(file, identify);
    auto measured = measure_speeds(type);
    update_models(file, [&](MachineModels& models) { enter(models, measured, type); });
    return measured;
  } catch (Error const&) {
    return {};
  }
}

TileChoice fastest_tile(std::span<KernelSpeeds const> speeds, std::uint64_t n, unsigned workers, TileRange range,
                        TileRange inner) {
  std::vector<TileChoice> choices;
  auto const cores = std::max(1.0, static_cast<double>(workers));
  for (auto const& of_tile : speeds) {
    if (!contains(range, of_tile.tile)) continue;
    KernelTimes const whole(of_tile);
    auto const parts = std::max(1.0, static_cast<double>(n) / of_tile.tile);
    auto const graph = potrf_graph(whole, parts);
    TileChoice choice{.tile = static_cast<std::uint64_t>(of_tile.tile), .seconds = graph.on(cores)};
    double const least = (1 - worth_inner) * choice.seconds;
    for (auto const& of_inner : speeds) {
      if (workers < 2 || 2 * of_inner.tile > of_tile.tile || !contains(inner, of_inner.tile)) continue;
      auto const path = potrf_graph(with_inner(whole, of_tile.tile, of_inner, cores), parts).path;
      double const seconds = Graph{graph.work, path}.on(cores);
      if (seconds < std::min(choice.seconds, least)) choice = {choice.tile, of_inner.tile, seconds};
    }
    choices.push_back(choice);
  }
  if (choices.empty()) return {};
  double const enough = (1 + alike) * std::ranges::min(choices, {}, &TileChoice::seconds).seconds;
  return *std::ranges::find_if(choices, [&](TileChoice const& choice) { return choice.seconds <= enough; });
}

}  // namespace granary
