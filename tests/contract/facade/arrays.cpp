// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contract/facade/arrays.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace granary::facade_test {

using namespace detail;

namespace {

template <Kind kind>
using Constantly = std::integral_constant<Kind, kind>;

// Calls `function(data, kind)` with the handle as data of its kind, if these have parts; a temporary refuses that.
template <class Function>
auto with_data(Kind kind, Held const& whole, Function&& function) {
  switch (kind) {
    case Kind::Vector:
      return function(data_of<Kind::Vector>(whole), Constantly<Kind::Line>{});
    case Kind::Line:
      return function(data_of<Kind::Line>(whole), Constantly<Kind::Line>{});
    case Kind::Left:
      return function(data_of<Kind::Left>(whole), Constantly<Kind::Block>{});
    case Kind::Right:
      return function(data_of<Kind::Right>(whole), Constantly<Kind::Block>{});
    case Kind::Block:
      return function(data_of<Kind::Block>(whole), Constantly<Kind::Block>{});
    case Kind::OnDevice:
      return function(data_of<Kind::OnDevice>(whole), Constantly<Kind::DevicePart>{});
    case Kind::DevicePart:
      return function(data_of<Kind::DevicePart>(whole), Constantly<Kind::DevicePart>{});
    default:
      return function(data_of<Kind::Temporary>(whole), Constantly<Kind::Block>{});
  }
}

// Calls `call` with an index for each dimension of the data.
template <class View, class Call>
auto with_dimensions(Data<View> const&, Call&& call) {
  if constexpr (static_cast<std::size_t>(View::rank) == 1) {
    return call(0);
  } else {
    return call(0, 1);
  }
}

}  // namespace

Arrays::Arrays(Program const& program, Model const& model, Runtime& runtime) {
  for (auto const& array : program.arrays) {
    make(array, runtime);
    auto const& made = m_memory.back();
    auto const& values = model.arrays().at(static_cast<Name>(m_memory.size() - 1)).values;
    std::ranges::copy(values, made.cells);
    if (made.dual) std::ranges::copy(values, made.dual->d_view.data());
  }
}

void Arrays::make(Array const& array, Runtime& runtime) {
  using LayoutRight = Kokkos::LayoutRight;
  auto& memory = m_memory.emplace_back();
  switch (array.place) {
    case Place::HostLeft:
      memory.cells = memory.left.emplace("left", array.rows, array.cols).data();
      break;
    case Place::HostRight:
      memory.cells = memory.right.emplace("right", array.rows, array.cols).data();
      break;
    case Place::Device:
      memory.on_device = runtime.device_view<double**, LayoutRight>(array.device, "on device", array.rows, array.cols);
      memory.cells = memory.on_device->view.data();
      break;
    default:
      memory.device_side = runtime.device_view<double*, LayoutRight>(array.device, "dual", array.cols);
      memory.dual = TwoSidedVector{Vector("dual", array.cols), memory.device_side->view};
      memory.cells = memory.dual->h_view.data();
  }
}

Held Arrays::data(Runtime& runtime, MakeHandle const& step) const {
  auto const& memory = m_memory[step.array];
  auto const& region = step.region;
  auto* const first = memory.cells + region.first;
  if (memory.dual) return Held(std::in_place_index<dual_index>, dual_data(runtime, *memory.dual));
  switch (step.kind) {
    case Kind::OnDevice:
      return held<Kind::OnDevice>(runtime.data(*memory.on_device));
    case Kind::Vector:
      return held<Kind::Vector>(runtime.data(Vector(first, region.extents[0]), "vector"));
    case Kind::Line: {
      Kokkos::LayoutStride const layout(region.extents[0], region.strides[0]);
      return held<Kind::Line>(runtime.data(PartView<Vector>(first, layout), "line"));
    }
    default:
      break;
  }
  // A rectangle of the matrix.
  auto const pitch = memory.left ? memory.left->extent(0) : memory.right->extent(1);
  auto const top = memory.left ? region.first % pitch : region.first / pitch;
  auto const begin = memory.left ? region.first / pitch : region.first % pitch;
  std::pair const rows(top, top + region.extents[0]), cols(begin, begin + region.extents[1]);
  if (step.kind == Kind::Left) return held<Kind::Left>(runtime.data(Left(*memory.left, rows, cols)));
  if (step.kind == Kind::Right) return held<Kind::Right>(runtime.data(Right(*memory.right, rows, cols)));
  if (step.kind == Kind::Constant)
    return held<Kind::Constant>(runtime.data(Constant(Right(*memory.right, rows, cols))));
  auto const block = memory.left ? PartView<Right>(Kokkos::subview(*memory.left, rows, cols))
                                 : PartView<Right>(Kokkos::subview(*memory.right, rows, cols));
  return held<Kind::Block>(runtime.data(block, "block"));
}

Held Arrays::part(Runtime& runtime, Kind kind, Held const& whole, std::array<std::size_t, 2> from,
                  std::array<std::size_t, 2> to) {
  return with_data(kind, whole, [&](auto const& data, auto of_parts) {
    auto const range = [&](int d) {
      return std::pair(from[static_cast<std::size_t>(d)], to[static_cast<std::size_t>(d)]);
    };
    return with_dimensions(data, [&](auto... d) { return held<of_parts()>(runtime.part(data, range(d)...)); });
  });
}

std::vector<Held> Arrays::partition(Runtime& runtime, Kind kind, Held const& whole, std::array<std::size_t, 2> tiles) {
  return with_data(kind, whole, [&](auto const& data, auto of_parts) {
    auto const parts = with_dimensions(
        data, [&](auto... d) { return runtime.partition(data, tiles[static_cast<std::size_t>(d)]...); });
    std::vector<Held> all;
    for (auto const& part : parts) all.push_back(held<of_parts()>(part));
    return all;
  });
}

// Only the side that is valid may be changed. All elements are, so the other side need not be.
void Arrays::change(Change const& step) {
  auto const& memory = m_memory[step.array];
  auto* cells = memory.cells;
  if (memory.dual) {
    auto const& dual = *memory.dual;
    bool const device = dual.need_sync_host() || (step.on_device && !dual.need_sync_device());
    if (device) cells = dual.d_view.data();
    device ? dual.modify_device() : dual.modify_host();
  }
  step.region.for_each([&](std::size_t cell, std::size_t) { cells[cell] = Model::changed(step.salt, cell); });
}

void Arrays::recover(Recover const& step) {
  // No handle exists, so that both sides are the application's.
  auto const& memory = m_memory[step.array];
  auto const count = memory.left    ? memory.left->size()
                     : memory.right ? memory.right->size()
                     : memory.dual  ? memory.dual->h_view.size()
                                    : memory.on_device->view.size();
  for (std::size_t cell = 0; cell < count; ++cell) {
    memory.cells[cell] = Model::changed(step.salt, cell);
    if (memory.dual) memory.dual->d_view(cell) = memory.cells[cell];
  }
  if (memory.dual) memory.dual->clear_sync_state();
}

void Arrays::compare(Name array, Region const& region, std::vector<double> const& expected, bool waited) const {
  if (array >= m_memory.size()) return;
  auto const& memory = m_memory[array];
  auto const look = [&](double const* cells, char const* side) {
    region.for_each([&](std::size_t cell, std::size_t) {
      if (cells[cell] == expected[cell]) return;
      throw std::runtime_error("array " + std::to_string(array) + side + " has " + std::to_string(cells[cell]) +
                               " in cell " + std::to_string(cell) + " instead of " + std::to_string(expected[cell]));
    });
  };
  if (!memory.dual || !memory.dual->need_sync_host()) look(memory.cells, "");
  if (memory.dual && waited && !memory.dual->need_sync_device()) look(memory.dual->d_view.data(), " (device side)");
}

}  // namespace granary::facade_test
