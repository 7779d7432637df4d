// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace granary::detail {

/// Signatures of tasks in the order of submission: equal for the tasks of equal graphs, in any run and on any machine.
///
/// A task's signature is a hash of its codelet's name and variant, its flops, and of each access in turn the mode, the
/// datum's bytes and the datum's number. Data are numbered in the order in which tasks first access them, so neither
/// their ids nor data that no task uses matter. Tasks without a worker (Codelet::external) have no signature.
///
/// ```cpp
/// #include <granary/schedule.hpp>
/// granary::Access const updates[] = {{granary::DataId(7), granary::AccessMode::ReadWrite}};
/// auto const bytes = [](granary::DataId) { return granary::Bytes(4096); };
/// granary::detail::TaskSignatures here, there;
/// auto const first = here.add({.name = "scale"}, 1e6, granary::AccessList(updates), bytes);
/// assert(first == there.add({.name = "scale"}, 1e6, granary::AccessList(updates), bytes));
/// assert(first != here.next({.name = "scale"}, 2e6, granary::AccessList(updates), bytes));  // other flops
/// ```
class GRANARY_EXPORT TaskSignatures {
 public:
  /// The signature that the next task would have; `bytes(DataId)` is a datum's size. O(accesses^2) for data that no
  /// task has used before, else O(accesses).
  template <class Bytes>
  [[nodiscard]] std::uint64_t next(Codelet const& codelet, double flops, AccessList const& accesses,
                                   Bytes&& bytes) const {
    std::uint64_t hash = of_task(codelet, flops);
    std::uint64_t unknown = 0;
    for (auto const* access = accesses.begin(); access != accesses.end(); ++access) {
      std::uint64_t number = number_of(access->data);
      if (number == 0 && access->repeated) {
        number = number_of_repeated(accesses, *access);
      } else if (number == 0) {
        number = m_numbered + ++unknown;
      }
      hash = with_access(hash, access->mode, bytes(access->data), number);
    }
    return hash;
  }

  /// The same, and the task is the last one from now on.
  template <class Bytes>
  std::uint64_t add(Codelet const& codelet, double flops, AccessList const& accesses, Bytes&& bytes) {
    for (auto const& access : accesses) number(access.data);
    std::uint64_t hash = of_task(codelet, flops);
    for (auto const& access : accesses)
      hash = with_access(hash, access.mode, bytes(access.data), m_numbers[access.data.index()]);
    return hash;
  }

  /// The id is free and may be given to another datum.
  void forget(DataId data) {
    if (data.index() < m_numbers.size()) m_numbers[data.index()] = 0;
  }

 private:
  [[nodiscard]] static std::uint64_t of_task(Codelet const& codelet, double flops);
  [[nodiscard]] static std::uint64_t with_access(std::uint64_t hash, AccessMode mode, Bytes bytes,
                                                 std::uint64_t number);
  [[nodiscard]] std::uint64_t number_of_repeated(AccessList const& accesses, Access const& access) const;
  // 0 for a datum that no task has used.
  [[nodiscard]] std::uint64_t number_of(DataId data) const {
    return data.index() < m_numbers.size() ? m_numbers[data.index()] : 0;
  }
  void number(DataId data) {
    if (data.index() >= m_numbers.size()) m_numbers.resize(data.index() + 1);
    if (m_numbers[data.index()] == 0) m_numbers[data.index()] = ++m_numbered;
  }

  std::vector<std::uint64_t> m_numbers;  // by datum, from 1 on
  std::uint64_t m_numbered = 0;
};

}  // namespace granary::detail
