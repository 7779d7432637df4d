// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data of mixed sizes, evicted in the order of their last use: a ledger that cannot move what it has placed loads
// little more than one to which only the number of free bytes matters. The free bytes beside which a datum finds no
// place are at most four of the largest blocks, or a fifth of the memory if that is more.
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/core/planner/movement/ledger.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <optional>
#include <ostream>
#include <vector>

namespace granary::ledger_mixes_test {

using namespace detail;

namespace {

using detail::Ledger;

constexpr Bytes largest = 1'048'576;
constexpr Bytes alignment = 4096;

struct Mix {
  char const* name;
  std::function<Bytes(Random&)> size;
  bool shrinks = false;  // a value needs less than the bound for which its place is taken
};
std::ostream& operator<<(std::ostream& out, Mix const& mix) { return out << mix.name; }

// That size for one of so many, else the largest.
std::function<Bytes(Random&)> one_in(std::uint64_t number, Bytes size) {
  return [=](Random& random) { return random.below(number) == 0 ? size : largest; };
}
std::function<Bytes(Random&)> between(Bytes least, Bytes most) {
  return [=](Random& random) { return least + random.below(most - least + 1); };
}

std::array const mixes{
    Mix{"of one size", one_in(1, largest)},
    Mix{"1/16 at the edges", one_in(20, largest / 16)},
    Mix{"1/2 at the edges", one_in(20, largest / 2)},
    Mix{"9/10 at the edges", one_in(20, largest * 9 / 10)},
    Mix{"3/10 of every fifth", one_in(5, largest * 3 / 10)},
    Mix{"3/10 of every second", one_in(2, largest * 3 / 10)},
    Mix{"7/10 of every second", one_in(2, largest * 7 / 10)},
    Mix{"all sizes", between(largest / 20, largest)},
    Mix{"the larger half", between(largest / 2, largest)},
    Mix{"nearly one size", between(largest - 16'384, largest)},
    Mix{"powers of two", [](Random& random) { return largest >> random.below(7); }},
    Mix{"small ones", [](Random& random) { return random.below(20) == 0 ? largest : largest / 50; }},
    Mix{"one size that shrinks", one_in(1, largest), true},
    Mix{"all sizes that shrink", between(largest / 20, largest), true},
};

// A memory of a third of the data, which are used at random, some more often than others.
class Cache {
 public:
  Cache(Mix const& mix, Bytes blocks, bool can_move, std::uint64_t seed)
      : m_can_move(can_move), m_capacity(blocks * largest + largest / 3), m_ledger(m_capacity, alignment) {
    Random random(seed);
    for (Bytes total = 0; total < 3 * m_capacity; total += m_bounds.back()) m_bounds.push_back(mix.size(random));
    for (Bytes const bound : m_bounds) m_sizes.push_back(mix.shrinks ? 1 + random.below(bound) : bound);
    m_offsets.resize(m_bounds.size());
    m_places.resize(m_bounds.size());
  }

  void use_at_random(int times, std::uint64_t seed) {
    Random random(seed);
    for (int use = 0; use < times; ++use) {
      auto const often = random.below(m_bounds.size());
      use_one(static_cast<std::uint32_t>(random.chance(0.5) ? often : often * often / m_bounds.size()));
    }
  }
  [[nodiscard]] Bytes loaded() const { return m_loaded; }
  // The most free bytes beside which a datum found no place.
  [[nodiscard]] Bytes useless() const { return m_useless; }
  [[nodiscard]] Bytes capacity() const { return m_capacity; }

 private:
  void use_one(std::uint32_t data) {
    if (m_offsets[data]) {
      m_order.erase(m_places[data]);
    } else {
      m_loaded += m_sizes[data];
      m_offsets[data] = m_can_move ? count(data) : place(data);
    }
    m_places[data] = m_order.insert(m_order.end(), data);
  }
  Bytes count(std::uint32_t data) {
    while (m_used + m_ledger.rounded(m_bounds[data]) > m_capacity) drop(m_order.front());
    m_used += m_ledger.rounded(m_sizes[data]);
    return 0;
  }
  // As Memories::make_room does.
  Bytes place(std::uint32_t data) {
    for (;;) {
      Bytes const bytes = m_bounds[data];
      if (auto const offset = m_ledger.allocate(DataId(data), bytes, 0, m_capacity)) {
        m_ledger.shrink(*offset, m_sizes[data]);
        return *offset;
      }
      if (m_ledger.free_bytes() < m_ledger.rounded(bytes)) {
        drop(m_order.front());
        continue;
      }
      m_useless = std::max(m_useless, m_ledger.free_bytes());
      auto const victims = m_ledger.window(
          bytes, 0, m_capacity, [](DataId) { return true; }, DataId(m_order.front()));
      for (DataId const victim : victims) drop(victim.value());
    }
  }
  void drop(std::uint32_t data) {
    m_can_move ? static_cast<void>(m_used -= m_ledger.rounded(m_sizes[data])) : m_ledger.free(*m_offsets[data]);
    m_offsets[data].reset();
    m_order.erase(m_places[data]);
  }

  bool m_can_move;
  Bytes m_capacity;
  Ledger m_ledger;
  std::vector<Bytes> m_bounds;
  std::vector<Bytes> m_sizes;
  std::vector<std::optional<Bytes>> m_offsets;
  std::list<std::uint32_t> m_order;  // by last use
  std::vector<std::list<std::uint32_t>::iterator> m_places;
  Bytes m_used = 0;
  Bytes m_loaded = 0;
  Bytes m_useless = 0;
};

class LedgerMixes : public testing::TestWithParam<Mix> {};

// A twelfth more; where values shrink, so that a place is free in many pieces when the next bound needs it in one, half
// as much again in a few seeds.
TEST_P(LedgerMixes, LoadLittleMoreThanWhereBlocksCouldMove) {
  Bytes const twelfths = GetParam().shrinks ? 18 : 13;
  for (Bytes const blocks : {8U, 20U, 60U}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Cache ledger(GetParam(), blocks, false, seed);
      Cache movable(GetParam(), blocks, true, seed);
      ledger.use_at_random(6000, seed + 100);
      movable.use_at_random(6000, seed + 100);
      EXPECT_LE(12 * ledger.loaded(), twelfths * movable.loaded()) << blocks << " blocks, seed " << seed;
      EXPECT_LE(ledger.useless(), std::max(4 * largest, ledger.capacity() / 5)) << blocks << " blocks, seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LedgerMixes, testing::ValuesIn(mixes));

}  // namespace
}  // namespace granary::ledger_mixes_test
