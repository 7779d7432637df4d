// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/submitter.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

/// Data of one submitter that end with their owner: it releases them, in the order in which it got them, once the tasks
/// submitted so far have used them. Invalid ids are places without a datum. The submitter must outlive the owner. 4
/// bytes for each datum.
class GRANARY_EXPORT OwnedData {
 public:
  explicit OwnedData(Submitter& submitter) : m_submitter(&submitter) {}
  OwnedData(Submitter& submitter, std::vector<DataId> ids) : m_submitter(&submitter), m_ids(std::move(ids)) {}
  OwnedData(OwnedData&& other) noexcept : m_submitter(other.m_submitter), m_ids(std::exchange(other.m_ids, {})) {}
  /// Releases the data owned so far.
  OwnedData& operator=(OwnedData&& other) noexcept {
    OwnedData before(std::move(*this));
    std::swap(m_submitter, other.m_submitter);
    m_ids.swap(other.m_ids);
    return *this;
  }
  ~OwnedData();

  /// Registers a datum and owns it. Throws what Submitter::add_data throws.
  DataId add(DataDescription description) { return own(m_submitter->add_data(std::move(description))); }
  /// Owns a datum of the same submitter, or a place without one.
  DataId own(DataId id) { return m_ids.emplace_back(id); }
  /// Owns a datum at a place without one.
  DataId own(std::size_t number, DataId id) { return m_ids[number] = id; }
  /// Owns the other's data instead of it.
  void own(OwnedData other);

  [[nodiscard]] std::size_t size() const { return m_ids.size(); }
  [[nodiscard]] DataId operator[](std::size_t number) const { return m_ids[number]; }
  [[nodiscard]] std::span<DataId const> ids() const { return m_ids; }

  /// Releases one datum now; its place stays. Throws what Submitter::release_data throws.
  void release(std::size_t number);
  /// Releases all data now, which the destructor does without throwing.
  void release();

 private:
  Submitter* m_submitter;
  std::vector<DataId> m_ids;
};

}  // namespace granary::detail
