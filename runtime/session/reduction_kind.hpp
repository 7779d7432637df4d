// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>

#include <memory>
#include <typeinfo>
#include <utility>

namespace granary::detail {

class Session;

/// How copies of one datum are made and combined.
class GRANARY_EXPORT ReductionKind {
 public:
  ReductionKind(DataId data, Bytes bytes, std::shared_ptr<void const> shape, bool ordered, std::type_info const& type)
      : m_id(data), m_bytes(bytes), m_shape(std::move(shape)), m_ordered(ordered), m_type(type) {}
  virtual ~ReductionKind() = default;
  [[nodiscard]] DataId data() const { return m_id; }
  [[nodiscard]] Bytes bytes() const { return m_bytes; }
  /// The View of which the copies have the shape: the tasks on a copy use it, perhaps after the datum has gone.
  [[nodiscard]] std::shared_ptr<void const> const& shape() const { return m_shape; }
  [[nodiscard]] bool ordered() const { return m_ordered; }
  /// True if contributions of the two may go to the same copies.
  [[nodiscard]] bool same(ReductionKind const& other) const { return m_type == other.m_type; }
  /// Submits the task that sets a copy to the identity, and the one that combines it with the datum.
  virtual void fill(Session& session, DataId copy) const = 0;
  virtual void combine(Session& session, DataId copy) const = 0;
  /// Throws what the latter would throw, while no contribution is lost by it.
  virtual void check_combine(Session& session, DataId copy) const = 0;

 private:
  DataId m_id;
  Bytes m_bytes;
  std::shared_ptr<void const> m_shape;
  bool m_ordered;
  std::type_info const& m_type;
};

}  // namespace granary::detail
