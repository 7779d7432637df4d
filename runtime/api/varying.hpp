// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/runtime/api/runtime.hpp>
#include <granary/detail/runtime/api/temporary.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace granary {

/// A handle on a datum whose values differ in size: arrays of `T`, of at most the number of elements with which
/// Runtime::varying made it. Like a temporary it has no home: tasks write it and then read it. Memory and disk hold,
/// and other processes get, the elements that there are; only a task that writes it has room for more while it runs.
/// Copies of the handle refer to the same datum.
///
/// - `read(x)` gives a body a View of rank 1 of the elements that there are, `Kokkos::View<T const*>`.
/// - `write(x)` and `read_write(x)` give it a VaryingResult: room for the new value, apart from the present one. They
///   cannot be stopped halfway, commute, or be reduced.
///
/// ```cpp
/// #include <granary/varying.hpp>
/// struct Append {  // x becomes x and the numbers up to its next element
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X>
///   void operator()(Exec const&, X x) const {
///     auto const present = x.before.extent(0);
///     for (std::size_t i = 0; i < present; ++i) x.after(i) = x.before(i);
///     x.after(present) = static_cast<double>(present);
///     x.resize(present + 1);
///   }
/// };
/// struct Sum {
///   static constexpr bool launches_kokkos_kernels = false;
///   template <class Exec, class X, class S>
///   void operator()(Exec const&, X x, S sum) const {
///     for (std::size_t i = 0; i < x.extent(0); ++i) sum() += x(i);
///   }
/// };
/// granary::Runtime runtime;
/// auto const x = runtime.varying<double>("numbers", 1000);
/// auto const sum = runtime.scalar("sum", 0.0);
/// runtime.submit("first", Append{}, write(x));
/// for (int i = 1; i < 4; ++i) runtime.submit("append", Append{}, read_write(x));
/// runtime.submit("sum", Sum{}, read(x), read_write(sum));
/// assert(sum.get() == 0 + 1 + 2 + 3);
/// ```
template <class T>
class GRANARY_EXPORT Varying {
 public:
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "granary moves the elements of varying data byte by byte: use a trivially copyable type that is not "
                "const");
  [[nodiscard]] DataId id() const { return m_hold->id(); }
  [[nodiscard]] detail::RuntimeId runtime_id() const { return m_hold->runtime_id(); }

 private:
  friend struct detail::Handles;
  explicit Varying(std::shared_ptr<detail::DataHold const> hold) : m_hold(std::move(hold)) {}

  std::shared_ptr<detail::DataHold const> m_hold;
};

/// The body's argument for `write(x)` or `read_write(x)` of a Varying. It may be copied, also to a device.
template <class T, class Place>
struct GRANARY_EXPORT VaryingResult {
  /// The present elements; none for `write(x)`.
  Kokkos::View<T const*, Kokkos::LayoutRight, Place, Kokkos::MemoryTraits<Kokkos::Unmanaged>> before;
  /// Room for the new ones, with undefined contents.
  Kokkos::View<T*, Kokkos::LayoutRight, Place, Kokkos::MemoryTraits<Kokkos::Unmanaged>> after;
  Bytes* bytes = nullptr;  ///< of the new value

  /// The first `elements` of `after` are the new value; the last call counts, and without one the value is empty. In a
  /// body or in a kernel, but by one thread. If they are more than there is room for, the task fails.
  KOKKOS_INLINE_FUNCTION void resize(std::size_t elements) const { *bytes = elements * sizeof(T); }
};

namespace detail {

// The number of elements is known when the task runs.
template <bool Reads>
struct GRANARY_EXPORT VaryingShape {};

template <class T>
using VaryingView = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A task's access to a Varying.
template <class T, AccessMode Mode>
struct GRANARY_EXPORT VaryingAccess {
  using ViewType = detail::VaryingView<T>;
  static constexpr AccessMode mode = Mode;
  DataId data;
  RuntimeId runtime;
  detail::VaryingShape<reads(Mode)> shape = {};

  explicit VaryingAccess(Varying<T> const& handle) : data(handle.id()), runtime(handle.runtime_id()) {}
};

}  // namespace detail

template <class T>
detail::VaryingAccess<T, detail::AccessMode::Read> read(Varying<T> const& x) {
  return detail::VaryingAccess<T, detail::AccessMode::Read>(x);
}
template <class T>
detail::VaryingAccess<T, detail::AccessMode::Write> write(Varying<T> const& x) {
  return detail::VaryingAccess<T, detail::AccessMode::Write>(x);
}
template <class T>
detail::VaryingAccess<T, detail::AccessMode::ReadWrite> read_write(Varying<T> const& x) {
  return detail::VaryingAccess<T, detail::AccessMode::ReadWrite>(x);
}

namespace detail {

template <class T, AccessMode Mode>
requires(writes(Mode)) struct GRANARY_EXPORT ArgumentOf<VaryingAccess<T, Mode>> {
  template <class Place>
  using At = VaryingResult<T, Place>;
  using OnHost = At<HostPlace<VaryingView<T>>>;
  using OnDevice = At<DevicePlace>;
};

template <class Argument, bool Reads>
Argument argument_at(VaryingShape<Reads>, KernelCall const& call, std::size_t access) {
  Bytes const present = Reads ? call.bytes[access] : 0;
  if constexpr (Kokkos::is_view<Argument>::value) {
    using Element = typename Argument::value_type;
    return Argument(reinterpret_cast<Element*>(call.data[access]), present / sizeof(Element));
  } else {
    using Element = typename decltype(Argument::after)::value_type;
    auto const& [room, bytes] = call.results[access];
    using Before = decltype(Argument::before);
    using After = decltype(Argument::after);
    return {.before = Before(reinterpret_cast<Element const*>(call.data[access]), present / sizeof(Element)),
            .after = After(reinterpret_cast<Element*>(room), bytes / sizeof(Element)),
            .bytes = &call.result_bytes[access]};
  }
}

}  // namespace detail

template <class T>
Varying<T> Runtime::varying(std::string_view label, std::size_t most, std::optional<std::size_t> expected) {
  std::array const all{detail::Extent(most)}, first{detail::Extent(expected.value_or(most))};
  Bytes const bytes = most == 0 ? 0 : std::max<Bytes>(detail::temporary_bytes(first, sizeof(T)), 1);
  auto const bound = detail::temporary_bytes(all, sizeof(T));
  return detail::Handles::varying<T>(session().hold(session().add_data(std::string(label), bytes, {.bound = bound})));
}

}  // namespace granary
