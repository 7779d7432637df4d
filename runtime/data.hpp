// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/kokkos_compat.hpp>
#include <granary/core/backends/kokkos_core.hpp>
#include <granary/core/base/byte_set.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/engine/lines.hpp>
#include <granary/core/model/access.hpp>
#include <granary/runtime/view_lines.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace granary {

class Engine;

/// The View that a task body gets for an access to data of type `View`: unmanaged, of const elements if it is only
/// read, and with the data's layout. `Place`: a Kokkos::Device whose execution space can access the elements.
template <class View, AccessMode Mode, class Place = typename View::device_type>
using BodyView =
    Kokkos::View<std::conditional_t<Mode == AccessMode::Read, typename View::const_data_type, typename View::data_type>,
                 typename View::array_layout, Place, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The same for a body on a device: the elements are in device memory.
template <class View, AccessMode Mode>
using DeviceBodyView =
    BodyView<View, Mode, Kokkos::Device<DeviceExecutionSpace, typename DeviceExecutionSpace::memory_space>>;

namespace detail {

// Releases the datum when the last handle is destroyed. It may outlive the runtime, and never throws.
class DataHold {
 public:
  DataHold(std::weak_ptr<Engine> engine, DataId id) : m_engine(std::move(engine)), m_id(id) {}
  ~DataHold();
  DataHold(DataHold const&) = delete;
  DataHold& operator=(DataHold const&) = delete;
  [[nodiscard]] DataId id() const { return m_id; }

 private:
  std::weak_ptr<Engine> m_engine;
  DataId m_id;
};

// A handle on application memory, and the View that is kept for it: the one of its first registration.
struct HeldView {
  std::shared_ptr<DataHold const> hold;
  std::shared_ptr<void const> view;
};

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
  if constexpr (std::is_constructible_v<Body, View const&>) {
    if (elements == view->data()) return Body(*view);
  }
  return Body(elements, packed_layout(*view));
}

// The shape of a matrix in LayoutRight: `pitch` elements from one row to the next, at any address.
struct RowsShape {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t pitch = 0;
};

template <class Body>
Body view_at(RowsShape const& shape, std::byte* address) {
  Body const full(reinterpret_cast<typename Body::pointer_type>(address), shape.rows, shape.pitch);
  return Kokkos::subview(full, Kokkos::ALL, std::pair(std::size_t{0}, shape.cols));
}

// How the elements of a View can be copied.
struct ElementsForm {
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
    if (lines && lines->count > 0) form = {lines->count * lines->packed, *lines, true};
    form.set = bytes_of(shape, view.data(), size);
  } else if (form.bytes > 0) {
    form.set = ByteSet(view.data(), form.bytes);
  }
  form.movable = form.movable && std::is_trivially_copyable_v<typename View::value_type>;
  return form;
}

// Whether a kept View can replace another one of the same bytes.
template <class View>
bool serves(void const* kept, void const* wanted) {
  auto const& a = *static_cast<View const*>(kept);
  auto const& b = *static_cast<View const*>(wanted);
  auto const shape = shape_of(a);
  auto const other = shape_of(b);
  return a.data() == b.data() && shape.extents == other.extents && shape.strides == other.strides &&
         (a.use_count() > 0 || b.use_count() == 0);
}

}  // namespace detail

/// A handle on a datum with the shape of `View`; its copies refer to the same datum. When the last one is destroyed,
/// the datum is released as soon as the tasks submitted so far have used it.
template <class View>
class Data {
 public:
  [[nodiscard]] DataId id() const { return m_hold->id(); }

 private:
  friend class Runtime;
  template <class V, AccessMode Mode>
  friend struct TypedAccess;
  Data(std::shared_ptr<detail::DataHold const> hold, std::shared_ptr<View const> view)
      : m_hold(std::move(hold)), m_view(std::move(view)) {}

  std::shared_ptr<detail::DataHold const> m_hold;
  std::shared_ptr<View const> m_view;  // the engine keeps it until the datum is forgotten
};

/// A task's access to a datum, with the datum's type; made by `read`, `write` and `read_write`.
template <class View, AccessMode Mode>
struct TypedAccess {
  using ViewType = View;
  static constexpr AccessMode mode = Mode;
  DataId data;
  View const* shape;

  explicit TypedAccess(Data<View> const& handle) : data(handle.id()), shape(handle.m_view.get()) {}
};

/// The results of `read`, `write` and `read_write`, the arguments of Runtime::submit: TypedAccess and similar types.
template <class A>
concept TaskAccess = requires(A const& access) {
  typename A::ViewType;
  { A::mode } -> std::convertible_to<AccessMode>;
  { access.data } -> std::convertible_to<DataId>;
  access.shape;
};

/// The task reads the value that the last task before it left in `x`.
template <class View>
TypedAccess<View, AccessMode::Read> read(Data<View> const& x) {
  return TypedAccess<View, AccessMode::Read>(x);
}
/// The task writes every element of `x`; it must not read the old values.
template <class View>
TypedAccess<View, AccessMode::Write> write(Data<View> const& x) {
  return TypedAccess<View, AccessMode::Write>(x);
}
/// The task reads and writes `x`.
template <class View>
TypedAccess<View, AccessMode::ReadWrite> read_write(Data<View> const& x) {
  return TypedAccess<View, AccessMode::ReadWrite>(x);
}

}  // namespace granary

#pragma GCC visibility pop
