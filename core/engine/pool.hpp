// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/backend.hpp>

#include <cstddef>
#include <string>

namespace granary::detail {

/// A node's memory on the host: one anonymous mapping for the lifetime of the node. The system allocates pages when
/// they are first touched, so the resident memory never exceeds the capacity.
class GRANARY_EXPORT Pool : public NodeMemory {
 public:
  /// Throws Error, naming the node and the size, when the system refuses the mapping. Aligned to 2 MiB.
  Pool(std::string const& node_name, Bytes bytes);
  ~Pool() override;
  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;

  [[nodiscard]] std::byte* base() const override { return m_base; }
  [[nodiscard]] Bytes bytes() const { return m_bytes; }

 private:
  Bytes m_bytes;
  Bytes m_mapped = 0;
  void* m_mapping = nullptr;
  std::byte* m_base = nullptr;
};

}  // namespace granary::detail
