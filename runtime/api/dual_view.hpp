// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/runtime/api/runtime.hpp>
#include <granary/detail/runtime/session/two_sides.hpp>

#include <Kokkos_DualView.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace granary {

namespace detail {

// The flags of a DualView are the application's between a wait and the next task on it, and clear while tasks use it:
// granary knows then which side holds the value. Holds the datum: the wait after the last task asks for its state.
template <class Dual>
class GRANARY_EXPORT DualFlags final : public TwoSides {
 public:
  DualFlags(Session& session, Data<typename Dual::t_host> data, Dual dual)
      : TwoSides(session, data.id(), bytes_at(dual.view_device())), m_held(std::move(data)), m_dual(std::move(dual)) {}

 private:
  void tell() override {
    bool const on_device = m_dual.need_sync_host(), on_host = m_dual.need_sync_device();
    if (on_device) device_changed();
    if (on_host) host_changed();
    if (on_device || on_host) m_dual.clear_sync_state();
  }
  void set_device_valid(bool device_valid) override {
    m_dual.clear_sync_state();
    if (!device_valid) m_dual.modify_host();
  }

  Data<typename Dual::t_host> m_held;
  Dual m_dual;
};

}  // namespace detail

/// A Kokkos::DualView as data; `dual_data` makes it. Host workers use its host side in place, workers of the device on
/// which the other side lies use that one; workers of other devices use copies. Copies refer to the same datum. Use it
/// while the Runtime lives; it may be destroyed later.
///
/// The modified flags work both ways: a task that is submitted after `modify_host()` or `modify_device()` sees what the
/// application has changed there. From the first use of the handle on, the host side holds the value after each
/// Runtime::wait, and `need_sync_device()` tells whether the device side does not; the application may change either
/// side then, as before the first use.
///
/// ```cpp
/// struct Twice {
///   template <class Exec, class X>
///   void operator()(Exec const& exec, X x) const {
///     Kokkos::RangePolicy<Exec> const all(exec, 0, x.extent(0));
///     Kokkos::parallel_for("twice", all, KOKKOS_LAMBDA(int i) { x(i) *= 2; });
///   }
/// };
/// Kokkos::DualView<double*> field("field", 1000);
/// Kokkos::deep_copy(field.view_host(), 1.0);
/// field.modify_host();
/// granary::Runtime runtime;
/// auto const data = granary::dual_data(runtime, field);
/// runtime.submit("twice", Twice{}, read_write(data));  // on the side where it runs
/// runtime.wait();
/// assert(field.view_host()(999) == 2.0);
/// ```
template <class Dual>
class GRANARY_EXPORT DualData {
 public:
  using HostView = typename Dual::t_host;
  [[nodiscard]] DataId id() const { return m_data.id(); }
  [[nodiscard]] detail::RuntimeId runtime_id() const { return m_data.runtime_id(); }
  /// For `read`, `write` and `read_write`: tells granary what the application has changed.
  [[nodiscard]] Data<HostView> const& in_use() const {
    if (m_sides) m_sides->use();
    return m_data;
  }

 private:
  template <class D>
  friend DualData<D> dual_data(Runtime& runtime, D const& dual);
  DualData(Data<HostView> data, std::shared_ptr<detail::TwoSides> sides)
      : m_data(std::move(data)), m_sides(std::move(sides)) {}

  Data<HostView> m_data;
  std::shared_ptr<detail::TwoSides> m_sides;  // null if both sides are the same memory
};

/// Registers a Kokkos::DualView, whose sides are contiguous, under its label. Where both sides are the same memory it
/// is data like its View. Throws InvalidArgument as Runtime::data, also for sides with gaps, for a device that the
/// Runtime does not use, and if the host side is data already without the device side.
template <class Dual>
[[nodiscard]] DualData<Dual> dual_data(Runtime& runtime, Dual const& dual) {
  if (static_cast<void const*>(dual.view_host().data()) == static_cast<void const*>(dual.view_device().data()))
    return {runtime.data(dual.view_host()), nullptr};
  if (!dual.view_host().span_is_contiguous() || !dual.view_device().span_is_contiguous()) {
    throw InvalidArgument("the DualView '" + dual.view_host().label() + "' has gaps between its elements");
  }
  // The first use tells which side is newer. Until then both are the application's.
  detail::MirrorSide const side{.memory = detail::bytes_at(dual.view_device()),
                                .valid = !dual.need_sync_host() && !dual.need_sync_device()};
  auto data = detail::register_view(runtime.session(), dual.view_host(), "", nullptr, side);
  auto sides = std::make_shared<detail::DualFlags<Dual>>(runtime.session(), data, dual);
  return {std::move(data), std::move(sides)};
}

template <class Dual>
detail::TypedAccess<typename Dual::t_host, detail::AccessMode::Read> read(DualData<Dual> const& x) {
  return read(x.in_use());
}
template <class Dual>
detail::TypedAccess<typename Dual::t_host, detail::AccessMode::Write> write(DualData<Dual> const& x) {
  return write(x.in_use());
}
template <class Dual>
detail::TypedAccess<typename Dual::t_host, detail::AccessMode::ReadWrite> read_write(DualData<Dual> const& x) {
  return read_write(x.in_use());
}
template <class Dual>
detail::TypedAccess<typename Dual::t_host, detail::AccessMode::Commute> commute(DualData<Dual> const& x) {
  return commute(x.in_use());
}

}  // namespace granary
