// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace granary {

/// The Runtime parameter of linear algebra calls; a Runtime converts to it. It stores the source line of the
/// conversion, and exceptions of the call and of its tasks report that line. An application's wrapper may take a
/// RuntimeCall and pass it on: exceptions then report the line of the wrapper's caller. With SourceLine{} exceptions
/// report no line and keep their original type and text, for programs whose users do not know the sources.
///
/// ```cpp
/// #include <granary/linalg.hpp>
/// using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// granary::Runtime runtime;
/// try {
///   granary::potrf(runtime, granary::Uplo::Lower, Matrix("covariance", 3, 3));
/// } catch (granary::NotPositiveDefinite const& error) {
///   // the matrix is not positive definite: its leading minor of order 1 is not positive
///   // (in task 'potrf' 0 on 'covariance(0, 0)', submitted at main.cpp:5)
///   assert(dynamic_cast<granary::TaskError const&>(error).source_line().line != 0);
/// }
/// ```
class GRANARY_EXPORT RuntimeCall {
 public:
  /// Of whatever converts to Runtime&, such as a std::reference_wrapper.
  template <std::convertible_to<Runtime&> R>
  requires(!std::same_as<std::remove_cvref_t<R>, RuntimeCall>)
      RuntimeCall(R&& runtime, SourceLine source_line = SourceLine::current())  // NOLINT(google-explicit-constructor)
      : m_runtime(&static_cast<Runtime&>(runtime)), m_source_line(source_line) {}

  [[nodiscard]] Runtime& runtime() const { return *m_runtime; }
  [[nodiscard]] detail::Session& session() const { return m_runtime->session(); }
  [[nodiscard]] SourceLine const& source_line() const { return m_source_line; }
  [[deprecated("use source_line")]] [[nodiscard]] SourceLine const& place() const { return source_line(); }
  /// For a call that is a step of another one: messages have the name of that one.
  [[nodiscard]] RuntimeCall as(char const* name) const {
    auto other = *this;
    other.m_name = name;
    return other;
  }
  [[nodiscard]] char const* name() const { return m_name; }

  /// Calls the function; InvalidArgument that it throws names the line.
  template <class Function>
  decltype(auto) checked(Function&& function) const {
    return detail::naming_line(m_source_line, std::forward<Function>(function));
  }
  /// See Session::refuse_in_task and Session::refuse_with_others.
  void refuse_in_task(std::string_view call) const {
    checked([&] { session().refuse_in_task(call); });
  }
  void refuse_with_others(std::string_view what) const {
    checked([&] { session().refuse_with_others(what); });
  }

 private:
  Runtime* m_runtime;
  SourceLine m_source_line;
  char const* m_name = "";
};

}  // namespace granary
