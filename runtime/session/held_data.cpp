// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/held_data.hpp>

#include <granary/detail/core/model/submitter.hpp>
#include <granary/detail/runtime/session/session.hpp>

#include <utility>

namespace granary::detail {

HeldData::HeldData(Session& session) : m_session(&session), m_releaser(session.releaser()) {}

HeldData::HeldData(HeldData&& other) noexcept
    : m_session(other.m_session),
      m_releaser(std::exchange(other.m_releaser, {})),
      m_ids(std::exchange(other.m_ids, {})),
      m_unused(std::exchange(other.m_unused, 0)) {}

HeldData& HeldData::operator=(HeldData&& other) noexcept {
  HeldData before(std::move(*this));
  m_session = other.m_session;
  m_releaser = std::exchange(other.m_releaser, {});
  m_ids = std::exchange(other.m_ids, {});
  m_unused = std::exchange(other.m_unused, 0);
  return *this;
}

HeldData::~HeldData() {
  for (DataId const id : m_ids) m_releaser.release(id);
}

void HeldData::retain(DataId id) {
  m_session->retain_data(id);
  own(id);
}

bool HeldData::in_use() {
  while (m_unused < m_ids.size() && !m_session->in_use(m_ids[m_unused])) ++m_unused;
  return m_unused < m_ids.size();
}

void HeldData::release() {
  for (DataId const id : std::exchange(m_ids, {})) m_session->submitter().release_data(id);
}

}  // namespace granary::detail
