// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/policies/registry.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace granary::detail {

/// Options of `auto`.
struct GRANARY_EXPORT AutoOptions {
  /// As for make_scheduler, the likely ones first. Empty: those that say so in the registry (SchedulerEntry::AutoUse).
  std::vector<std::string> candidates = {};
  std::string schedule = {};     ///< one more candidate: a static schedule; empty: none
  std::string first = {};        ///< before the codelets were measured; empty: as the registry says
  std::uint64_t tasks = 10'000;  ///< that may be simulated in any case
  std::uint64_t seed = 0;        ///< of the policies
};

/// A scheduler with an eviction policy.
struct GRANARY_EXPORT Candidate {
  std::string scheduler;
  std::string eviction;
};

/// The schedulers among which `auto` chooses. What it knows of them is in the registry.
class GRANARY_EXPORT Candidates {
 public:
  explicit Candidates(AutoOptions options);
  /// All candidates evict with this policy.
  void evict_with(std::string eviction) { m_eviction = std::move(eviction); }

  /// The likely ones first. `fits`: all data fit in the memory of each device, or of the host if there are none.
  [[nodiscard]] std::vector<Candidate> likely(bool fits, bool kinds_differ) const;
  [[nodiscard]] Candidate with_eviction(std::string const& scheduler) const;
  /// The scheduler of the beginning of a run, until codelets are measured.
  [[nodiscard]] std::string const& first() const { return m_options.first; }
  /// The same, if those of the first tasks were measured.
  [[nodiscard]] static std::string first_measured(bool one_memory);
  [[nodiscard]] std::uint64_t seed() const { return m_options.seed; }
  [[nodiscard]] bool is_schedule(std::string const& scheduler) const { return scheduler == m_options.schedule; }

 private:
  AutoOptions m_options;
  std::string m_eviction;  // the user's; empty: the candidates' own
};

}  // namespace granary::detail
