// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/owned_data.hpp>

namespace granary::detail {

OwnedData::~OwnedData() {
  try {
    release();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the submitter reports its failures itself
  }
}

void OwnedData::own(OwnedData other) {
  m_ids.insert(m_ids.end(), other.m_ids.begin(), other.m_ids.end());
  other.m_ids.clear();
}

void OwnedData::release(std::size_t number) {
  auto const id = std::exchange(m_ids[number], {});
  if (id.valid()) m_submitter->release_data(id);
}

void OwnedData::release() {
  for (auto const id : std::exchange(m_ids, {})) {
    if (id.valid()) m_submitter->release_data(id);
  }
}

}  // namespace granary::detail
