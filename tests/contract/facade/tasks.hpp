// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data and the tasks of programs, with their types.
#pragma once

#include "contract/facade/program.hpp"

#include <granary/detail/runtime/api/dual_view.hpp>
#include <granary/detail/runtime/api/varying.hpp>
#include <granary/granary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>

namespace granary::facade_test {

using Host = Kokkos::HostSpace;
using Vector = Kokkos::View<double*, Host>;
using Left = Kokkos::View<double**, Kokkos::LayoutLeft, Host>;
using Right = Kokkos::View<double**, Kokkos::LayoutRight, Host>;
using Constant = Kokkos::View<double const**, Kokkos::LayoutRight, Host>;
using DeviceArray = detail::DeviceView<double**, Kokkos::LayoutRight>;
using DeviceLine = detail::DeviceView<double*, Kokkos::LayoutRight>;

/// As a Kokkos::DualView, whose sides are the same memory if Kokkos has no device backend.
struct TwoSidedVector {
  using t_host = Vector;
  Vector h_view;
  DeviceLine::View d_view;
  [[nodiscard]] Vector const& view_host() const { return h_view; }
  [[nodiscard]] DeviceLine::View const& view_device() const { return d_view; }
  std::shared_ptr<std::array<bool, 2>> modified = std::make_shared<std::array<bool, 2>>();  // host, device
  [[nodiscard]] bool need_sync_host() const { return (*modified)[1]; }
  [[nodiscard]] bool need_sync_device() const { return (*modified)[0]; }
  void modify_host() const { (*modified)[0] = true; }
  void modify_device() const { (*modified)[1] = true; }
  void clear_sync_state() const { *modified = {}; }
};

/// A handle: the alternative is its Kind, or the last one for a DualView.
using Held =
    std::variant<Data<Vector>, Data<Left>, Data<Right>, Data<detail::PartView<Vector>>, Data<detail::PartView<Right>>,
                 Data<Constant>, Data<DeviceArray::View>, Data<detail::PartView<DeviceArray::View>>, Temporary<Right>,
                 Scalar<double>, Varying<double>, DualData<TwoSidedVector>>;
template <Kind kind, class Handle>
Held held(Handle const& handle) {
  return Held(std::in_place_index<static_cast<std::size_t>(kind)>, handle);
}
inline constexpr std::size_t dual_index = kind_count;

/// The handle as data of its kind.
template <Kind kind>
auto const& data_of(Held const& handle) {
  if constexpr (kind == Kind::Vector) {
    if (auto const* const dual = std::get_if<dual_index>(&handle)) return dual->in_use();
  }
  return std::get<static_cast<std::size_t>(kind)>(handle);
}

/// What failing tasks throw.
struct Failed : std::runtime_error {
  explicit Failed(Name number) : std::runtime_error("task " + std::to_string(number) + " fails"), task(number) {}
  Name task;
};

/// Work, and where it leaves the checksum of what it found; `torn` if that changed while it ran.
struct RealWork : Work {
  std::uint64_t* seen = nullptr;
};
inline constexpr std::uint64_t torn = 0xdead;

/// Submits a task of that form.
TaskHandle submit_form(std::size_t form, Runtime& runtime, std::span<Held const* const> handles,
                       std::array<std::size_t, 2> scratch, RealWork const& work);
/// Submits work outside of that form; `instance`: by submit_after.
TaskHandle submit_outside_form(std::size_t form, Runtime& runtime, std::span<Held const* const> handles,
                               std::function<bool()> const& ended, bool after, Name task);
/// Submits a task that reads `outer` and submits others; see Nest.
TaskHandle submit_nest(Runtime& runtime, Held const& outer, Scalar<double> const& inner, Nest const& step,
                       RealWork const& work);
/// Submits a task that contributes to the scalar and needs more memory than there is.
TaskHandle submit_larger(Runtime& runtime, Scalar<double> const& data);

/// What a task of a form does, on memory instead of Views.
void work_on_memory(Form const& form, std::span<std::pair<double*, Region> const> memory, RealWork const& work);

}  // namespace granary::facade_test
