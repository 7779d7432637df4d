// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/runtime/session/data_releaser.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace granary::detail {

class Session;

/// Registrations of a Runtime's data, which end with their owner. It may outlive the Runtime.
class GRANARY_EXPORT HeldData {
 public:
  explicit HeldData(Session& session);
  HeldData(HeldData&& other) noexcept;
  HeldData& operator=(HeldData&& other) noexcept;
  ~HeldData();

  /// Owns a registration.
  DataId own(DataId id) { return m_ids.emplace_back(id); }
  /// Registers a datum once more, and owns that.
  void retain(DataId id);
  [[nodiscard]] std::span<DataId const> ids() const { return m_ids; }
  /// Null after a move, and once the Runtime has ended.
  [[nodiscard]] Session* session() const { return m_releaser.ended() ? nullptr : m_session; }

  /// True if a submitted task uses one of the data. Data once seen out of use are not checked again.
  [[nodiscard]] bool in_use();
  /// Ends the registrations while the Runtime lives: the data are released once the tasks submitted so far have used
  /// them.
  void release();

 private:
  Session* m_session;
  DataReleaser m_releaser;
  std::vector<DataId> m_ids;
  std::size_t m_unused = 0;  // so many of the data were out of use
};

}  // namespace granary::detail
