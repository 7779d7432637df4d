// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/engine/backend.hpp>
#include <granary/detail/core/planner/command.hpp>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace granary::detail {

/// The addresses of a datum's origin and home, if any.
struct GRANARY_EXPORT HostBinding {
  std::byte* origin = nullptr;
  std::byte* home = nullptr;
  std::shared_ptr<void const> keep;  ///< kept until the datum is forgotten
  Lines lines = {};                  ///< set if the bytes at origin and home are not contiguous
  /// Returns true if the object at `kept` can replace the one at `wanted`, both with the same function; null: only if
  /// they are the same object.
  bool (*serves)(void const* kept, void const* wanted) = nullptr;

  /// True if the origins and homes of the two, for the same bytes, have the same form.
  [[nodiscard]] bool same_form(HostBinding const& other) const {
    return origin == other.origin && home == other.home && without_gaps(lines) == without_gaps(other.lines);
  }

 private:
  // Lines without gaps between them count as contiguous.
  static Lines without_gaps(Lines const& lines) {
    bool const touch = (lines.count <= 1 || lines.line == lines.pitch) && lines.line == lines.packed;
    return touch ? Lines{} : lines;
  }
};

/// Bytes of a datum in memory.
struct GRANARY_EXPORT PlacedBytes {
  std::byte* address = nullptr;  ///< null if the place has none
  Lines lines = {};              ///< set if they are not contiguous there
};

/// The other side of a mirrored datum: bytes of the application on another node with workers, in the same layout.
struct GRANARY_EXPORT MirrorBinding {
  NodeId node;
  std::byte* address = nullptr;
  bool valid = true;  ///< whether this side holds the value of the home when it is registered
};

/// Maps (datum, place) to an address. Ids of forgotten data are reused.
class GRANARY_EXPORT Addresses {
 public:
  explicit Addresses(std::vector<std::byte*> pool_bases) : m_bases(std::move(pool_bases)) {}

  void bind(DataId data, HostBinding binding) {
    // Data without addresses, such as tiles of matrices in files, are numerous and take no space here.
    bool const nothing = binding.origin == nullptr && binding.home == nullptr && !binding.keep;
    if (nothing && data.index() >= m_bindings.size()) return;
    if (data.index() >= m_bindings.size()) m_bindings.resize(data.index() + 1);
    m_has_lines = m_has_lines || binding.lines.count > 0;
    m_bindings[data.index()] = std::move(binding);
  }
  void bind_mirror(DataId data, std::byte* address) { m_mirrors[data] = address; }
  /// Null if it has none.
  [[nodiscard]] std::byte* mirror(DataId data) const {
    auto const found = m_mirrors.find(data);
    return found != m_mirrors.end() ? found->second : nullptr;
  }
  [[nodiscard]] HostBinding const& binding(DataId data) const { return m_bindings[data.index()]; }
  /// Adds another binding of the same form; returns the object that is kept for it, which may come from an earlier
  /// binding.
  std::shared_ptr<void const> share(DataId data, HostBinding again) {
    if (!again.keep) return nullptr;
    auto& first = m_bindings[data.index()];
    if (!first.keep) {
      first.keep = std::move(again.keep);
      first.serves = again.serves;
      return first.keep;
    }
    if (stands_for(first, again)) return first.keep;
    auto& others = m_also_kept[data];
    for (auto const& other : others) {
      if (stands_for(other, again)) return other.keep;
    }
    return others.emplace_back(std::move(again)).keep;
  }
  /// Appends the objects kept for the datum to `dropped`; the caller destroys them.
  void forget(DataId data, std::vector<std::shared_ptr<void const>>& dropped) {
    if (data.index() >= m_bindings.size()) return;
    if (auto keep = std::move(std::exchange(m_bindings[data.index()], {}).keep)) dropped.push_back(std::move(keep));
    if (!m_mirrors.empty()) m_mirrors.erase(data);
    if (m_also_kept.empty()) return;
    if (auto const others = m_also_kept.extract(data)) {
      for (auto& other : others.mapped()) dropped.push_back(std::move(other.keep));
    }
  }
  /// True if any datum ever had lines.
  [[nodiscard]] bool has_lines() const { return m_has_lines; }
  [[nodiscard]] Lines lines(DataId data) const {
    return data.index() < m_bindings.size() ? m_bindings[data.index()].lines : Lines{};
  }
  [[nodiscard]] PlacedBytes bytes_at(DataId data, Place const& place) const {
    auto const gaps = place.slot == Slot::Pool ? Lines{} : lines(data);
    bool const contiguous = gaps.count <= 1 || gaps.line == gaps.pitch;
    return {find(data, place), contiguous ? Lines{} : gaps};
  }
  /// Null if the place has no address.
  [[nodiscard]] std::byte* find(DataId data, Place const& place) const {
    if (place.slot == Slot::Pool) {
      auto* base = m_bases[place.node.index()];
      return base != nullptr ? base + place.offset : nullptr;
    }
    if (place.slot == Slot::Mirror) return mirror(data);
    if (data.index() >= m_bindings.size()) return nullptr;
    auto const& binding = m_bindings[data.index()];
    return place.slot == Slot::Origin ? binding.origin : binding.home;
  }

 private:
  static bool stands_for(HostBinding const& kept, HostBinding const& wanted) {
    if (kept.serves != wanted.serves) return false;
    auto const* const a = kept.keep.get();
    auto const* const b = wanted.keep.get();
    return kept.serves != nullptr ? kept.serves(a, b) : a == b;
  }

  std::vector<std::byte*> m_bases;                                   // by node
  std::vector<HostBinding> m_bindings;                               // by datum
  std::unordered_map<DataId, std::vector<HostBinding>> m_also_kept;  // of data that were registered several times
  std::unordered_map<DataId, std::byte*> m_mirrors;
  bool m_has_lines = false;
};

}  // namespace granary::detail
