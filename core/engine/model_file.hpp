// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace granary::detail {

/// The learnt time of a codelet on a kind of worker, for one size class.
struct GRANARY_EXPORT KernelModel {
  std::string codelet;
  std::string variant;
  WorkerKind kind = WorkerKind::Cpu;
  double flops = 0;           ///< lower bound of the class, see SizeClass; 0 for tasks without stated flops
  double mean = 0;            ///< seconds per flop, or seconds where `flops` is 0
  std::uint64_t samples = 0;  ///< 0: only a warm-up was measured
};

/// The measured speed of copies from one kind of memory to another.
struct GRANARY_EXPORT CopyModel {
  std::string from;  ///< "memory", or "disk" and the mount point of its file system
  std::string to;
  double bytes_per_second = 0;
  Duration latency{0};
};

/// The models and link speeds of a machine.
struct GRANARY_EXPORT MachineModels {
  std::string host;
  std::string cpu;
  unsigned cores = 0;
  std::vector<KernelModel> kernels;
  std::vector<CopyModel> links;

  [[nodiscard]] CopyModel const* link(std::string_view from, std::string_view to) const;
};

[[nodiscard]] GRANARY_EXPORT std::string_view name_of(WorkerKind kind);

/// Reads a file of models; empty if there is none. Throws Error when it cannot be read. Throws DataError, with the file
/// and the fault, when its content is invalid: truncated, another format, a time that is not above zero.
[[nodiscard]] GRANARY_EXPORT std::optional<MachineModels> read_models(std::filesystem::path const& file);

/// Applies `change` to the file's models and writes the result; the models are empty if the file is absent or damaged.
/// Creates missing folders. Readers see the old or the new file. Concurrent updates of several processes are all kept,
/// unless the file system has no locks or another update takes more than a second. Throws Error when it cannot be
/// written, and DataError for a file of a newer format, which is not changed.
GRANARY_EXPORT void update_models(std::filesystem::path const& file, std::function<void(MachineModels&)> const& change);

}  // namespace granary::detail
