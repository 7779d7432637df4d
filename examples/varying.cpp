// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays whose sizes are known when they have been computed: the primes of intervals, joined to one list.
#include <granary/granary.hpp>
#include <granary/varying.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

using Numbers = granary::Varying<std::uint32_t>;

// [varying]
struct Primes {  // of [first, first + length)
  static constexpr bool launches_kokkos_kernels = false;
  std::uint32_t first, length;
  template <class Exec, class List>
  void operator()(Exec const&, List list) const {
    std::size_t count = 0;
    for (std::uint32_t n = first; n < first + length; ++n) {
      bool prime = n > 1;
      for (std::uint32_t d = 2; prime && d * d <= n; ++d) prime = n % d != 0;
      if (prime) list.after(count++) = n;
    }
    list.resize(count);
  }
};

struct Append {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class More, class List>
  void operator()(Exec const&, More more, List list) const {
    auto const present = list.before.extent(0);
    for (std::size_t i = 0; i < present; ++i) list.after(i) = list.before(i);
    for (std::size_t i = 0; i < more.extent(0); ++i) list.after(present + i) = more(i);
    list.resize(present + more.extent(0));
  }
  // Of the list, from the present numbers of elements of both.
  std::size_t most_elements(std::span<std::size_t const> elements, std::size_t) const {
    return elements[0] + elements[1];
  }
};
// [varying]

struct Largest {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class List, class Count, class Last>
  void operator()(Exec const&, List list, Count count, Last last) const {
    count() = list.extent(0);
    last() = list(list.extent(0) - 1);
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  constexpr std::uint32_t intervals = 50, length = 4000;
  granary::Runtime runtime({.host_memory = 2 << 20});
  // [submit]
  auto const all = runtime.varying<std::uint32_t>("primes", intervals * length, 0);
  runtime.submit("primes", Primes{0, length}, write(all));
  for (std::uint32_t i = 1; i < intervals; ++i) {
    auto const some = runtime.varying<std::uint32_t>("primes of " + std::to_string(i), length);
    runtime.submit("primes", Primes{i * length, length}, write(some));
    runtime.submit("append", Append{}, read(some), read_write(all));
  }
  // [submit]
  auto const count = runtime.scalar("count", std::size_t{0});
  auto const largest = runtime.scalar("largest", std::uint32_t{0});
  runtime.submit("largest", Largest{}, read(all), write(count), write(largest));
  std::printf("%zu primes below %u, the largest is %u\n", count.get(), intervals * length, largest.get());
  return count.get() == 17984 && largest.get() == 199999 ? 0 : 1;
}
