// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/commuting_orders.hpp>

#include <granary/detail/core/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace granary::detail {

namespace {

constexpr Bytes most_copied = Bytes{64} << 20;
constexpr std::uint64_t most_between = 10'000;  // tasks that are looked at

thread_local bool runs_again = false;

struct Again {
  Again() { runs_again = true; }
  ~Again() { runs_again = false; }
  Again(Again const&) = delete;
  Again& operator=(Again const&) = delete;
};

// Aligned as a View's own memory is.
struct alignas(64) Line {
  std::array<std::byte, 64> bytes;
};
using Copy = std::vector<Line>;

std::byte* bytes_of(Copy const& copy) { return const_cast<Line*>(copy.data())->bytes.data(); }

// Packed.
Copy copy_of(CheckedBody::Use const& use, KernelCall const& call) {
  Copy copy(use.datum->bytes / sizeof(Line) + 1);
  auto* to = bytes_of(copy);
  for_each_run(*use.datum, use.at(call), [&](std::byte const* from, Bytes bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  });
  return copy;
}

}  // namespace

struct CommutingOrders::Update {
  std::shared_ptr<CheckedBody const> body;
  std::vector<Copy> before = {};  // by use
  std::vector<Copy> after = {};
  std::uint64_t next = 0;  // number of the next task that is submitted, at the end of this one
};

namespace {

using Update = CommutingOrders::Update;

// The values that two tasks use, in memory of their own.
class Values {
 public:
  // As they were before the two.
  Values(Update const& first, Update const& second) {
    for (auto const* const update : {&first, &second}) {
      for (std::size_t i = 0; i < update->before.size(); ++i)
        m_values.emplace(update->body->uses[i].datum.get(), update->before[i]);
    }
  }
  [[nodiscard]] Copy const& operator[](CheckedDatum const& datum) const { return m_values.at(&datum); }

  void run(CheckedBody const& body, KernelCall const& call) {
    std::vector<std::byte*> addresses;
    for (auto const& use : body.uses) addresses.push_back(bytes_of(m_values.at(use.datum.get())));
    KernelCall own = call;
    own.data = addresses;
    own.pitches = {};
    own.stop = {};
    body.run(own);
  }

 private:
  std::unordered_map<CheckedDatum const*, Copy> m_values;
};

// Calls function(use, result) for each datum that one of them has written, with what the last one of them left there.
template <class Function>
void for_each_result(Update const& first, Update const& second, Function&& function) {
  auto const writes_it = [](Update const& update, CheckedDatum const* datum) {
    return std::ranges::any_of(update.body->uses,
                               [&](auto const& use) { return use.datum.get() == datum && writes(use.mode); });
  };
  for (auto const* const update : {&first, &second}) {
    for (std::size_t i = 0; i < update->after.size(); ++i) {
      auto const& use = update->body->uses[i];
      if (!writes(use.mode) || (update == &first && writes_it(second, use.datum.get()))) continue;
      function(use, update->after[i]);
    }
  }
}

template <class T>
double largest(Copy const& copy, Bytes bytes) {
  double most = 0;
  for (Bytes offset = 0; offset + sizeof(T) <= bytes; offset += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes_of(copy) + offset, sizeof value);
    if (std::isfinite(value)) most = std::max(most, std::abs(static_cast<double>(value)));
  }
  return most;
}
double largest(CheckedBody::Use const& use, Copy const& copy) {
  if (use.element.numbers == Numbers::Singles) return largest<float>(copy, use.datum->bytes);
  return use.element.numbers == Numbers::Doubles ? largest<double>(copy, use.datum->bytes) : 0;
}

// Rounding changes sums by a few units in the last place of what was added; other errors change more digits.
template <class T>
bool differ(std::byte const* a, std::byte const* b, Bytes bytes, double scale) {
  double const tolerance = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon())) * scale;
  for (Bytes offset = 0; offset < bytes; offset += sizeof(T)) {
    T left, right;
    std::memcpy(&left, a + offset, sizeof left);
    std::memcpy(&right, b + offset, sizeof right);
    if (!std::isfinite(left) && !std::isfinite(right)) continue;
    if (!(std::abs(static_cast<double>(left) - static_cast<double>(right)) <= tolerance)) return true;
  }
  return false;
}

// "3 of the 100 elements of 'x', the first one at position 97 in memory"; empty if none differs.
std::string differences(CheckedBody::Use const& use, Copy const& a, Copy const& b, double scale) {
  auto const size = use.element.bytes;
  Bytes count = 0, first = 0;
  for (Bytes offset = 0; offset + size <= use.datum->bytes; offset += size) {
    auto const* const left = bytes_of(a) + offset;
    auto const* const right = bytes_of(b) + offset;
    if (std::memcmp(left, right, size) == 0) continue;
    bool differs = use.element.numbers == Numbers::Integers;
    if (use.element.numbers == Numbers::Singles) differs = differ<float>(left, right, size, scale);
    if (use.element.numbers == Numbers::Doubles) differs = differ<double>(left, right, size, scale);
    if (differs && count++ == 0) first = offset / size;
  }
  if (count == 0) return {};
  return std::to_string(count) + " of the " + std::to_string(use.datum->bytes / size) + " elements of '" +
         use.datum->name + "', the first one at position " + std::to_string(first) + " in memory";
}

}  // namespace

bool CommutingOrders::again() { return runs_again; }

CommutingOrders::Uses CommutingOrders::uses_of(CheckedBody const& body) {
  Uses uses;
  for (auto const& use : body.uses) uses.push_back({use.datum.get(), use.mode, use.datum->set});
  return uses;
}

bool CommutingOrders::conflict(Uses const& a, Uses const& b) {
  auto const orders = [](Use const& left, Use const& right) {
    if (!writes(left.mode) && !writes(right.mode)) return false;
    if (left.datum == right.datum) return !commutes(left.mode) || !commutes(right.mode);
    return !left.set.empty() && !right.set.empty() && overlap(left.set, right.set);
  };
  return std::ranges::any_of(a, [&](Use const& left) {
    return std::ranges::any_of(b, [&](Use const& right) { return orders(left, right); });
  });
}

void CommutingOrders::submitted(CheckedBody& body) {
  std::lock_guard const lock(m_mutex);
  body.number = m_first + m_all.size();
  m_all.push_back(uses_of(body));
}

std::shared_ptr<Update> CommutingOrders::begin(std::shared_ptr<CheckedBody const> body, KernelCall const& call) {
  Bytes bytes = 0;
  bool commuting = false;
  for (auto const& use : body->uses) {
    if (use.datum->home == nullptr || use.element.bytes == 0) return nullptr;
    if (writes(use.mode) && !commutes(use.mode)) return nullptr;
    if (commutes(use.mode) && use.element.numbers == Numbers::Other) return nullptr;
    commuting = commuting || commutes(use.mode);
    bytes += use.datum->bytes;
  }
  if (!commuting || body->restartable || body->by_body || body->uses.size() != call.data.size()) return nullptr;
  if (bytes > most_copied) return nullptr;
  auto update = std::make_shared<Update>(Update{std::move(body)});
  for (auto const& use : update->body->uses) update->before.push_back(copy_of(use, call));
  return update;
}

// True only if two tasks, the first one submitted first, are ordered by their turns alone.
bool CommutingOrders::may_change_places(CheckedBody const& a, CheckedBody const& b) const {
  if (a.number < m_first || b.number - a.number > most_between) return false;
  auto const& uses = m_all[a.number - m_first];
  for (auto number = a.number + 1; number <= b.number; ++number) {
    if (conflict(uses, m_all[number - m_first])) return false;
  }
  return true;
}

bool CommutingOrders::is_last_on_shared(std::shared_ptr<Update> const& before, CheckedBody const& now) const {
  return std::ranges::all_of(now.uses, [&](auto const& use) {
    if (!commutes(use.mode)) return true;
    bool const shared = std::ranges::any_of(before->body->uses, [&](auto const& of) { return of.datum == use.datum; });
    auto const last = m_last.find(use.datum.get());
    return !shared || (last != m_last.end() && last->second == before);
  });
}

void CommutingOrders::end(std::shared_ptr<Update> const& update, KernelCall const& call) {
  for (auto const& use : update->body->uses) update->after.push_back(copy_of(use, call));
  std::vector<std::shared_ptr<Update>> compared, replaced;
  {
    std::lock_guard const lock(m_mutex);
    update->next = m_first + m_all.size();
    auto const& now = *update->body;
    if (now.number < m_first) return;
    for (auto const& use : now.uses) {
      auto const last = m_last.find(use.datum.get());
      if (!commutes(use.mode) || last == m_last.end()) continue;
      auto const& before = last->second;
      auto const& was = *before->body;
      bool const first = was.number < now.number;
      if (now.number < before->next && may_change_places(first ? was : now, first ? now : was) &&
          is_last_on_shared(before, now) && std::ranges::count(compared, before) == 0)
        compared.push_back(before);
    }
    for (auto const& use : now.uses) {
      if (commutes(use.mode)) replaced.push_back(std::exchange(m_last[use.datum.get()], update));
    }
  }
  for (auto const& before : compared) compare(*before, *update, call);
}

void CommutingOrders::compare(Update const& before, Update const& now, KernelCall const& call) {
  Again const scope;
  Values same(before, now), other(before, now);
  try {
    same.run(*before.body, call);
    same.run(*now.body, call);
    other.run(*now.body, call);
    other.run(*before.body, call);
  } catch (...) {
    return;  // it depends on more than its data
  }
  bool repeats = true;
  double scale = 0;
  for (auto const* const update : {&before, &now}) {
    for (std::size_t i = 0; i < update->before.size(); ++i) {
      auto const& use = update->body->uses[i];
      for (auto const* const copy : {&update->before[i], &update->after[i], &other[*use.datum]})
        scale = std::max(scale, largest(use, *copy));
    }
  }
  for_each_result(before, now, [&](CheckedBody::Use const& use, Copy const& result) {
    repeats = repeats && std::memcmp(bytes_of(result), bytes_of(same[*use.datum]), use.datum->bytes) == 0;
  });
  if (!repeats) return;
  for_each_result(before, now, [&](CheckedBody::Use const& use, Copy const& result) {
    auto const found = differences(use, result, other[*use.datum], scale);
    if (found.empty()) return;
    throw CheckFailed(found + ", depend on the order of " + before.body->name + " and " + now.body->name +
                      ", which commute: declare read_write(x), or let the bodies add to the elements only");
  });
}

void CommutingOrders::forget() {
  decltype(m_last) last;  // bodies end without the lock: they may release data
  std::lock_guard const lock(m_mutex);
  m_first += m_all.size();
  m_all.clear();
  last.swap(m_last);
}

}  // namespace granary::detail
