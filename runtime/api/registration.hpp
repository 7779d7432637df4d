// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/api/parts.hpp>
#include <granary/detail/runtime/api/temporary.hpp>
#include <granary/detail/runtime/session/session.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// Data of a session: Views, their parts, temporaries.
namespace granary::detail {

// Throws InvalidArgument, which names the first of the data (by its number in `owners`, from 1) whose Runtime is not
// `own`. `subject` is the task or function that uses the data.
[[noreturn]] GRANARY_EXPORT void refuse_foreign_data(RuntimeId own, std::string const& subject,
                                                     std::span<RuntimeId const> owners);

// Throws InvalidArgument for data of another Runtime.
template <class... D>
void refuse_foreign(Session const& session, char const* function, D const&... data) {
  if ((... || (data.runtime_id() != session.id())))
    refuse_foreign_data(session.id(), function + std::string("()"), std::array{data.runtime_id()...});
}

// Of a DualView: tells which side the application has changed.
template <class D>
void tell_changes(D const& data) {
  if constexpr (requires { data.in_use(); }) static_cast<void>(data.in_use());
}

// Registers the elements of a View; `memory`, if any, owns them.
template <class View>
Data<View> register_view(Session& session, View const& view, std::string const& name,
                         std::shared_ptr<void const> memory, MirrorSide const& mirror, MatrixPosition position = {}) {
  auto const called = name_or_shape(name.empty() ? view.label() : name, shape_of(view));
  auto const form = form_of(view);
  if (!form.movable) session.refuse_on_devices(called, describe(shape_of(view)));
  auto held = session.hold_view(called, form.bytes,
                                {.memory = bytes_at(view),
                                 .on_host = on_host<View>,
                                 .mirror = mirror,
                                 .lines = form.lines,
                                 .set = form.set,
                                 .keep = keep_view(view, std::move(memory)),
                                 .serves = &serves<View>,
                                 .position = position});
  return Handles::data(std::move(held.hold), std::static_pointer_cast<View const>(held.view));
}

// See Runtime::partition.
template <class View, class... Tiles>
Parts<View> partition(Session& session, Data<View> const& whole, Tiles... tiles) {
  constexpr auto rank = rank_of<View>;
  static_assert(sizeof...(Tiles) == rank, "one tile size per dimension");
  refuse_foreign(session, "partition", whole);
  View const& view = *Handles::view(whole);
  bool const in_place = view.data() != nullptr;
  auto const name = session.name_of(whole.id());
  Tiling<rank> tiling;
  std::size_t d = 0;
  ((tiling.extents[d] = view.extent(d), tiling.tile[d] = tile_of(name, d, view.extent(d), tiles), ++d), ...);
  auto parts = Handles::parts<View>(tiling);
  if (in_place) {
    for (std::size_t p = 0; p < tiling.size(); ++p) {
      Handles::add(parts, register_view(session, part_of(view, tiling.ranges(p)), name + tiling.indices(p),
                                        Handles::view(whole), {}, tiling.position(p)));
    }
  } else if constexpr (may_be_temporary<View>) {
    using Parted = DivisionOf<View>;
    for (std::size_t e = 0; e < rank; ++e) tiling.tile[e] = std::min(tiling.tile[e], tiling.extents[e]);
    auto const& made =
        session.divide(Handles::hold(whole), std::make_unique<Parted>(whole.id(), Handles::view(whole), tiling));
    for (std::size_t p = 0; p < tiling.size(); ++p) {
      std::shared_ptr<DataHold const> hold(Handles::hold(whole), &made.holds()[p]);
      Handles::add(parts, Handles::data(std::move(hold), static_cast<Parted const&>(made).shape(p)));
    }
  } else {
    refuse_parts_of_part();
  }
  return parts;
}

// See Runtime::part.
template <class View, class... Ranges>
Data<PartView<View>> part(Session& session, Data<View> const& whole, Ranges const&... ranges) {
  static_assert(sizeof...(Ranges) == rank_of<View>, "one range per dimension");
  refuse_foreign(session, "part", whole);
  View const& view = *Handles::view(whole);
  if (view.data() == nullptr) refuse_part_of_temporary();
  auto const name = session.name_of(whole.id());
  std::size_t d = 0;
  auto const next = [&](auto const& range) {
    auto const dimension = d++;
    return range_of(name, dimension, view.extent(dimension), range);
  };
  std::array<PartRange, rank_of<View>> const checked{next(ranges)...};
  return register_view(session, part_of(view, checked), name + describe(std::span<PartRange const>(checked)),
                       Handles::view(whole), {});
}

// See Runtime::temporary.
template <class T, class... Extents>
Data<TemporaryView<T, sizeof...(Extents)>> temporary(Session& session, std::string_view label, Extents... extents) {
  check_temporary<T, Extents...>();
  using View = TemporaryView<T, sizeof...(Extents)>;
  auto const all = view_extents<View>(extents...);
  auto const bytes = temporary_bytes(all, sizeof(typename View::value_type));
  auto shape = shape_only<View>(all);
  auto const id = session.add_data(std::string(label), bytes, {.keep = shape});
  return Handles::data(session.hold(id), std::shared_ptr<View const>(std::move(shape)));
}

template <class View>
void DivisionOf<View>::add_parts(Session& session, std::string const& name) {
  for (std::size_t p = 0; p < m_tiling.size(); ++p) {
    auto shape = part_shape(*m_shape, m_tiling.ranges(p));
    Bytes const bytes = shape->size() * sizeof(typename View::value_type);
    add(session.releaser(), session.add_data(name + m_tiling.indices(p), bytes, {.keep = shape}));
    m_shapes.push_back(std::move(shape));
  }
}

template <class View>
template <class Body, class From, class To>
void DivisionOf<View>::copy(Session& session, char const* name, std::size_t part) const {
  auto const [from, from_shape] = access<From>(part);
  auto const [to, to_shape] = access<To>(part);
  using Task = HostTask<Body, From, To>;
  session.submit_copy(name, code_of<Body, From, To>(), std::array{from, to},
                      Parameters(Task{Body{{}, m_tiling.ranges(part)}, {from_shape, to_shape}}));
}

}  // namespace granary::detail
