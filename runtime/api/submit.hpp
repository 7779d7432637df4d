// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/api/host_task.hpp>
#include <granary/detail/runtime/api/reduce.hpp>
#include <granary/detail/runtime/api/registration.hpp>
#include <granary/detail/runtime/api/temporary.hpp>
#include <granary/detail/runtime/session/session.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

// Tasks of a session: bodies with their accesses.
namespace granary::detail {

// Accesses as the task has them: room for scratch, a copy for a reduction.
template <class A>
A const& made(Session&, A const& access, std::string_view) {
  return access;
}
template <class T, std::size_t Rank>
MadeScratch<TemporaryView<T, Rank>> made(Session& session, ScratchAccess<T, Rank> const& scratch,
                                         std::string_view task) {
  return std::apply(
      [&](auto... extents) {
        return MadeScratch<TemporaryView<T, Rank>>(
            temporary<T>(session, "scratch of '" + std::string(task) + "'", extents...));
      },
      scratch.extents);
}

template <class View, class Op, bool Ordered>
MadeReduction<View, Ordered> made(Session& session, ReduceAccess<View, Op, Ordered> const& reduction,
                                  std::string_view) {
  auto const form = form_of(*Handles::view(reduction.data));
  return {reduction.data, session.next_copy(std::make_unique<ReductionOf<View, Op, Ordered>>(
                              reduction.data, reduction.op, form.bytes, Handles::view(reduction.data)))};
}

template <class... Accesses>
void refuse_foreign_accesses(Session const& session, TaskName const& task, Accesses const&... accesses) {
  if ((... || (runtime_of(accesses, session.id()) != session.id()))) {
    std::array<RuntimeId, sizeof...(accesses)> const owners{runtime_of(accesses, session.id())...};
    naming_line(task.source_line,
                [&] { refuse_foreign_data(session.id(), "task '" + std::string(task.text) + "'", owners); });
  }
}

template <class Body, class... Accesses>
TaskHandle submit_made(Session& session, TaskInfo const& info, Body body, Accesses const&... accesses);

// See Runtime::submit.
template <class Body, class... Accesses>
TaskHandle submit(Session& session, TaskInfo const& info, Body body, Accesses const&... accesses) {
  refuse_foreign_accesses(session, info.name, accesses...);
  if constexpr ((is_reduction<Accesses> || ...)) {
    std::array const list{std::pair(data_of(accesses), is_reduction<Accesses>)...};
    return session.submit_reducing(info, list,
                                   [&] { return submit_made(session, info, std::move(body), accesses...); });
  } else if constexpr ((is_scratch<Accesses> || ...)) {
    return submit_made(session, info, std::move(body), accesses...);
  } else if constexpr (check_task<Body, Accesses...>()) {
    using TypedTask = HostTask<Body, Accesses...>;
    std::array<Access, sizeof...(accesses)> const list{Access{accesses.data, Accesses::mode}...};
    return session.submit(info, code_of<Body, Accesses...>(), list,
                          Parameters(TypedTask{std::move(body), {accesses.shape...}}));
  } else {
    return {};
  }
}

template <class Body, class... Accesses>
TaskHandle submit_made(Session& session, TaskInfo const& info, Body body, Accesses const&... accesses) {
  auto const all =
      naming_line(info.name.source_line, [&] { return std::tuple{made(session, accesses, info.name.text)...}; });
  return std::apply([&](auto const&... own) { return submit(session, info, std::move(body), own...); }, all);
}

// See Runtime::submit_outside.
template <class Ended, class... Accesses>
TaskHandle submit_outside(Session& session, TaskName const& name, Ended ended, Accesses const&... accesses) {
  if constexpr (check_ended<Ended>() && check_outside<Accesses...>()) {
    refuse_foreign_accesses(session, name, accesses...);
    std::array<Access, sizeof...(accesses)> const list{Access{accesses.data, Accesses::mode}...};
    return session.submit_outside(name, as_function(std::move(ended)), list);
  } else {
    return {};
  }
}

// See Runtime::submit_after.
template <class Instance, class... Accesses>
TaskHandle submit_after(Session& session, TaskName const& name, Instance const& instance, Accesses const&... accesses) {
  constexpr bool on_instance = Kokkos::is_execution_space<Instance>::value;
  static_assert(on_instance,
                "name the work, then pass its execution-space instance: submit_after(\"fill\", instance, "
                "write(x))");
  if constexpr (on_instance && check_outside<Accesses...>()) {
    std::function<bool()> ended;
    if constexpr (has_device_space && std::is_same_v<Instance, DeviceExecutionSpace>)
      ended = session.end_of_work(&instance);
    if (!ended) {
      instance.fence();
      ended = [] { return true; };
    }
    return submit_outside(session, name, ended, accesses...);
  } else {
    return {};
  }
}

template <class View, class Op, bool Ordered>
void ReductionOf<View, Op, Ordered>::fill(Session& session, DataId copy) const {
  TypedAccess<View, AccessMode::Write> filled(m_data);
  filled.data = copy;
  submit(session, TaskInfo{own_task("identity")}, FillWithIdentity<Op>{}, filled);
}

template <class View, class Op, bool Ordered>
void ReductionOf<View, Op, Ordered>::combine(Session& session, DataId copy) const {
  TypedAccess<View, AccessMode::Read> part(m_data);
  part.data = copy;
  submit(session, TaskInfo{own_task("combine")}, Combine<Op>{{}, m_op}, part, read_write(m_data));
}

template <class View, class Op, bool Ordered>
void ReductionOf<View, Op, Ordered>::check_combine(Session& session, DataId copy) const {
  using Part = TypedAccess<View, AccessMode::Read>;
  using Whole = TypedAccess<View, AccessMode::ReadWrite>;
  session.check_task("combine", code_of<Combine<Op>, Part, Whole>(),
                     std::array{Access{copy, Part::mode}, Access{data(), Whole::mode}});
}

}  // namespace granary::detail
