// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace granary::detail {

/// Elements addressed by increasing ids. A page is freed once all of its elements were erased: constant-time access,
/// stable addresses, memory proportional to the live elements.
///
/// Create ids in increasing order with `create`, with or without gaps; `erase` each once. `find` returns null for an id
/// that was erased or never created.
template <class IdType, class T, std::size_t PageSize = 16>
class GRANARY_EXPORT PagedArray {
 public:
  template <class... Args>
  T& create(IdType id, Args&&... args) {
    std::size_t const page = id.index() / PageSize;
    if (m_first_page + m_pages.size() <= page) {
      if (!m_pages.empty() && m_pages.back() && m_pages.back()->live == 0) {  // its rest is a gap
        m_pages.back().reset();
        release_leading_pages();
      }
      while (m_first_page + m_pages.size() <= page) m_pages.push_back(nullptr);
    }
    auto& slot = m_pages[page - m_first_page];
    if (!slot) slot = std::make_unique<Page>();
    std::size_t const cell = id.index() % PageSize;
    slot->ended_above = cell + 1;
    auto* element = ::new (static_cast<void*>(slot->cells[cell])) T{std::forward<Args>(args)...};
    slot->live |= Page::bit(cell);
    ++m_size;
    return *element;
  }

  [[nodiscard]] T* find(IdType id) {
    std::size_t const page = id.index() / PageSize;
    if (page < m_first_page || page - m_first_page >= m_pages.size()) return nullptr;
    auto const& slot = m_pages[page - m_first_page];
    std::size_t const cell = id.index() % PageSize;
    return slot && slot->lives(cell) ? slot->at(cell) : nullptr;
  }
  [[nodiscard]] T const* find(IdType id) const { return const_cast<PagedArray*>(this)->find(id); }

  /// The element of a live id.
  [[nodiscard]] T& operator[](IdType id) {
    return *m_pages[id.index() / PageSize - m_first_page]->at(id.index() % PageSize);
  }
  [[nodiscard]] T const& operator[](IdType id) const { return const_cast<PagedArray&>(*this)[id]; }

  void erase(IdType id) {
    auto& slot = m_pages[id.index() / PageSize - m_first_page];
    std::size_t const cell = id.index() % PageSize;
    slot->at(cell)->~T();
    slot->live &= ~Page::bit(cell);
    --m_size;
    bool const complete = slot->ended_above == PageSize || &slot != &m_pages.back();
    if (slot->live == 0 && complete) {
      slot.reset();
      release_leading_pages();
    }
  }

  [[nodiscard]] std::size_t size() const { return m_size; }

  template <class Function>
  void for_each(Function&& function) {
    for (std::size_t p = 0; p < m_pages.size(); ++p) {
      if (!m_pages[p]) continue;
      for (std::size_t i = 0; i < PageSize; ++i) {
        if (!m_pages[p]->lives(i)) continue;
        function(IdType(static_cast<typename IdType::rep>((m_first_page + p) * PageSize + i)), *m_pages[p]->at(i));
      }
    }
  }
  template <class Function>
  void for_each(Function&& function) const {
    const_cast<PagedArray&>(*this).for_each([&](IdType id, T const& element) { function(id, element); });
  }

 private:
  static_assert(PageSize <= 64, "a word has a bit for each cell of a page");
  struct Page {
    Page() {}  // NOLINT(modernize-use-equals-default): the cells stay uninitialised
    ~Page() {
      for (std::size_t i = 0; i < PageSize; ++i) {
        if (lives(i)) at(i)->~T();
      }
    }
    Page(Page const&) = delete;
    Page& operator=(Page const&) = delete;
    static std::uint64_t bit(std::size_t cell) { return std::uint64_t{1} << cell; }
    [[nodiscard]] bool lives(std::size_t cell) const { return (live & bit(cell)) != 0; }
    [[nodiscard]] T* at(std::size_t cell) { return std::launder(reinterpret_cast<T*>(cells[cell])); }

    std::uint64_t live = 0;       // bits
    std::size_t ended_above = 0;  // one past the last cell ever created
    alignas(T) std::byte cells[PageSize][sizeof(T)];
  };

  // Long runs empty pages in order: drop the leading ones in batches, so that the amortised cost is constant.
  void release_leading_pages() {
    while (m_leading < m_pages.size() && !m_pages[m_leading]) ++m_leading;
    if (m_leading < 64 || m_leading * 2 < m_pages.size()) return;
    m_pages.erase(m_pages.begin(), m_pages.begin() + static_cast<std::ptrdiff_t>(m_leading));
    m_first_page += std::exchange(m_leading, 0);
  }

  std::vector<std::unique_ptr<Page>> m_pages;
  std::size_t m_first_page = 0;
  std::size_t m_leading = 0;  // empty pages at the beginning, as far as they were counted
  std::size_t m_size = 0;
};

}  // namespace granary::detail
