// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/export.hpp>
#include <granary/core/base/ids.hpp>

#include <memory>
#include <utility>

namespace granary {

class Engine;
class Submitter;

namespace detail {

/// Ends registrations of a Runtime's data, if that has not ended before.
class GRANARY_EXPORT DataReleaser {
 public:
  DataReleaser() = default;
  /// `submitter` has registered the data; it exists as long as the engine.
  DataReleaser(std::weak_ptr<Engine> engine, Submitter& submitter)
      : m_engine(std::move(engine)), m_submitter(&submitter) {}

  /// Of one registration. Failures are logged.
  void release(DataId data) const noexcept;
  /// Whether the Runtime has ended.
  [[nodiscard]] bool ended() const { return m_engine.expired(); }

 private:
  std::weak_ptr<Engine> m_engine;
  Submitter* m_submitter = nullptr;
};

}  // namespace detail
}  // namespace granary
