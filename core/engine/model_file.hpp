// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/units.hpp>
#include <granary/core/model/machine.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// What was learnt of a codelet on a kind of worker, for one size class.
struct KernelModel {
  std::string codelet;
  std::string variant;
  WorkerKind kind = WorkerKind::Cpu;
  double flops = 0;           ///< the class's fewest, see SizeClass; 0 for tasks without stated flops
  double mean = 0;            ///< seconds per flop, or seconds where `flops` is 0
  std::uint64_t samples = 0;  ///< 0: only a warm-up was measured
};

/// What was measured of the copies from one kind of memory to another.
struct CopyModel {
  std::string from;  ///< "memory", or "disk" and the place where its file system is mounted
  std::string to;
  double bytes_per_second = 0;
  Duration latency{0};
};

/// What is known of a machine.
struct MachineModels {
  std::string host;
  std::string cpu;
  unsigned cores = 0;
  std::vector<KernelModel> kernels;
  std::vector<CopyModel> links;

  [[nodiscard]] CopyModel const* link(std::string_view from, std::string_view to) const;
};

[[nodiscard]] std::string_view name_of(WorkerKind kind);

/// Reads a file of models; nothing when there is none. Throws Error when it cannot be read, and DataError, naming the
/// file and what is wrong with it, when it is no such file: a truncated one, another format, a time that is not above
/// zero.
[[nodiscard]] std::optional<MachineModels> read_models(std::filesystem::path const& file);

/// Writes what `change` makes of the file's models, and of empty ones where the file is absent or damaged. Makes the
/// folders above it. Readers see the file of before or of after; of processes that update it at once each adds its
/// part. Throws Error when it cannot be written, and DataError for a file of a newer format, which is left alone.
void update_models(std::filesystem::path const& file, std::function<void(MachineModels&)> const& change);

}  // namespace granary

#pragma GCC visibility pop
