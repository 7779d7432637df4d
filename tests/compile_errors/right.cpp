// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that compile, each beside one of wrong/ that does not.
#include "program.hpp"

#include <string_view>
#include <utility>

namespace {

// By value or by reference, with a type of its own or a template's.
struct Reads {
  void operator()(granary::detail::HostExecutionSpace const&,
                  Kokkos::View<double const*, Kokkos::HostSpace> const&) const {}
};
struct Updates {
  void operator()(granary::detail::HostExecutionSpace const&, Vector) const noexcept {}
};
struct OfAnyNumber {
  template <class... Everything>
  void operator()(Everything const&...) const {}
};
struct HostOnly {
  static constexpr bool host_only = true;
  static constexpr bool device_only = false;
  void operator()(granary::detail::HostExecutionSpace exec, Vector) const { exec.fence(); }
};
struct DeviceOnly {
  static constexpr bool device_only = true;
  void operator()(granary::detail::DeviceExecutionSpace const&,
                  Kokkos::View<double*, granary::detail::DeviceExecutionSpace::memory_space>) const {}
};
void function(granary::detail::HostExecutionSpace const&, Vector) {}

struct Particle {
  float place[3];
  int id;
};

// An application's own functions of these names are preferred to those that refuse Views.
struct Field {
  Field(Vector const&) {}  // NOLINT(google-explicit-constructor)
};
int read(Field const&) { return 1; }
template <class View>
int write(View const&) {
  return 2;
}

}  // namespace

void bodies() {
  runtime.submit("scale", Scale{}, read_write(x));
  runtime.submit("axpy", Axpy{}, read(x), write(y));
  runtime.submit("reads", Reads{}, read(x));
  runtime.submit("updates", Updates{}, read_write(x));
  runtime.submit("any", OfAnyNumber{}, read(x), read_write(y));
  runtime.submit("none", OfAnyNumber{});
  runtime.submit("host", HostOnly{}, write(x));
  runtime.submit("device", DeviceOnly{}, write(x));
  runtime.submit("function", &function, write(x));
  runtime.submit(
      "lambda", [](auto const&, auto of) { return of.extent(0); }, read(x));
  runtime.submit(
      "lambda", [](auto const&, Kokkos::View<double const*, Kokkos::HostSpace>) {}, read(x));
  runtime.submit("data", Scale{}, granary::read(runtime.data(x_view)));
}

void names(std::string const& text, char const* literal) {
  runtime.submit(text, Scale{}, read(x));
  runtime.submit(std::string(literal), Scale{}, read(x));
  runtime.submit(std::string_view(text), Scale{}, read(x));
  runtime.submit(literal, Scale{}, read(x));
  runtime.submit({.name = text, .priority = 3, .flops = 2e6}, Scale{}, read(x));
  runtime.submit(granary::TaskInfo{.name = "kept"}, Scale{}, read(x));
  runtime.submit({"scale", 3}, Scale{}, read(x));
}

void temporaries() {
  runtime.temporary<double>();
  runtime.temporary<double>(n, 3, 4U);
  runtime.temporary<double>("named", n);
  runtime.temporary<Particle>(std::string("particles"), n);
  runtime.temporary<Kokkos::complex<double>>(n);
  runtime.temporary<Kokkos::View<double* [3]>>(n);
  runtime.temporary<Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>>("left", n, n);
}

void work_outside() {
  runtime.submit_outside(
      "receive", [] { return true; }, write(x), read(y));
  runtime.submit_after("fill", Kokkos::DefaultHostExecutionSpace(), write(x));
  runtime.submit_after(std::string("fill"), granary::detail::DeviceExecutionSpace(), read_write(x), read(y));
}

int own_functions() { return read(x_view) + write(x_view); }
