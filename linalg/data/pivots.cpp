// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/data/pivots.hpp>

#include <numeric>
#include <string>
#include <unordered_map>

namespace granary {
namespace {

std::uint64_t words_of_panel(detail::TileGrid const& grid, std::uint64_t k) { return 1 + 3 * grid.rows_in(k); }

}  // namespace

Bytes pivot_bytes(detail::TileGrid const& grid, std::uint64_t k) {
  return words_of_panel(grid, k) * sizeof(std::int64_t);
}

detail::PivotData make_temporary_pivots(Submitter& submitter, detail::TileGrid const& grid) {
  detail::PivotData data;
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    data.panels.push_back(submitter.add_data(
        {.name = "pivots(" + std::to_string(k) + ")", .bytes = pivot_bytes(grid, k), .origin = {}, .home = {}}));
  }
  return data;
}

Pivots::Pivots(detail::TileGrid const& grid)
    : m_grid(grid),
      m_stride(words_of_panel(grid, 0)),
      m_words(std::make_shared<std::vector<std::int64_t>>(m_stride * grid.diagonal())) {
  for (std::uint64_t k = 0; k < grid.diagonal(); ++k) {
    auto const exchanges = detail::PanelExchanges::at(panel(k), grid.rows_in(k));
    auto const first = static_cast<std::int64_t>(grid.first(k));
    std::iota(exchanges.pivots.begin(), exchanges.pivots.end(), first);
    exchanges.derive(first, static_cast<std::int64_t>(grid.rows_in(k)), 0);
  }
}

std::uint64_t Pivots::operator[](std::uint64_t i) const {
  return static_cast<std::uint64_t>((*m_words)[i / m_grid.tile * m_stride + 1 + i % m_grid.tile]);
}

std::optional<std::uint64_t> Pivots::zero_pivot() const {
  for (std::uint64_t k = 0; k < m_grid.diagonal(); ++k) {
    if (auto const order = (*m_words)[k * m_stride]; order > 0) return static_cast<std::uint64_t>(order);
  }
  return std::nullopt;
}

namespace detail {

PanelExchanges PanelExchanges::at(std::byte* bytes, std::uint64_t slots) {
  auto* const words = reinterpret_cast<std::int64_t*>(bytes);
  return {words[0], {words + 1, slots}, {words + 1 + slots, slots}, {words + 1 + 2 * slots, slots}};
}

void PanelExchanges::derive(std::int64_t first, std::int64_t slots, std::int64_t count) const {
  auto const end = first + slots;
  std::vector<std::int64_t> slot_of(static_cast<std::size_t>(slots));  // the row that the slot has
  std::iota(slot_of.begin(), slot_of.end(), first);
  std::unordered_map<std::int64_t, std::int64_t> lower;  // the row in each exchanged lower row
  auto const row_at = [&](std::int64_t row) -> std::int64_t& {
    return row < end ? slot_of[static_cast<std::size_t>(row - first)] : lower.try_emplace(row, row).first->second;
  };
  for (std::int64_t s = 0; s < count; ++s) {
    std::swap(row_at(first + s), row_at(pivots[static_cast<std::size_t>(s)]));
  }
  std::ranges::fill(partners, none);
  for (auto const& [row, has] : lower) partners[static_cast<std::size_t>(has - first)] = row;
  for (std::int64_t s = 0; s < slots; ++s) {
    auto const row = slot_of[static_cast<std::size_t>(s)];
    sources[static_cast<std::size_t>(s)] = (row < end ? row : lower.at(row)) - first;
  }
}

void PanelExchanges::set_order(std::int64_t first, std::span<std::int64_t const> order) const {
  std::unordered_map<std::int64_t, std::int64_t> place_of, row_at;  // of what was exchanged
  auto const look_up = [](auto const& map, std::int64_t key) {
    auto const found = map.find(key);
    return found == map.end() ? key : found->second;
  };
  for (std::size_t s = 0; s < order.size(); ++s) {
    auto const here = first + static_cast<std::int64_t>(s);
    auto const place = look_up(place_of, order[s]);
    auto const displaced = look_up(row_at, here);
    pivots[s] = place;
    row_at[place] = displaced;
    place_of[displaced] = place;
    row_at[here] = order[s];
    place_of[order[s]] = here;
  }
}

}  // namespace detail
}  // namespace granary
