// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/byte_set.hpp>

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace granary::detail {
namespace {

constexpr int most_steps = 1 << 20;

// stride * d for some d from `least` to `most`.
struct Term {
  std::int64_t stride;
  std::int64_t least;
  std::int64_t most;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

// Decides whether numbers of the terms and one number from `last_least` to `last_most` can add up to a given sum.
class Search {
 public:
  /// Adds a term; terms of equal stride are merged.
  void add(std::uint64_t stride, std::int64_t least, std::int64_t most) {
    auto const signed_stride = static_cast<std::int64_t>(stride);
    auto const end = m_terms.begin() + static_cast<std::ptrdiff_t>(m_count);
    auto const same =
        std::find_if(m_terms.begin(), end, [&](Term const& term) { return term.stride == signed_stride; });
    if (same == end) m_terms[m_count++] = {signed_stride, 0, 0};
    same->least += least;
    same->most += most;
  }
  [[nodiscard]] bool finds(std::int64_t sum, std::int64_t last_least, std::int64_t last_most) {
    std::sort(m_terms.begin(), m_terms.begin() + static_cast<std::ptrdiff_t>(m_count),
              [](Term const& a, Term const& b) { return a.stride > b.stride; });
    m_least[m_count] = last_least;
    m_most[m_count] = last_most;
    for (std::size_t t = m_count; t-- > 0;) {
      m_least[t] = m_least[t + 1] + m_terms[t].stride * m_terms[t].least;
      m_most[t] = m_most[t + 1] + m_terms[t].stride * m_terms[t].most;
    }
    return reaches(0, sum);
  }

 private:
  static constexpr std::size_t most_terms = 2 * ByteSet::most_dimensions;

  bool reaches(std::size_t term, std::int64_t sum) {
    if (sum < m_least[term] || sum > m_most[term]) return false;
    if (term == m_count) return true;
    auto const& [stride, least, most] = m_terms[term];
    auto const from = std::max(least, ceil_div(sum - m_most[term + 1], stride));
    auto const to = std::min(most, floor_div(sum - m_least[term + 1], stride));
    for (auto d = from; d <= to; ++d) {
      if (++m_steps > most_steps || reaches(term + 1, sum - stride * d)) return true;
    }
    return false;
  }

  std::array<Term, most_terms> m_terms;              // by descending stride
  std::array<std::int64_t, most_terms + 1> m_least;  // least sum of the terms from there on and the last number
  std::array<std::int64_t, most_terms + 1> m_most;
  std::size_t m_count = 0;
  int m_steps = 0;
};

}  // namespace

ByteSet::ByteSet(void const* first, std::uint64_t run, std::span<Dimension const> dimensions)
    : m_first(reinterpret_cast<std::uintptr_t>(first)), m_run(run) {
  std::vector<Dimension> sorted;
  for (auto const& dimension : dimensions) {
    if (dimension.extent > 1 && dimension.stride > 0) sorted.push_back(dimension);
  }
  std::ranges::sort(sorted, {}, &Dimension::stride);
  for (auto const& [extent, stride] : sorted) {
    if (m_dimensions.empty() && stride <= m_run) {
      m_run += (extent - 1) * stride;
    } else if (!m_dimensions.empty() && stride == m_dimensions.back().extent * m_dimensions.back().stride) {
      m_dimensions.back().extent *= extent;
    } else {
      m_dimensions.push_back({extent, stride});
    }
  }
  if (m_dimensions.size() > most_dimensions) {
    throw InternalError("bytes in " + std::to_string(m_dimensions.size()) + " dimensions");
  }
  m_end = m_first + m_run;
  for (auto const& [extent, stride] : m_dimensions) m_end += (extent - 1) * stride;
}

// Byte x of the run at (i1, i2, …) of a is byte y of that at (j1, j2, …) of b when
//   i1 s1 + i2 s2 + … - j1 t1 - j2 t2 - … + (x - y) = b.first - a.first;
// equal strides make one term, and x - y takes all values from 1 - b.run to a.run - 1.
bool overlap(ByteSet const& a, ByteSet const& b) {
  if (a.empty() || b.empty() || a.end() <= b.first() || b.end() <= a.first()) return false;
  Search search;
  for (auto const& [extent, stride] : a.m_dimensions) search.add(stride, 0, static_cast<std::int64_t>(extent) - 1);
  for (auto const& [extent, stride] : b.m_dimensions) search.add(stride, 1 - static_cast<std::int64_t>(extent), 0);
  return search.finds(static_cast<std::int64_t>(b.first() - a.first()), 1 - static_cast<std::int64_t>(b.m_run),
                      static_cast<std::int64_t>(a.m_run) - 1);
}

// Finds the indices in `a` of the bytes of `b`, outer dimensions first: dimensions of `b` with multiples of the stride
// move the index, the others must stay within one step of it.
bool covers(ByteSet const& a, ByteSet const& b) {
  if (b.first() < a.first()) return false;
  std::uint64_t offset = b.first() - a.first();
  std::uint64_t rest = b.m_run;  // the span of the dimensions of `b` that are left
  for (auto const& [extent, stride] : b.m_dimensions) rest += (extent - 1) * stride;
  auto left = b.m_dimensions.size();
  for (auto outer = a.m_dimensions.rbegin(); outer != a.m_dimensions.rend(); ++outer) {
    auto const [extent, stride] = *outer;
    std::uint64_t last = offset / stride;
    for (; left > 0 && b.m_dimensions[left - 1].stride >= stride; --left) {
      auto const& inner = b.m_dimensions[left - 1];
      if (inner.stride % stride != 0) return false;
      last += (inner.extent - 1) * (inner.stride / stride);
      rest -= (inner.extent - 1) * inner.stride;
    }
    if (last >= extent) return false;
    offset %= stride;
  }
  return offset + rest <= a.m_run;
}

}  // namespace granary::detail
