// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace granary {

/// Maps tasks to small indices: constant time, four bytes per task if the live tasks are of similar age.
///
/// ```cpp
/// granary::TaskSlots slots;
/// slots.insert(granary::TaskId(1'000'000), 3);
/// assert(slots.find(granary::TaskId(1'000'000)) == 3);
/// slots.erase(granary::TaskId(1'000'000));
/// assert(slots.find(granary::TaskId(1'000'000)) == granary::TaskSlots::none);
/// ```
class GRANARY_EXPORT TaskSlots {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;

  [[nodiscard]] std::uint32_t find(TaskId task) const {
    std::size_t const page = task.index() / page_size;
    if (page >= m_pages.size() || !m_pages[page]) return none;
    return m_pages[page]->slots[task.index() % page_size];
  }

  void insert(TaskId task, std::uint32_t slot) {
    std::size_t const page = task.index() / page_size;
    if (page >= m_pages.size()) m_pages.resize(page + 1);
    if (!m_pages[page]) m_pages[page] = std::make_unique<Page>();
    m_pages[page]->slots[task.index() % page_size] = slot;
    ++m_pages[page]->used;
  }

  void erase(TaskId task) {
    auto& page = m_pages[task.index() / page_size];
    page->slots[task.index() % page_size] = none;
    if (--page->used == 0) page.reset();
  }

 private:
  static constexpr std::size_t page_size = 512;
  struct Page {
    std::array<std::uint32_t, page_size> slots;
    std::uint32_t used = 0;
    Page() { slots.fill(none); }
  };
  std::vector<std::unique_ptr<Page>> m_pages;
};

}  // namespace granary
