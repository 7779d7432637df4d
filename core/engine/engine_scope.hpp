// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

namespace granary::detail {

class Engine;

/// Marks the calling thread, while the object lives, as working for an engine: it runs tasks, launches kernels, or
/// reports the end of a copy. Such a thread must not wait for that engine, which would wait for it. Scopes nest: a task
/// of one engine may wait for another engine. Costs a few nanoseconds, no lock.
class GRANARY_EXPORT EngineScope {
 public:
  /// Null: `current()` is null while this is the innermost scope; what `within` returns does not change.
  explicit EngineScope(Engine const* engine);
  ~EngineScope();
  EngineScope(EngineScope const&) = delete;
  EngineScope& operator=(EngineScope const&) = delete;

  /// The engine of the innermost scope of the calling thread; null: none. Backends that run kernels on their own
  /// threads pass it on to them.
  [[nodiscard]] static Engine const* current();
  /// True if the calling thread works for `engine`, in any of its scopes.
  [[nodiscard]] static bool within(Engine const* engine);

 private:
  Engine const* m_engine;
  EngineScope const* m_outer;
};

}  // namespace granary::detail
