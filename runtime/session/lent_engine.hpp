// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/engine/engine.hpp>

#include <memory>
#include <semaphore>
#include <utility>

namespace granary {

/// Owns an engine and lends out references to it (`lent`). A handle on data holds one for a moment while it is
/// destroyed. The last reference may be dropped on one of the engine's own threads, which must not destroy the engine.
/// So `end` waits until all references are gone, and destroys the engine on the calling thread.
class LentEngine {
 public:
  explicit LentEngine(std::unique_ptr<detail::Engine> engine)
      : m_owned(std::move(engine)),
        m_lent(m_owned.get(), [given_back = m_given_back](detail::Engine*) { given_back->release(); }) {}

  [[nodiscard]] detail::Engine* operator->() const { return m_owned.get(); }
  [[nodiscard]] detail::Engine& operator*() const { return *m_owned; }
  [[nodiscard]] std::shared_ptr<detail::Engine> const& lent() const { return m_lent; }

  /// Destroys the engine, on this thread.
  void end() {
    m_lent.reset();
    m_given_back->acquire();
    m_owned.reset();
  }

 private:
  std::shared_ptr<std::binary_semaphore> m_given_back = std::make_shared<std::binary_semaphore>(0);
  std::unique_ptr<detail::Engine> m_owned;
  std::shared_ptr<detail::Engine> m_lent;
};

}  // namespace granary
