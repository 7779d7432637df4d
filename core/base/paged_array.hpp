// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Elements addressed by increasing ids. A page is freed once all of its elements were erased: constant-time access,
/// stable addresses, memory proportional to the live elements.
///
/// Create ids in increasing order with `create`; `erase` each once. `find` returns null for an id that was erased or
/// never created.
template <class IdType, class T, std::size_t PageSize = 64>
class PagedArray {
 public:
  template <class... Args>
  T& create(IdType id, Args&&... args) {
    std::size_t const page = id.index() / PageSize;
    while (m_first_page + m_pages.size() <= page) m_pages.push_back(nullptr);
    auto& slot = m_pages[page - m_first_page];
    if (!slot) slot = std::make_unique_for_overwrite<Page>();
    slot->ended_above = id.index() % PageSize + 1;
    auto& cell = slot->cells[id.index() % PageSize];
    auto* element = ::new (static_cast<void*>(cell.bytes)) T{std::forward<Args>(args)...};
    cell.live = true;
    ++slot->live;
    ++m_size;
    return *element;
  }

  [[nodiscard]] T* find(IdType id) {
    std::size_t const page = id.index() / PageSize;
    if (page < m_first_page || page - m_first_page >= m_pages.size()) return nullptr;
    auto const& slot = m_pages[page - m_first_page];
    if (!slot) return nullptr;
    auto& cell = slot->cells[id.index() % PageSize];
    return cell.live ? cell.get() : nullptr;
  }
  [[nodiscard]] T const* find(IdType id) const { return const_cast<PagedArray*>(this)->find(id); }

  /// The element of a live id.
  [[nodiscard]] T& operator[](IdType id) {
    return *m_pages[id.index() / PageSize - m_first_page]->cells[id.index() % PageSize].get();
  }
  [[nodiscard]] T const& operator[](IdType id) const { return const_cast<PagedArray&>(*this)[id]; }

  void erase(IdType id) {
    auto& slot = m_pages[id.index() / PageSize - m_first_page];
    auto& cell = slot->cells[id.index() % PageSize];
    cell.get()->~T();
    cell.live = false;
    --m_size;
    if (--slot->live == 0 && slot->ended_above == PageSize) {
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
        auto& cell = m_pages[p]->cells[i];
        if (cell.live)
          function(IdType(static_cast<typename IdType::rep>((m_first_page + p) * PageSize + i)), *cell.get());
      }
    }
  }
  template <class Function>
  void for_each(Function&& function) const {
    const_cast<PagedArray&>(*this).for_each([&](IdType id, T const& element) { function(id, element); });
  }

 private:
  struct Cell {
    alignas(T) std::byte bytes[sizeof(T)];
    bool live = false;
    T* get() { return std::launder(reinterpret_cast<T*>(bytes)); }
    Cell() {}  // NOLINT(modernize-use-equals-default): the bytes stay uninitialised
    ~Cell() {
      if (live) get()->~T();
    }
    Cell(Cell const&) = delete;
    Cell& operator=(Cell const&) = delete;
  };
  struct Page {
    Cell cells[PageSize];
    std::size_t live = 0;
    std::size_t ended_above = 0;  // one past the last cell ever created
  };

  // Long runs empty pages in order: drop the leading ones in batches, so that the amortised cost is constant.
  void release_leading_pages() {
    std::size_t empty = 0;
    while (empty < m_pages.size() && !m_pages[empty]) ++empty;
    if (empty < 64 || empty * 2 < m_pages.size()) return;
    m_pages.erase(m_pages.begin(), m_pages.begin() + static_cast<std::ptrdiff_t>(empty));
    m_first_page += empty;
  }

  std::vector<std::unique_ptr<Page>> m_pages;
  std::size_t m_first_page = 0;
  std::size_t m_size = 0;
};

}  // namespace granary

#pragma GCC visibility pop
