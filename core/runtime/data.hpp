// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/engine/engine.hpp>
#include <granary/core/model/access.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace granary {

/// The View that a task body gets for an access to data of type `View`: unmanaged, and of const elements when it is
/// only read.
template <class View, AccessMode Mode>
using BodyView =
    Kokkos::View<std::conditional_t<Mode == AccessMode::Read, typename View::const_data_type, typename View::data_type>,
                 typename View::array_layout, typename View::device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

namespace detail {

// Gives the datum up when the last handle goes. It may outlive the runtime, and never throws.
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

// The View at another address than the user's is contiguous.
template <class Body, class View>
Body view_at(View const& view, std::byte* address) {
  auto* elements = reinterpret_cast<typename View::pointer_type>(address);
  if (elements == view.data()) return Body(view);
  return Body(elements, view.layout());
}

}  // namespace detail

/// A handle on a datum that has the shape of `View`; copies of it name the same datum. When the last one goes, the
/// datum is given up as soon as the tasks submitted so far have used it.
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

/// What a task does to a datum, with the datum's type; made by `read`, `write` and `read_write`.
template <class View, AccessMode Mode>
struct TypedAccess {
  using ViewType = View;
  static constexpr AccessMode mode = Mode;
  DataId data;
  View const* view;

  explicit TypedAccess(Data<View> const& handle) : data(handle.id()), view(handle.m_view.get()) {}
};

/// The task reads what the last task before it left in `x`.
template <class View>
TypedAccess<View, AccessMode::Read> read(Data<View> const& x) {
  return TypedAccess<View, AccessMode::Read>(x);
}
/// The task gives every element of `x` a value; it must not read what is there.
template <class View>
TypedAccess<View, AccessMode::Write> write(Data<View> const& x) {
  return TypedAccess<View, AccessMode::Write>(x);
}
/// The task changes `x`.
template <class View>
TypedAccess<View, AccessMode::ReadWrite> read_write(Data<View> const& x) {
  return TypedAccess<View, AccessMode::ReadWrite>(x);
}

}  // namespace granary
