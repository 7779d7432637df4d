// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/byte_set.hpp>
#include <granary/core/base/checked.hpp>
#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>
#include <granary/core/engine/lines.hpp>
#include <granary/core/engine/statistics.hpp>
#include <granary/core/model/access.hpp>
#include <granary/core/model/data.hpp>
#include <granary/core/model/parameters.hpp>
#include <granary/core/model/trace.hpp>
#include <granary/core/planner/failure.hpp>
#include <granary/outofcore/storage.hpp>
#include <granary/runtime/config.hpp>
#include <granary/runtime/data.hpp>
#include <granary/runtime/host_task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

class AsyncFileIo;
class Submitter;

/// Where a datum's bytes are when no worker uses them: host memory of the application, slots of storages, or nowhere (a
/// temporary).
struct DataBinding {
  StorageSlot origin = {};    ///< source of the initial value
  StorageSlot home = {};      ///< destination of the final value; the same slot as the origin for data changed in place
  std::byte* host = nullptr;  ///< its bytes, which host workers use in place; then it has no other origin and home
  Lines lines = {};           ///< of `host`, if its bytes are not contiguous
  /// The bytes at `host`, if they are neither `lines` nor contiguous.
  std::optional<ByteSet> set = {};
  std::shared_ptr<void const> keep = {};                           ///< kept until the datum is forgotten
  bool (*serves)(void const* kept, void const* wanted) = nullptr;  ///< see HostBinding
  MatrixPosition position = {};                                    ///< for traces
};

/// Figures of a device; see Runtime::devices.
struct DeviceFigures {
  std::string name;         ///< of its memory node, "device 0"
  std::string description;  ///< as reported by the device
  Bytes limit = 0;          ///< for data
  Bytes peak = 0;           ///< of the bytes in use
  std::uint64_t tasks = 0;
};

/// Bytes moved over the links of devices.
struct DeviceTraffic {
  Bytes from_host = 0;
  Bytes to_host = 0;
  Bytes between = 0;  ///< from one device to another directly
};

/// A machine's workers and memories, ready to run tasks on data: the host's cores, devices, bounded host and device
/// memory, and a disk behind them.
///
/// Kokkos must be initialised before and finalised after. BLAS is limited to one thread per call while a Runtime
/// exists. Tasks may be submitted from several threads; "before" then means the order in which the calls took effect.
class Runtime {
 public:
  /// Throws InvalidArgument for invalid options, see `configure`.
  explicit Runtime(RuntimeOptions const& options = {});
  /// Waits for all submitted tasks; failures that no `wait` reported are logged. If it runs because of an exception,
  /// tasks that have not started are cancelled instead. A Runtime must outlive its tasks: one that is destroyed inside
  /// its own task (whose parameters held it, for example) would wait for itself, so it logs an error and ends the
  /// program.
  ~Runtime();
  Runtime(Runtime const&) = delete;
  Runtime& operator=(Runtime const&) = delete;

  /// Registers the elements of a host View, contiguous or strided, as a datum; the memory may be pinned. Host workers
  /// use the elements in place: they do not count against the memory limit, and must not be accessed otherwise between
  /// the first submission of a task on them and the end of `wait`. On devices the datum is packed: a View with gaps in
  /// one dimension (rank 1 with a stride, rank 2 with a leading dimension) is copied without the gaps, whose content
  /// does not change.
  ///
  /// Views of the same bytes, whatever their rank and type, are one datum, with the name of its first registration.
  /// Views that share only some of their bytes are different data. If one of two such data is written, a task on the
  /// second waits in `submit` until the first is no longer in use, if all handles of the first are destroyed; otherwise
  /// the task is refused. Throws InvalidArgument for a View without elements. If there are devices, also for a View
  /// with gaps in several dimensions, with elements that share addresses, or of elements that are not trivially
  /// copyable.
  template <class DataType, class... Properties>
  Data<Kokkos::View<DataType, Properties...>> data(Kokkos::View<DataType, Properties...> const& view,
                                                   std::string const& name = "");

  /// Registers a temporary, without initial value and home: an array of `extents` (LayoutRight, contiguous) that tasks
  /// write and then read. It uses memory within the limit only while it is in use, and goes to scratch when there is no
  /// room. Throws InvalidArgument for a negative extent, and for more than 2^63 - 1 bytes.
  template <class T, class... Extents>
  auto temporary(Extents... extents);

  /// Limit of distinct names for the tasks of one body (a functor type with its kinds of accesses).
  static constexpr std::size_t most_task_names = 4096;

  /// Submits a task: `body(instance, views...)` will be called once, on a host worker or for a device, with the
  /// worker's execution-space instance and one View per access in the given order (see BodyView and DeviceBodyView).
  /// The body is copied; its call operator is const. It launches kernels on the instance, accesses elements only in
  /// these, and need not fence: on a device it is called before the kernels of earlier tasks have ended.
  ///
  /// A body is compiled for host workers and, if Kokkos has a device backend, for devices; emulated devices run the
  /// host version. Members of the body restrict this: `static constexpr bool host_only = true` or `device_only = true`.
  /// With Kokkos before 4.0 bodies run one at a time, since its host kernels may not run concurrently; a body that
  /// launches no kernels declares `launches_kokkos_kernels = false` and is exempt. It is then host_only, too, unless it
  /// declares `host_only = false`.
  /// (CUDA forbids extended lambdas inside generic lambdas: bodies are functors.)
  ///
  /// Performance models, traces and messages distinguish tasks by name; each name takes ~0.5 KB while the Runtime
  /// exists. After `most_task_names` names of one body, its tasks with new names share the name "others like '<its
  /// first name>'" and one performance model. Throws as Submitter::submit.
  template <class Body, TaskAccess... Accesses>
  TaskId submit(TaskInfo const& info, Body body, Accesses const&... accesses);

  /// Returns when every submitted task has ended and every home holds its final value; see Engine::wait for failures.
  /// Throws InvalidArgument inside a task of this Runtime, where it would wait for itself.
  void wait();
  /// The failures that the last throwing `wait` found, first submitted first: message, exception, and lost data.
  [[nodiscard]] std::vector<Failure> const& failures() const;
  /// Cancels every task that was not handed to a worker; `wait` throws `error`. May be called from any thread.
  void cancel(std::exception_ptr error);

  /// The running tasks, what each task waits for, and the bytes in use of every memory, as text. May be called from any
  /// thread, also while others are in `wait`. No task is scheduled meanwhile: O(live tasks and their edges).
  [[nodiscard]] std::string describe() const;

  /// The record of what has ended so far, with the configuration; empty unless RuntimeOptions::trace or record_trace
  /// asks for it. O(events).
  [[nodiscard]] Trace trace() const;

  // For algorithms.
  [[nodiscard]] Submitter& submitter();
  /// For granary's own tests and measurements.
  [[nodiscard]] Engine& engine();
  [[nodiscard]] EngineStatistics statistics() const;
  /// Registers a datum of `bytes` bytes; data with an address may be registered several times, see
  /// Engine::add_host_data. Release it with `submitter().release_data`, once per registration.
  DataId add_data(std::string name, Bytes bytes, DataBinding binding);
  /// Pins the application's memory while the result exists, so that devices copy from and to it at full speed, if there
  /// are devices and the system allows it. Pin memory that holds several data once, before they are added: parts are
  /// pinned with it. Null if pinning has no use.
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes);
  /// Asynchronous file I/O with the options' bandwidth, created on first use.
  [[nodiscard]] std::shared_ptr<AsyncFileIo> io();
  /// The options after `configure`.
  [[nodiscard]] RuntimeOptions const& options() const;
  /// Throws InvalidArgument inside a task of this Runtime; `what` ("wait()") is the subject of its sentence.
  void refuse_in_task(std::string_view what) const;
  [[nodiscard]] static NodeId host_node() { return NodeId(0); }
  [[nodiscard]] static NodeId disk_node() { return NodeId(1); }
  /// The memory node of a device, by its index in `devices`.
  [[nodiscard]] static NodeId device_node(std::size_t device) { return NodeId(static_cast<std::uint32_t>(2 + device)); }
  /// Peak of the bytes in use under the memory limit.
  [[nodiscard]] Bytes host_memory_peak() const { return statistics().planner.nodes[host_node().index()].peak; }
  /// The devices in the machine's order, and the bytes moved from and to them.
  [[nodiscard]] std::vector<DeviceFigures> devices() const;
  [[nodiscard]] DeviceTraffic device_traffic() const;
  /// Bytes read from and written to files: matrices and scratch. (Bytes over links, including generated values, are in
  /// `statistics`.)
  [[nodiscard]] Bytes bytes_read() const;
  [[nodiscard]] Bytes bytes_written() const;

 private:
  struct Parts;

  [[nodiscard]] std::shared_ptr<detail::DataHold const> hold(DataId data) const;
  [[nodiscard]] detail::HeldView hold_view(std::string name, Bytes bytes, DataBinding binding);
  TaskId submit_task(TaskInfo const& info, detail::TaskCode const& code, std::span<Access const> accesses,
                     Parameters parameters);
  // Throws InvalidArgument for a View that cannot be copied to a device, if there are devices.
  void refuse_on_devices(std::string const& name, std::string const& shape) const;

  std::unique_ptr<Parts> m_parts;
};

template <class DataType, class... Properties>
Data<Kokkos::View<DataType, Properties...>> Runtime::data(Kokkos::View<DataType, Properties...> const& view,
                                                          std::string const& name) {
  using View = Kokkos::View<DataType, Properties...>;
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible,
                "granary needs a View in host memory");
  static_assert(!std::is_const_v<typename View::value_type>, "granary needs a View of elements that are not const");
  auto const called = name.empty() ? view.label() : name;
  auto const form = detail::form_of(view);
  if (!form.movable) refuse_on_devices(called, detail::describe(detail::shape_of(view)));
  auto held = hold_view(called, form.bytes,
                        {.host = reinterpret_cast<std::byte*>(view.data()),
                         .lines = form.lines,
                         .set = form.set,
                         .keep = std::make_shared<View const>(view),
                         .serves = &detail::serves<View>});
  return {std::move(held.hold), std::static_pointer_cast<View const>(held.view)};
}

namespace detail {

template <class T, std::size_t Rank>
struct PointerTo {
  using type = typename PointerTo<T, Rank - 1>::type*;
};
template <class T>
struct PointerTo<T, 0> {
  using type = T;
};

}  // namespace detail

template <class T, class... Extents>
auto Runtime::temporary(Extents... extents) {
  static_assert(std::is_trivially_copyable_v<T>, "granary moves elements byte by byte");
  using View = Kokkos::View<typename detail::PointerTo<T, sizeof...(Extents)>::type, Kokkos::LayoutRight,
                            Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Bytes const bytes = array_bytes({checked_extent(extents)...}, sizeof(T));
  auto kept = std::make_shared<View const>(nullptr, static_cast<std::size_t>(extents)...);
  auto const id = add_data("temporary", bytes, {.keep = kept});
  return Data<View>(hold(id), std::move(kept));
}

template <class Body, TaskAccess... Accesses>
TaskId Runtime::submit(TaskInfo const& info, Body body, Accesses const&... accesses) {
  using TypedTask = detail::HostTask<Body, Accesses...>;
  std::array<Access, sizeof...(accesses)> const list{Access{accesses.data, Accesses::mode}...};
  return submit_task(info,
                     {TypedTask::kernels(), detail::element_sizes<typename Accesses::ViewType...>(),
                      detail::launches_kokkos_kernels<Body>()},
                     list, Parameters(TypedTask{std::move(body), {accesses.shape...}}));
}

}  // namespace granary

#pragma GCC visibility pop
