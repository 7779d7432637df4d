// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/linalg/kernels/portable/strided.hpp>

/// Row exchanges of a panel and winners of a tournament, computed on a device; see pivots.hpp.
namespace granary::kernels::portable {

/// A hash map from row to row in given memory; rows that are not in it map to themselves. `slots` is a power of two,
/// larger than the number of keys.
struct RowMap {
  struct Entry {
    std::int64_t row, image;
  };
  Entry* entries = nullptr;
  int slots = 0;

  [[nodiscard]] static int slots_for(int keys) {
    int slots = 16;
    while (slots < 2 * keys) slots *= 2;
    return slots;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Entry& find(std::int64_t row) const {
    auto const mask = static_cast<std::uint64_t>(slots - 1);
    auto place = (static_cast<std::uint64_t>(row) * 0x9E3779B97F4A7C15ULL >> 32) & mask;
    while (entries[place].row >= 0 && entries[place].row != row) place = (place + 1) & mask;
    return entries[place];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t at(std::int64_t row) const {
    auto const& entry = find(row);
    return entry.row < 0 ? row : entry.image;
  }
  KOKKOS_INLINE_FUNCTION void set(std::int64_t row, std::int64_t image) const { find(row) = {row, image}; }
};

/// Empties a map, one call per slot.
struct ClearMap {
  RowMap map;

  KOKKOS_FUNCTION void operator()(std::int64_t slot) const { map.entries[slot] = {-1, -1}; }
};

/// The words of a panel's datum, as in PanelExchanges.
struct ExchangeWords {
  std::int64_t* zero_pivot = nullptr;
  std::int64_t* pivots = nullptr;
  std::int64_t* partners = nullptr;
  std::int64_t* sources = nullptr;

  ExchangeWords(std::byte* bytes, int slots)
      : zero_pivot(reinterpret_cast<std::int64_t*>(bytes)),
        pivots(zero_pivot + 1),
        partners(pivots + slots),
        sources(partners + slots) {}
};

/// Converts LAPACK's pivots, counted from 1 and from the panel's first row, to rows of the matrix. Pivots that do not
/// exist, a result of NaN, exchange nothing. zero_pivot := first + *info, or 0 if *info is 0.
struct PivotsOfLapack {
  ExchangeWords words;
  int const* pivots;
  int const* info;
  std::int64_t first;
  int rows;

  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    std::int64_t const pivot = pivots[s] - 1;
    words.pivots[s] = first + (pivot < s || pivot >= rows ? s : pivot);
    if (s == 0) *words.zero_pivot = *info > 0 ? first + *info : 0;
  }
};

/// Sets the pivots to exchanges that move the rows `order` to the rows from `first` on. One call.
struct PivotsOfOrder {
  ExchangeWords words;
  std::int64_t const* order;
  RowMap place_of, row_at;
  std::int64_t first;
  int count;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    *words.zero_pivot = 0;
    for (int s = 0; s < count; ++s) {
      std::int64_t const here = first + s, place = place_of.at(order[s]), displaced = row_at.at(here);
      words.pivots[s] = place;
      row_at.set(place, displaced);
      place_of.set(displaced, place);
      row_at.set(here, order[s]);
      place_of.set(order[s], here);
    }
  }
};

/// The first part of PanelExchanges::derive: the row in each slot, and in each exchanged lower row. One call.
struct FollowPivots {
  ExchangeWords words;
  RowMap has;
  std::int64_t first;
  int count;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    for (int s = 0; s < count; ++s) {
      std::int64_t const one = first + s, two = words.pivots[s];
      std::int64_t const row = has.at(one);
      has.set(one, has.at(two));
      has.set(two, row);
    }
  }
};

/// The second part: partners and sources of the slots, one call per slot. A lower row that holds a slot's row is its
/// partner.
struct DeriveSlots {
  ExchangeWords words;
  RowMap has;
  std::int64_t first;
  int slots;

  KOKKOS_FUNCTION void operator()(std::int64_t slot) const {
    std::int64_t const row = has.at(first + slot);
    bool const lower = row >= first + slots;
    words.sources[slot] = (lower ? has.at(row) : row) - first;
  }
};
struct ClearPartners {
  ExchangeWords words;

  KOKKOS_FUNCTION void operator()(std::int64_t slot) const { words.partners[slot] = -1; }
};
struct DerivePartners {
  ExchangeWords words;
  RowMap has;
  std::int64_t first;
  int slots;

  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    std::int64_t const row = words.pivots[s];
    // The last exchange counts, independent of the order of the calls.
    if (row >= first + slots) words.partners[has.at(row) - first] = row;
  }
};

/// Exchanges slots of the top tile with their partners in a lower tile, whose first row is `first`: one call per entry
/// of the top tile.
template <class T>
struct ExchangePartners {
  Strided<T> top, lower;
  Entries entries;
  std::int64_t const* partners;
  std::int64_t first;

  ExchangePartners(Strided<T> const& upper_tile, Strided<T> const& lower_tile, std::int64_t const* rows,
                   std::int64_t first_lower)
      : top(upper_tile), lower(lower_tile), entries(upper_tile), partners(rows), first(first_lower) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const slot = entries.row(number), j = entries.col(number);
    std::int64_t const row = partners[slot] - first;
    if (row < 0 || row >= lower.rows) return;
    T const value = top(slot, j);
    top(slot, j) = lower(static_cast<int>(row), j);
    lower(static_cast<int>(row), j) = value;
  }
};

/// Slot s of the top tile := the old slot sources[s], or inversely; `old` has the old values.
template <class T>
struct PermuteSlots {
  Strided<T> top;
  Strided<T const> old;
  Entries entries;
  std::int64_t const* sources;
  bool back;

  PermuteSlots(Strided<T> const& tile, Strided<T const> const& values, std::int64_t const* rows, bool undo)
      : top(tile), old(values), entries(tile), sources(rows), back(undo) {}
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const slot = entries.row(number), j = entries.col(number);
    int const source = static_cast<int>(sources[slot]);
    if (back) {
      top(source, j) = old(slot, j);
    } else {
      top(slot, j) = old(source, j);
    }
  }
};

/// places[s] := the row of the gathered competitors that pivoting moved to row s. One call.
struct PlacesOfPivots {
  int const* pivots;
  int rows, count;
  int* order;   ///< `rows` entries
  int* places;  ///< `count` entries

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    for (int s = 0; s < count; ++s) {
      int const pivot = pivots[s] - 1 < s || pivots[s] > rows ? s : pivots[s] - 1;
      int const row = order[pivot];
      order[pivot] = order[s];
      order[s] = row;
      places[s] = row;
    }
  }
};
struct CountUp {
  int* numbers;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { numbers[i] = static_cast<int>(i); }
};

/// Copies the winners among the competitors of one part, which are the rows [above, above + values.rows) of all: one
/// call per entry of the winners. numbers: the competitors' rows in the matrix, or null if they are consecutive from
/// `first` on.
template <class T>
struct TakeWinners {
  Strided<T const> values;
  Strided<T> winners;
  std::int64_t* winner_rows;
  int const* places;
  std::int64_t const* numbers;
  std::int64_t first;
  int above;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    int const s = static_cast<int>(number % winners.rows), j = static_cast<int>(number / winners.rows);
    int const place = places[s] - above;
    if (place < 0 || place >= values.rows) return;
    if (winners.data != nullptr) winners(s, j) = values(place, j);
    if (j == 0) winner_rows[s] = numbers != nullptr ? numbers[place] : first + place;
  }
};

}  // namespace granary::kernels::portable
