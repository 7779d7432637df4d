// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/model/codelet.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace granary {

namespace detail {

/// A task's name: a string literal, std::string or std::string_view, which it does not copy. It keeps the line where it
/// was converted, which what `submit` throws names.
struct GRANARY_EXPORT TaskName {
  std::string_view text;
  SourceLine source_line;

  template <std::convertible_to<std::string_view> Text>
  TaskName(Text const& name, SourceLine line = SourceLine::current())  // NOLINT(google-explicit-constructor)
      : text(name), source_line(line) {}
};

// A task that granary submits for another one, which it names if the submission fails.
inline TaskName own_task(char const* name) { return {name, SourceLine{}}; }

// Throws the error that is handled, and says where the task was submitted.
[[noreturn]] GRANARY_EXPORT void rethrow_with(SourceLine const& source_line);

// Calls it; what it throws names the line.
template <class Function>
decltype(auto) naming_line(SourceLine const& source_line, Function&& function) {
  try {
    return function();
  } catch (InvalidArgument const&) {
    rethrow_with(source_line);
  }
}

}  // namespace detail

/// A task's name and the information for schedulers: `{.name = "axpy", .priority = 3, .flops = 2e6}`.
///
/// ```cpp
/// struct Increment {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     x() += 1;
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.scalar("x", 0);
/// runtime.submit({.name = "increment", .priority = 3, .flops = 1}, Increment{}, read_write(x));
/// assert(x.get() == 1);
/// ```
struct GRANARY_EXPORT TaskInfo {
  detail::TaskName name;
  std::int64_t priority = 0;  ///< larger is more urgent
  double flops = 0;           ///< floating-point operations; 0 when unknown
};

}  // namespace granary
