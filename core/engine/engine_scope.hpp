// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#pragma GCC visibility push(default)

namespace granary {

class Engine;

/// Says, while it lives, that the calling thread works for an engine: runs its tasks, launches its kernels, or tells it
/// that a copy ended. Such a thread must not wait for that engine, which would wait for it. Scopes nest: a task of one
/// engine may wait for another engine. A few nanoseconds, no lock.
class EngineScope {
 public:
  /// `engine` may be null: then the scope says nothing.
  explicit EngineScope(Engine const* engine);
  ~EngineScope();
  EngineScope(EngineScope const&) = delete;
  EngineScope& operator=(EngineScope const&) = delete;

  /// The engine that the calling thread works for, of the innermost scope; null: none. Backends that run kernels on
  /// threads of their own carry it to these.
  [[nodiscard]] static Engine const* current();
  /// Whether the calling thread works for `engine`, in whichever scope.
  [[nodiscard]] static bool within(Engine const* engine);

 private:
  Engine const* m_engine;
  EngineScope const* m_outer;
};

}  // namespace granary

#pragma GCC visibility pop
