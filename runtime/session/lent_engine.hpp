// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/engine/engine.hpp>

#include <memory>
#include <semaphore>
#include <utility>

namespace granary {

/// An engine that handles on data share. One that is destroyed shares it for a moment, possibly on one of the engine's
/// own threads, where the engine must not be destroyed: its owner waits until all have given it back.
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
