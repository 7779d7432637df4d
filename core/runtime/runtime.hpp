// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/backends/blas_threads.hpp>
#include <granary/core/backends/device_memory.hpp>
#include <granary/core/base/checked.hpp>
#include <granary/core/engine/engine.hpp>
#include <granary/core/runtime/config.hpp>
#include <granary/core/runtime/data.hpp>
#include <granary/core/runtime/host_task.hpp>
#include <granary/core/runtime/machine.hpp>
#include <granary/core/runtime/machine_cache.hpp>
#include <granary/core/runtime/watchdog.hpp>
#include <granary/outofcore/async_file_io.hpp>
#include <granary/outofcore/disk_node.hpp>

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Where a datum's bytes are when no worker uses them: host memory of the application, or slots of storages, or nowhere
/// (a temporary).
struct DataBinding {
  StorageSlot origin = {};  ///< its first value is read from here
  StorageSlot home = {};    ///< its last value is written here; the same slot as the origin's for data changed in place
  std::byte* host = nullptr;  ///< its bytes, which host workers use in place; then there is no origin and home
  Lines lines = {};           ///< of `host`, where its bytes are not contiguous
  /// The bytes at `host`, where they are neither `lines` nor contiguous.
  std::optional<ByteSet> set = {};
  std::shared_ptr<void const> keep = {};                           ///< kept until the datum is forgotten
  bool (*serves)(void const* kept, void const* wanted) = nullptr;  ///< see HostBinding
  MatrixPosition position = {};                                    ///< for traces
};

/// What a device did; see Runtime::devices.
struct DeviceFigures {
  std::string name;         ///< of its memory node, "device 0"
  std::string description;  ///< what the device says that it is
  Bytes limit = 0;          ///< for data
  Bytes peak = 0;           ///< of the bytes in use under it
  std::uint64_t tasks = 0;
};

/// Bytes moved over the links of devices.
struct DeviceTraffic {
  Bytes from_host = 0;
  Bytes to_host = 0;
  Bytes between = 0;  ///< from one device to another directly
};

/// A machine's workers and memories, ready to run tasks on data: the host's cores, devices, host memory and theirs up
/// to limits, and a disk behind it.
///
/// Kokkos must be initialised before and finalised after. BLAS is held to one thread per call while a Runtime lives.
/// Tasks may be submitted from several threads; "before" then means the order in which the calls were served.
class Runtime {
 public:
  /// Throws InvalidArgument for options that cannot be, see `configure`.
  explicit Runtime(RuntimeOptions const& options = {});
  /// Waits for everything submitted; failures that no `wait` reported are written to the log. While an exception passes
  /// through, tasks that have not started are cancelled instead. A Runtime outlives its tasks: one that ends inside a
  /// task of its own (whose parameters held it, say) would wait for itself, and ends the program with a sentence.
  ~Runtime();
  Runtime(Runtime const&) = delete;
  Runtime& operator=(Runtime const&) = delete;

  /// A datum that is the elements of a View that the host can reach, contiguous or strided; the memory may be plain or
  /// pinned. Host workers use them in place: they are not counted against the memory limit, and must not be touched by
  /// others between the first submission of a task on them and the end of `wait`. Elsewhere, on devices, the datum is
  /// packed: a View with gaps in one dimension (rank 1 with a stride, rank 2 with a leading dimension) goes there
  /// without them, and what lies in the gaps stays as it is.
  ///
  /// Views of the same bytes, whatever their rank and type, are one datum, under the name of its first registration.
  /// Views that share only some of their bytes are different data. Where one of the two is written, a task on the
  /// second waits in `submit` until the first is no longer in use, if all handles of the first are gone; while one is
  /// left, the task is refused. Throws InvalidArgument for a View without elements, and where there are devices for one
  /// with gaps in several dimensions, with elements that share addresses, or of elements that are not trivially
  /// copyable.
  template <class DataType, class... Properties>
  Data<Kokkos::View<DataType, Properties...>> data(Kokkos::View<DataType, Properties...> const& view,
                                                   std::string const& name = "");

  /// A datum without a first value and a home: an array of `extents` (in LayoutRight, contiguous) that tasks write and
  /// then read. It takes memory only while it is in use, within the limit, and goes to scratch when there is no room.
  /// Throws InvalidArgument for a negative extent, and for more than 2^63 - 1 bytes.
  template <class T, class... Extents>
  auto temporary(Extents... extents);

  /// The most names that the tasks of one body (a functor type with its kinds of accesses) are told apart by.
  static constexpr std::size_t most_task_names = 4096;

  /// Submits a task: `body(instance, views...)` will be called once, on a host worker or for a device, with the
  /// worker's execution-space instance and one View per access in the order given (see BodyView and DeviceBodyView).
  /// The body is copied; its call operator is const. It launches its kernels on the instance, touches elements in them
  /// alone, and need not fence; for a device it is called before the kernels of earlier tasks have ended.
  ///
  /// A body is compiled for host workers and, where Kokkos drives devices, for these; emulated devices do what host
  /// workers do. Members of the body say otherwise: `static constexpr bool host_only = true` or `device_only = true`.
  /// With Kokkos before 4.0 bodies run one at a time, since Kokkos' host kernels may not run concurrently there; a body
  /// that launches none says so by `launches_kokkos_kernels = false` and is exempt. It is then host_only, too, unless
  /// it says `host_only = false`.
  /// (CUDA forbids extended lambdas inside generic lambdas: bodies are functors.)
  ///
  /// Performance models, traces and messages tell tasks apart by their names, each of which takes ~0.5 KB for as long
  /// as the Runtime lives. Tasks of a body that has had `most_task_names` different ones share the name "others like
  /// '<its first name>'", and one performance model, unless their own name is one of those. Throws what
  /// Submitter::submit throws.
  template <class Body, TaskAccess... Accesses>
  TaskId submit(TaskInfo const& info, Body body, Accesses const&... accesses);

  /// Returns when every submitted task has ended and every home holds its last value; see Engine::wait for failures.
  /// Throws InvalidArgument inside a task of this Runtime, where it would wait for itself.
  void wait();
  /// What the last `wait` that threw found, first submitted first: its message, the exception, the data that were lost.
  [[nodiscard]] std::vector<Failure> const& failures() const { return m_engine->failures(); }
  /// Cancels every task that no worker has; `wait` throws `error`. May be called from any thread.
  void cancel(std::exception_ptr error) { m_engine->cancel(std::move(error)); }

  /// What runs, what waits for what, and what is in use of every memory, in lines for people. May be called from any
  /// thread, also while others are in `wait`. The tasks stand still meanwhile: O(live tasks and their edges).
  [[nodiscard]] std::string describe() const { return m_engine->describe(); }

  /// What happened so far, with the configuration; empty unless RuntimeOptions::trace or record_trace asked for it.
  /// What has not ended is missing. O(events).
  [[nodiscard]] Trace trace() const;

  // What algorithms build on.
  [[nodiscard]] Submitter& submitter() { return *m_engine; }
  [[nodiscard]] Engine& engine() { return *m_engine; }
  [[nodiscard]] EngineStatistics statistics() const { return m_engine->statistics(); }
  /// Registers a datum of `bytes` bytes; one that has an address may be registered already, see Engine::add_host_data.
  /// Release it with `submitter().release_data`, once for each registration.
  DataId add_data(std::string name, Bytes bytes, DataBinding binding);
  /// Lets devices copy from and to the application's memory at full speed while the result lives, where there are some
  /// and the system allows it. Pin what several data lie in once, before they are added: parts are pinned with it. Null
  /// where there is nothing to gain.
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes);
  /// Asynchronous file I/O, made when it is first asked for, with the options' bandwidth.
  [[nodiscard]] std::shared_ptr<AsyncFileIo> io();
  /// What `configure` made of the options.
  [[nodiscard]] RuntimeOptions const& options() const { return m_options; }
  [[nodiscard]] static NodeId host_node() { return NodeId(0); }
  [[nodiscard]] static NodeId disk_node() { return NodeId(1); }
  /// Of the device of that place in `devices`.
  [[nodiscard]] static NodeId device_node(std::size_t device) { return NodeId(static_cast<std::uint32_t>(2 + device)); }
  /// Peak of the bytes in use under the memory limit.
  [[nodiscard]] Bytes host_memory_peak() const { return statistics().planner.nodes[host_node().index()].peak; }
  /// The devices in the machine's order, and what was moved from and to them.
  [[nodiscard]] std::vector<DeviceFigures> devices() const;
  [[nodiscard]] DeviceTraffic device_traffic() const;
  /// Bytes that were read from and written to files: matrices and scratch. (What crossed the links, generated values
  /// included, is in `statistics`.)
  [[nodiscard]] Bytes bytes_read() const;
  [[nodiscard]] Bytes bytes_written() const;

 private:
  SharedData add_host_data(std::string name, Bytes bytes, DataBinding binding);
  CodeletId codelet(std::array<Kernel, worker_kinds> const& kernels, std::string_view name, std::string const& variant,
                    bool launches_kokkos_kernels);
  // Throws InvalidArgument for a View that cannot leave its place, where there are devices.
  void refuse_on_devices(std::string const& name, std::string const& shape) const;
  std::unique_ptr<Engine> make_engine();
  std::shared_ptr<Engine> lend_engine();
  void write_trace() const;
  EngineBackends make_backends(Machine const& machine);

  RuntimeOptions m_options;
  Devices m_devices;
  std::vector<DeviceLink> m_device_links;
  std::shared_ptr<PinnedMemory> m_pinned;  // null without devices
  MachineCache m_cache;
  SingleThreadedBlas m_blas;
  // The codelets of one body, by name.
  struct BodyCodelets {
    std::map<std::string, CodeletId, std::less<>> by_name;
    std::string others;  // the name that all share beyond most_task_names
  };
  mutable std::mutex m_mutex;  // of the next two; never held while the engine is called or something is made
  std::shared_ptr<AsyncFileIo> m_io;
  std::map<Kernel, BodyCodelets> m_codelets;
  std::shared_ptr<DiskNode> m_disk;
  int m_exceptions = std::uncaught_exceptions();
  PerformanceModels* m_models = nullptr;  // the engine's
  std::shared_ptr<std::binary_semaphore> m_given_back = std::make_shared<std::binary_semaphore>(0);
  std::unique_ptr<Engine> m_owned;       // the last to be made and the first to go, but for what watches it
  std::shared_ptr<Engine> m_engine;      // the same, lent to handles on data; m_given_back when nobody has it any more
  std::unique_ptr<Watchdog> m_watchdog;  // null without a stall timeout
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
  auto const added = add_host_data(called, form.bytes,
                                   {.host = reinterpret_cast<std::byte*>(view.data()),
                                    .lines = form.lines,
                                    .set = form.set,
                                    .keep = std::make_shared<View const>(view),
                                    .serves = &detail::serves<View>});
  return {std::make_shared<detail::DataHold const>(m_engine, added.data),
          std::static_pointer_cast<View const>(added.keep)};
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
  return Data<View>(std::make_shared<detail::DataHold const>(m_engine, id), std::move(kept));
}

template <class Body, TaskAccess... Accesses>
TaskId Runtime::submit(TaskInfo const& info, Body body, Accesses const&... accesses) {
  using TypedTask = detail::HostTask<Body, Accesses...>;
  std::array<Access, sizeof...(accesses)> const list{Access{accesses.data, Accesses::mode}...};
  auto const id = codelet(TypedTask::kernels(), info.name, detail::element_sizes<typename Accesses::ViewType...>(),
                          detail::launches_kokkos_kernels<Body>());
  return m_engine->submit({id, list, info.priority, info.flops},
                          Parameters(TypedTask{std::move(body), {accesses.shape...}}));
}

}  // namespace granary

#pragma GCC visibility pop
