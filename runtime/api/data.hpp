// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lines.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/codelet.hpp>
#include <granary/detail/runtime/api/view_lines.hpp>
#include <granary/detail/runtime/session/data_hold.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {

template <class T>
class Scalar;

namespace detail {

template <class View>
inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible;

/// The Kokkos::Device with which host workers access elements of a View, or copies of them.
template <class View>
using HostPlace = std::conditional_t<detail::on_host<View>, typename View::device_type,
                                     Kokkos::Device<HostExecutionSpace, Kokkos::HostSpace>>;

/// The View that a task body gets for an access to data of type `View`: unmanaged, of const elements if it is only
/// read, and with the data's layout. `Place`: a Kokkos::Device whose execution space can access the elements.
template <class View, AccessMode Mode, class Place = HostPlace<View>>
using BodyView =
    Kokkos::View<std::conditional_t<Mode == AccessMode::Read, typename View::const_data_type, typename View::data_type>,
                 typename View::array_layout, Place, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The same for workers of devices.
using DevicePlace = Kokkos::Device<DeviceExecutionSpace, typename DeviceExecutionSpace::memory_space>;

/// The same for a body on a device: the elements are in device memory.
template <class View, AccessMode Mode>
using DeviceBodyView = BodyView<View, Mode, DevicePlace>;

template <class View>
ViewShape shape_of(View const& view) {
  ViewShape shape;
  shape.rank = static_cast<std::size_t>(View::rank);
  static_assert(static_cast<std::size_t>(View::rank) <= most_dimensions);
  for (std::size_t d = 0; d < shape.rank; ++d) {
    shape.extents[d] = view.extent(d);
    shape.strides[d] = view.stride(d);
  }
  return shape;
}

// The packed form of the same View.
template <class View>
typename View::array_layout packed_layout(View const& view) {
  using Layout = typename View::array_layout;
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>) {
    auto const shape = shape_of(view);
    auto const strides = packed_strides(shape);
    Layout layout;
    for (std::size_t d = 0; d < shape.rank; ++d) {
      layout.dimension[d] = shape.extents[d];
      layout.stride[d] = strides[d];
    }
    return layout;
  } else if constexpr (std::is_same_v<Layout, Kokkos::LayoutLeft> || std::is_same_v<Layout, Kokkos::LayoutRight>) {
    Layout layout;
    for (std::size_t d = 0; d < static_cast<std::size_t>(View::rank); ++d) layout.dimension[d] = view.extent(d);
    return layout;
  } else {
    return view.layout();
  }
}

// Copies of the user's View, at other addresses, are packed.
template <class Body, class View>
Body view_at(View const* view, std::byte* address) {
  auto* elements = reinterpret_cast<typename View::pointer_type>(address);
  constexpr bool same_space = std::is_same_v<typename Body::memory_space, typename View::memory_space>;
  if constexpr (same_space && std::is_constructible_v<Body, View const&>) {
    if (elements == view->data()) return Body(*view);
  }
  return Body(elements, packed_layout(*view));
}

// The shape of a matrix in LayoutRight: `pitch` elements from one row to the next, at any address.
struct GRANARY_EXPORT RowsShape {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t pitch = 0;
};

template <class Body>
Body view_at(RowsShape const& shape, std::byte* address) {
  Body const full(reinterpret_cast<typename Body::pointer_type>(address), shape.rows, shape.pitch);
  return Kokkos::subview(full, Kokkos::ALL, std::pair(std::size_t{0}, shape.cols));
}

template <class View>
std::byte* bytes_at(View const& view) {
  return reinterpret_cast<std::byte*>(const_cast<typename View::non_const_value_type*>(view.data()));
}

// The View of a temporary with the same data type and layout.
template <class View>
using PlainView = Kokkos::View<typename View::data_type, typename View::array_layout, Kokkos::HostSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class View>
inline constexpr bool has_plain_view =
    std::is_same_v<typename View::memory_space, Kokkos::HostSpace> && !std::is_same_v<View, PlainView<View>> &&
    !std::is_const_v<typename View::value_type> &&
    (std::is_same_v<typename View::array_layout, Kokkos::LayoutRight> ||
     std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>);

// Of Views without such a form.
struct GRANARY_EXPORT NoPlainView {};

// A View that is kept for a datum, the owner of its elements if it does not own them (null, the owner of a DeviceView,
// or the View of which it is a part), and its plain form.
template <class View>
struct GRANARY_EXPORT KeptView : View {
  std::shared_ptr<void const> owner;
  std::conditional_t<has_plain_view<View>, PlainView<View>, NoPlainView> plain;

  KeptView(View const& view, std::shared_ptr<void const> of) : View(view), owner(std::move(of)) {
    if constexpr (has_plain_view<View>) plain = view;
  }
};
template <class View>
std::shared_ptr<View const> keep_view(View const& view, std::shared_ptr<void const> owner) {
  return std::make_shared<KeptView<View> const>(view, std::move(owner));
}
// Of the elements of a View that `keep_view` made.
template <class View>
std::shared_ptr<void const> const& owner_of(View const& kept) {
  return static_cast<KeptView<View> const&>(kept).owner;
}

// How the elements of a View can be copied.
struct GRANARY_EXPORT ElementsForm {
  Bytes bytes = 0;
  Lines lines = {};
  bool movable = false;  // whether they can be copied to other memory
  ByteSet set = {};      // their bytes
};

template <class View>
ElementsForm form_of(View const& view) {
  using Layout = typename View::array_layout;
  constexpr Bytes size = sizeof(typename View::value_type);
  ElementsForm form{.bytes = view.span() * size, .movable = view.span_is_contiguous()};
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride> || std::is_same_v<Layout, Kokkos::LayoutLeft> ||
                std::is_same_v<Layout, Kokkos::LayoutRight>) {
    auto const shape = shape_of(view);
    auto const lines = lines_of(shape, size);
    form.movable = lines.has_value();
    // The span of one row with a pitch is the pitch, beyond its elements.
    if (lines) form = {view.size() * size, *lines, true};
    form.set = bytes_of(shape, view.data(), size);
  } else if (form.bytes > 0) {
    form.set = ByteSet(view.data(), form.bytes);
  }
  form.movable = form.movable && std::is_trivially_copyable_v<typename View::value_type>;
  return form;
}

// T with Rank stars: the data type of a View of elements T.
template <class T, std::size_t Rank>
struct GRANARY_EXPORT PointerTo {
  using type = typename PointerTo<T, Rank - 1>::type*;
};
template <class T>
struct GRANARY_EXPORT PointerTo<T, 0> {
  using type = T;
};

template <class View>
inline constexpr bool tasks_may_write = !std::is_const_v<typename View::value_type>;

// True if a kept View can replace another one of the same bytes: its elements live as long.
template <class View>
bool serves(void const* kept, void const* wanted) {
  auto const& a = *static_cast<View const*>(kept);
  auto const& b = *static_cast<View const*>(wanted);
  auto const shape = shape_of(a);
  auto const other = shape_of(b);
  return a.data() == b.data() && shape.extents == other.extents && shape.strides == other.strides &&
         (a.use_count() > 0 || b.use_count() == 0) && (owner_of(a) != nullptr || owner_of(b) == nullptr);
}

}  // namespace detail

template <class View>
class Data;
template <class View>
class Parts;
template <class T>
class Varying;

namespace detail {

class Session;

template <class View, AccessMode Mode>
struct TypedAccess;

// Makes handles, and looks into them. For granary itself.
struct GRANARY_EXPORT Handles {
  template <class View>
  static Data<View> data(std::shared_ptr<DataHold const> hold, std::shared_ptr<View const> view) {
    return Data<View>(std::move(hold), std::move(view));
  }
  template <class View>
  static std::shared_ptr<DataHold const> const& hold(Data<View> const& data) {
    return data.m_hold;
  }
  template <class View>
  static std::shared_ptr<View const> const& view(Data<View> const& data) {
    return data.m_view;
  }
  template <class View, class Tiling>
  static Parts<View> parts(Tiling const& tiling) {
    return Parts<View>(tiling);
  }
  template <class View, class Part>
  static void add(Parts<View>& parts, Part part) {
    parts.m_parts.push_back(std::move(part));
  }
  template <class T>
  static Varying<T> varying(std::shared_ptr<DataHold const> hold) {
    return Varying<T>(std::move(hold));
  }
  template <class T, class View>
  static Scalar<T> scalar(Session& session, Data<View> data) {
    return Scalar<T>(session, std::move(data));
  }
};

// The body's argument for an access, on the host and on a device.
template <class Access>
struct GRANARY_EXPORT ArgumentOf {
  using OnHost = BodyView<typename Access::ViewType, Access::mode>;
  using OnDevice = DeviceBodyView<typename Access::ViewType, Access::mode>;
};

// The body's argument for one of the kernel's accesses. Other shapes have overloads of their own.
template <class Argument, class Shape>
Argument argument_at(Shape const& shape, KernelCall const& call, std::size_t access) {
  return view_at<Argument>(shape, call.data[access]);
}

}  // namespace detail

/// A handle on a datum with the shape of `View`; its copies refer to the same datum. When the last one is destroyed,
/// the datum is released as soon as the tasks submitted so far have used it.
///
/// ```cpp
/// Kokkos::View<double*, Kokkos::HostSpace> view("x", 3);
/// granary::Runtime runtime;
/// auto const x = runtime.data(view);
/// runtime.submit("one", [](auto const&, auto values) { values(1) = 1; }, read_write(x));
/// runtime.wait();
/// assert(view(1) == 1);
/// ```
template <class View>
class GRANARY_EXPORT Data {
 public:
  [[nodiscard]] DataId id() const { return m_hold->id(); }
  [[nodiscard]] detail::RuntimeId runtime_id() const { return m_hold->runtime_id(); }

  /// Converts a handle on a host View to the handle type of temporaries with the same data type and layout (see
  /// Temporary), so that one variable may hold either. Both refer to the same datum.
  template <class Other>
  requires(detail::has_plain_view<Other>&& std::same_as<View, detail::PlainView<Other>>)
      Data(Data<Other> const& other)  // NOLINT(google-explicit-constructor)
      : m_hold(other.m_hold), m_view(other.m_view, &static_cast<detail::KeptView<Other> const&>(*other.m_view).plain) {}

 private:
  friend struct detail::Handles;
  template <class V>
  friend class Data;
  template <class V, detail::AccessMode Mode>
  friend struct detail::TypedAccess;
  Data(std::shared_ptr<detail::DataHold const> hold, std::shared_ptr<View const> view)
      : m_hold(std::move(hold)), m_view(std::move(view)) {}

  std::shared_ptr<detail::DataHold const> m_hold;
  std::shared_ptr<View const> m_view;  // the engine keeps it until the datum is forgotten
};

namespace detail {

/// An array in device memory; Runtime::device_view makes it. Copies share the memory.
template <class DataType, class Layout>
struct GRANARY_EXPORT DeviceView {
  using View = Kokkos::View<DataType, Layout, typename DeviceExecutionSpace::memory_space,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  View view;
  std::string label;
  std::shared_ptr<void const> memory;  ///< owns the elements
};

/// A task's access to a datum, with the datum's type; made by `read`, `write`, `read_write` and `commute`.
template <class View, AccessMode Mode>
struct GRANARY_EXPORT TypedAccess {
  using ViewType = View;
  static constexpr AccessMode mode = Mode;
  DataId data;
  RuntimeId runtime;
  View const* shape;

  explicit TypedAccess(Data<View> const& handle)
      : data(handle.id()), runtime(handle.runtime_id()), shape(handle.m_view.get()) {}
};

}  // namespace detail

/// The results of `read`, `write`, `read_write` and `commute`, the arguments of Runtime::submit: TypedAccess and
/// similar types.
template <class A>
concept TaskAccess = requires(A const& access) {
  typename A::ViewType;
  { A::mode } -> std::convertible_to<detail::AccessMode>;
  { access.data } -> std::convertible_to<DataId>;
  { access.runtime } -> std::convertible_to<detail::RuntimeId>;
  access.shape;
};

/// The task reads the value that the last task before it left in `x`.
template <class View>
detail::TypedAccess<View, detail::AccessMode::Read> read(Data<View> const& x) {
  return detail::TypedAccess<View, detail::AccessMode::Read>(x);
}
/// The task writes every element of `x`; it must not read the old values.
template <class View>
detail::TypedAccess<View, detail::AccessMode::Write> write(Data<View> const& x) {
  static_assert(detail::tasks_may_write<View>, "the elements of these data are const: use read(x)");
  return detail::TypedAccess<View, detail::AccessMode::Write>(x);
}
/// The task reads and writes `x`.
template <class View>
detail::TypedAccess<View, detail::AccessMode::ReadWrite> read_write(Data<View> const& x) {
  static_assert(detail::tasks_may_write<View>, "the elements of these data are const: use read(x)");
  return detail::TypedAccess<View, detail::AccessMode::ReadWrite>(x);
}
/// The task reads and writes `x`, in any order with the other tasks that commute on it and are submitted before one
/// that accesses it otherwise; one at a time. Sums of floating-point numbers then depend on the order, which differs
/// from run to run. A task that waits for its turn has no place in any memory, and none of its data are fetched yet.
/// Its turn takes 0.2 to 0.3 microseconds of decisions. Each later access of another kind costs O(unfinished tasks of
/// the run).
template <class View>
detail::TypedAccess<View, detail::AccessMode::Commute> commute(Data<View> const& x) {
  static_assert(detail::tasks_may_write<View>, "the elements of these data are const: use read(x)");
  return detail::TypedAccess<View, detail::AccessMode::Commute>(x);
}

}  // namespace granary
