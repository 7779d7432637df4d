// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>

#include <concepts>
#include <exception>
#include <string>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace granary {

namespace detail {

// The message, the task and the line. A message that begins with the task's name needs the line alone.
[[nodiscard]] GRANARY_EXPORT std::string with_task(std::string const& message, TaskError const& task);

// An exception of type E that says which task has thrown it.
template <class E>
class InTask final : public E, public TaskError {
 public:
  // To be called where the exception is handled.
  InTask(E const& error, TaskOrigin origin)
      : E(error), TaskError(std::move(origin), typeid(E)), m_text(with_task(error.what(), *this)) {}
  [[nodiscard]] char const* what() const noexcept override { return m_text.c_str(); }

 private:
  std::string m_text;
};

using MakeInTask = std::exception_ptr (*)(std::exception const&, TaskOrigin);
GRANARY_EXPORT void add_task_error(std::type_index type, MakeInTask make);

// The exception with its task; as it is if its own type is not known, or the application did not submit the task.
[[nodiscard]] GRANARY_EXPORT std::exception_ptr in_task(std::exception_ptr const& error, TaskOrigin const& origin);

template <class E>
std::exception_ptr make_in_task(std::exception const& error, TaskOrigin origin) {
  return std::make_exception_ptr(InTask<E>(dynamic_cast<E const&>(error), std::move(origin)));
}

}  // namespace detail

/// Exceptions of exactly this type that a task's body throws arrive as a TaskError, too. Known are granary's types of
/// error.hpp and the usual ones of the standard library; others arrive as they were thrown. From any thread; a second
/// call has no effect. `E` can be copied and derived from.
///
/// ```cpp
/// #include <granary/error.hpp>
/// struct TooHot : std::runtime_error {
///   using runtime_error::runtime_error;
/// };
/// granary::add_task_error<TooHot>();
/// ```
template <std::derived_from<std::exception> E>
requires(std::copy_constructible<E> && !std::is_final_v<E>) void add_task_error() {
  detail::add_task_error(typeid(E), &detail::make_in_task<E>);
}

}  // namespace granary
