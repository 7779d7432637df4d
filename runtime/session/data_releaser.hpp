// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace granary {

class Submitter;

namespace detail {

class Engine;

/// A Runtime among all of this process, also among those that have ended. Each counts its data from 0: a DataId alone
/// does not tell whose it is.
using RuntimeId = Id<struct RuntimeTag, std::uint32_t>;

/// Ends registrations of a Runtime's data, if that has not ended before.
class GRANARY_EXPORT DataReleaser {
 public:
  DataReleaser() = default;
  /// `submitter` has registered the data; it exists as long as the engine.
  DataReleaser(RuntimeId runtime, std::weak_ptr<Engine> engine, Submitter& submitter)
      : m_runtime(runtime), m_engine(std::move(engine)), m_submitter(&submitter) {}

  /// Of one registration. Failures are logged.
  void release(DataId data) const noexcept;
  /// True if the Runtime has ended.
  [[nodiscard]] bool ended() const { return m_engine.expired(); }
  [[nodiscard]] RuntimeId runtime_id() const { return m_runtime; }

 private:
  RuntimeId m_runtime;
  std::weak_ptr<Engine> m_engine;
  Submitter* m_submitter = nullptr;
};

}  // namespace detail
}  // namespace granary
