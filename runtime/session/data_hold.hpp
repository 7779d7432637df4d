// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/runtime/session/data_releaser.hpp>

#include <memory>
#include <utility>

namespace granary::detail {

// Releases the datum when the last handle is destroyed. It may outlive the runtime, and never throws.
class GRANARY_EXPORT DataHold {
 public:
  DataHold(DataReleaser releaser, DataId id) : m_releaser(std::move(releaser)), m_id(id) {}
  ~DataHold() {
    m_attached.reset();
    m_releaser.release(m_id);
  }
  DataHold(DataHold const&) = delete;
  DataHold& operator=(DataHold const&) = delete;
  [[nodiscard]] DataId id() const { return m_id; }
  [[nodiscard]] RuntimeId runtime_id() const { return m_releaser.runtime_id(); }
  /// Ends before the datum is released. Once.
  void attach(std::shared_ptr<void const> attached) const { m_attached = std::move(attached); }

 private:
  DataReleaser m_releaser;
  DataId m_id;
  mutable std::shared_ptr<void const> m_attached;
};

// A handle on application memory, and the View that is kept for it: the one of its first registration.
struct GRANARY_EXPORT HeldView {
  std::shared_ptr<DataHold const> hold;
  std::shared_ptr<void const> view;
};

}  // namespace granary::detail
