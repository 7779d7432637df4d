// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/auto/belief.hpp>

#include <limits>
#include <utility>

namespace granary::detail {
namespace {

// A run differs from its simulation if one takes longer than the other by this factor, between the ends of so many
// tasks and of twice, four times, … as many.
constexpr double departed_by = 1.2;
constexpr std::size_t first_compared = 64;

}  // namespace

void Belief::begin(std::vector<Duration> ends, Instant now) {
  m_ends = std::move(ends);
  m_begun = now;
  m_compare_at = first_compared;
}

double Belief::forget(Instant now) {
  double const done = std::exchange(m_done, 0);
  m_departed = false;
  m_ended = 0;
  m_ends.clear();
  return done > 0 ? seconds(now - m_begun) / done : std::numeric_limits<double>::infinity();
}

void Belief::ended(double work_seconds, Instant now) {
  m_done += work_seconds;
  if (++m_ended != m_compare_at || m_ended > m_ends.size()) return;
  m_compare_at *= 2;
  if (m_ended == first_compared) {
    m_compared_from = now;
    return;
  }
  double const real = seconds(now - m_compared_from);
  double const believed = seconds(m_ends[m_ended - 1] - m_ends[first_compared - 1]);
  m_departed = m_departed || real > departed_by * believed || believed > departed_by * real;
}

}  // namespace granary::detail
