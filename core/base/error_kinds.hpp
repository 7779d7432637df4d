// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/task_error.hpp>

#include <exception>
#include <functional>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace granary {

namespace detail {

/// An exception as text, from which another process can make it again.
struct GRANARY_EXPORT ErrorText {
  std::string kind = {};      ///< the name of its type; empty if that is not known
  std::string argument = {};  ///< what its constructor needs
};

/// Its own type counts, not those that it is derived from. Known are the types of error.hpp, without the file of an
/// IoError, and those that were added.
[[nodiscard]] GRANARY_EXPORT ErrorText text_of(std::exception const& error);
/// Null if the kind is not known here.
[[nodiscard]] GRANARY_EXPORT std::exception_ptr error_of(ErrorText const& text);

}  // namespace detail

/// Adds a type of exception, in every process that uses it; from any thread.
GRANARY_EXPORT void add_error_kind(std::type_index type, std::string kind,
                                   std::function<std::string(std::exception const&)> argument,
                                   std::function<std::exception_ptr(std::string const&)> make);

/// `argument(error)` is the text from which `make(text)` makes the exception again. Includes add_task_error.
///
/// ```cpp
/// struct TooHot : std::runtime_error {
///   explicit TooHot(int kelvin) : runtime_error("too hot"), of(kelvin) {}
///   int of;
/// };
/// granary::add_error_kind<TooHot>(
///     "TooHot", [](TooHot const& error) { return std::to_string(error.of); },
///     [](std::string const& text) { return TooHot(std::stoi(text)); });
/// ```
template <class E, class Argument, class Make>
void add_error_kind(std::string kind, Argument argument, Make make) {
  add_task_error<E>();
  add_error_kind(
      typeid(E), std::move(kind),
      [argument](std::exception const& error) { return argument(dynamic_cast<E const&>(error)); },
      [make](std::string const& text) { return std::make_exception_ptr(E(make(text))); });
}

}  // namespace granary
