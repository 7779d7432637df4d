// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/byte_set.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/lines.hpp>
#include <granary/detail/core/model/access.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/core/model/parameters.hpp>
#include <granary/detail/core/planner/failure.hpp>
#include <granary/detail/outofcore/storage.hpp>
#include <granary/detail/runtime/config.hpp>
#include <granary/detail/runtime/data.hpp>
#include <granary/detail/runtime/host_task.hpp>
#include <granary/detail/runtime/parts.hpp>
#include <granary/detail/runtime/reduce.hpp>
#include <granary/detail/runtime/scalar.hpp>
#include <granary/detail/runtime/task_handle.hpp>
#include <granary/detail/runtime/temporary.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary {

namespace detail {
class AsyncFileIo;
class Processes;
}  // namespace detail
class SignalWatch;
class Submitter;
template <class T>
class Varying;
struct EngineStatistics;
struct Schedule;
struct Trace;

/// Handles on data: Data, Scalar, MatrixTile.
template <class D>
concept DataHandle = requires(D const& data) {
  { data.id() } -> std::same_as<DataId>;
  { data.runtime_id() } -> std::same_as<RuntimeId>;
};

class Runtime;

namespace detail {

class Divisions;
class Reductions;

// The device side of a datum whose host side is `DataBinding::memory`.
struct GRANARY_EXPORT MirrorSide {
  std::byte* memory = nullptr;  // null: there is none
  bool valid = true;            // whether it holds the value of the host side
};

class TwoSides;

}  // namespace detail

/// Location of a datum's bytes when no worker uses them: memory of the application, slots of storages, or nowhere (a
/// temporary).
struct GRANARY_EXPORT DataBinding {
  StorageSlot origin = {};  ///< source of the initial value
  StorageSlot home = {};    ///< destination of the final value; the same slot as the origin for data changed in place
  /// Its bytes in memory, which workers there use in place; then it has no other origin and home.
  std::byte* memory = nullptr;
  bool on_host = true;             ///< the host can access `memory`
  detail::MirrorSide mirror = {};  ///< another place in memory, on a device
  Lines lines = {};                ///< of `memory`, if its bytes are not contiguous
  /// The bytes at `memory`, if they are neither `lines` nor contiguous.
  std::optional<ByteSet> set = {};
  std::shared_ptr<void const> keep = {};                           ///< kept until the datum is forgotten
  bool (*serves)(void const* kept, void const* wanted) = nullptr;  ///< see HostBinding
  MatrixPosition position = {};                                    ///< for traces
  Bytes bound = 0;                                                 ///< of a varying datum: see DataDescription
};

/// Figures of a device; see Runtime::devices.
struct GRANARY_EXPORT DeviceFigures {
  std::string name;         ///< of its memory node, "device 0"
  std::string description;  ///< as reported by the device
  Bytes limit = 0;          ///< for data
  Bytes peak = 0;           ///< of the bytes in use
  std::uint64_t tasks = 0;
};

/// Bytes moved over the links of devices.
struct GRANARY_EXPORT DeviceTraffic {
  Bytes from_host = 0;
  Bytes to_host = 0;
  Bytes between = 0;  ///< from one device to another directly
};

/// A machine's workers and memories, ready to run tasks on data: the host's cores, devices, bounded host and device
/// memory, and a disk behind them.
///
/// Kokkos must be initialised before and finalised after. BLAS is limited to one thread per call while a Runtime
/// exists. Tasks may be submitted from several threads; "before" then means the order in which the calls took effect.
///
/// ```cpp
/// struct Axpy {
///   double a;
///   template <class Exec, class X, class Y>
///   void operator()(Exec const& exec, X x, Y y) const {
///     auto const s = a;
///     Kokkos::RangePolicy<Exec> const all(exec, 0, x.extent(0));
///     Kokkos::parallel_for("axpy", all, KOKKOS_LAMBDA(int i) { y(i) += s * x(i); });
///   }
/// };
/// Kokkos::View<double*, Kokkos::HostSpace> x_view("x", 1000), y_view("y", 1000);
/// Kokkos::deep_copy(x_view, 1.0);
/// granary::Runtime runtime;
/// auto const x = runtime.data(x_view), y = runtime.data(y_view);
/// for (int step = 0; step < 10; ++step) runtime.submit("axpy", Axpy{2.0}, read(x), read_write(y));
/// runtime.wait();
/// assert(y_view(999) == 20.0);
/// ```
class GRANARY_EXPORT Runtime {
 public:
  /// Throws InvalidArgument for invalid options, see `configure`.
  explicit Runtime(RuntimeOptions const& options = {});
  /// One of several processes, see granary::mpi::runtime. Collective, as the destructor is; all throw what one throws.
  Runtime(RuntimeOptions const& options, std::shared_ptr<detail::Processes> processes);
  /// Waits for all submitted tasks; failures that no `wait` reported are logged. If it runs because of an exception,
  /// tasks that have not started are cancelled instead. A Runtime must outlive its tasks: one that is destroyed inside
  /// its own task (whose parameters held it, for example) would wait for itself, so it logs an error and aborts.
  ~Runtime();
  Runtime(Runtime const&) = delete;
  Runtime& operator=(Runtime const&) = delete;

  /// Unique among all Runtimes of this process, also those that have ended. Functions that take data throw
  /// InvalidArgument for data of another Runtime.
  [[nodiscard]] RuntimeId id() const { return m_id; }

  /// Registers the elements of a host View, contiguous or strided, as a datum; the memory may be pinned. Host workers
  /// use the elements in place: they do not count against the memory limit, and must not be accessed otherwise between
  /// the first submission of a task on them and the end of `wait`. On devices the datum is packed: a View with gaps in
  /// one dimension (rank 1 with a stride, rank 2 with a leading dimension) is copied without the gaps, whose content
  /// does not change.
  ///
  /// Views of the same bytes, whatever their rank and type, are one datum, with the name of its first registration.
  /// Views that share only some of their bytes are different data, and tasks on them run as if in the order of
  /// submission. One task may not write one of them and use another. Throws InvalidArgument for a View without
  /// elements. If there are devices, also for a View with gaps in several dimensions, with elements that share
  /// addresses, or of elements that are not trivially copyable.
  template <class DataType, class... Properties>
  Data<Kokkos::View<DataType, Properties...>> data(Kokkos::View<DataType, Properties...> const& view,
                                                   std::string const& name = "") {
    return data_kept(view, name, nullptr, {});
  }

  /// Cuts a View or a temporary into parts of the given tile size in each dimension; the last parts may be smaller.
  /// Kokkos::ALL does not cut a dimension. The parts may be used together with the whole, and with other parts of it.
  /// Throws InvalidArgument for tile sizes less than 1, for a part of a temporary, with several processes also for a
  /// whole temporary, and as `data`.
  ///
  /// Parts of a View share its bytes: nothing is copied. Parts of a temporary are temporaries of their own, which exist
  /// as long as any handle on it or its parts does. Where tasks use the whole after its parts, or parts after the whole
  /// or after other parts that hold older values, tasks `gather` and `scatter` are submitted before, one for each part:
  /// each needs the whole and the part in one memory. A second call with the same tile sizes returns the same parts.
  template <class View, class... Tiles>
  granary::Parts<View> partition(Data<View> const& whole, Tiles... tiles);
  /// One part, of any ranges: pairs of the first element and the one after the last, or Kokkos::ALL. Parts may overlap.
  /// Throws InvalidArgument for a temporary (use `partition`), and as `data`.
  template <class View, class... Ranges>
  Data<PartView<View>> part(Data<View> const& whole, Ranges const&... ranges);

  /// Registers a temporary, without initial value and home: an array that tasks write and then read. It uses memory
  /// within the limit only while it is in use, and goes to scratch when there is no room. The label is its name in
  /// messages and traces. `T` is the type of a View, `temporary<Kokkos::View<float*[3], Kokkos::LayoutLeft>>("p", n)`,
  /// of which the data type and the layout count, or the type of the elements, `temporary<double>("block", n, m)`, for
  /// an array in LayoutRight. The elements are trivially copyable. Throws InvalidArgument for a negative extent, and
  /// for more than 2^63 - 1 bytes.
  template <class T, class... Extents>
  Data<detail::TemporaryView<T, sizeof...(Extents)>> temporary(std::string_view label, Extents... extents);
  template <class T, detail::NotText... Extents>
  Data<detail::TemporaryView<T, sizeof...(Extents)>> temporary(Extents... extents) {
    return temporary<T>(std::string_view("temporary"), extents...);
  }

  /// Registers a datum whose values differ in size: each has at most `most` elements, `expected` is a first guess for
  /// schedulers. A task that writes it takes room for `most` elements beside the present ones while it has its places,
  /// or for fewer if its body has `std::size_t most_elements(std::span<std::size_t const> elements, std::size_t access)
  /// const`: from the numbers of elements of all data of the task, by access, a bound of those that it leaves in the
  /// datum of that access. Memory must have room for 2 * `most`. A task accesses it once, as one of its first 8 data.
  /// Throws InvalidArgument if `expected` is more than `most`, or `most` is 0, or for more than 2^63 - 1 bytes. Include
  /// <granary/varying.hpp> to use it.
  template <class T>
  [[nodiscard]] Varying<T> varying(std::string_view label, std::size_t most, std::size_t expected);
  template <class T>
  [[nodiscard]] Varying<T> varying(std::string_view label, std::size_t most) {
    return varying<T>(label, most, most);
  }

  /// Registers one value, `first` before any task writes it.
  template <class T>
  [[nodiscard]] Scalar<T> scalar(std::string const& name, T first = {});

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
  /// declares `host_only = false`. (CUDA forbids extended lambdas inside generic lambdas: bodies are functors.)
  ///
  /// Performance models, traces and messages distinguish tasks by name; each name takes ~0.5 KB while the Runtime
  /// exists. After `most_task_names` names of one body, its tasks with new names share the name "others like '<its
  /// first name>'" and one performance model. Throws as Submitter::submit; the message ends with the line that submits.
  /// With several processes InvalidArgument for reductions and in tasks. Takes about 1 µs; may sleep (Engine::submit).
  template <class Body, class... Accesses>
  TaskHandle submit(TaskInfo const& info, Body body, Accesses const&... accesses);
  template <class Body, class... Accesses>
  TaskHandle submit(TaskName const& name, Body body, Accesses const&... accesses) {
    return submit(TaskInfo{name}, std::move(body), accesses...);
  }
  /// Does not compile: the task has no name.
  template <detail::NoName Body, class... Accesses>
  TaskHandle submit(Body const& body, Accesses const&... accesses);

  /// Gives work outside granary, such as a message of MPI, its place in the order of tasks; no worker runs it. When the
  /// earlier tasks on these data have ended, a thread of the Runtime calls `ended()` until it returns true; what it
  /// throws fails the task. Later tasks on these data begin after that. `ended` may start the work in its first call.
  ///
  /// The data are Views, where the application has them: what the work reads must be there before the call, as after
  /// `wait(x)`. The access is `read`, `write` or `read_write`. `ended` must become true without later calls of the
  /// submitting thread, which may sleep here and in `submit` while too many tasks are live. Delays tasks behind it by
  /// up to a quarter of its own time, at most 1 ms. Throws InvalidArgument with several processes, and for temporaries,
  /// tiles of files and DualViews; otherwise as `submit`.
  template <class Ended, class... Accesses>
  TaskHandle submit_outside(TaskName const& name, Ended ended, Accesses const&... accesses);
  /// The same for all work that the application has given to an execution-space instance so far: tasks that are
  /// submitted later begin after it, and no fence is needed. Before it gives the instance that work, the application
  /// waits for these data. The instance may belong to a device; on the host, this call waits for its kernels.
  template <class Instance, class... Accesses>
  TaskHandle submit_after(TaskName const& name, Instance const& instance, Accesses const&... accesses);

  /// Returns when every submitted task has ended and every home holds its final value; see Engine::wait for failures.
  /// Throws InvalidArgument inside a task of this Runtime, where it would wait for itself, and Error after exit(). With
  /// several processes, collective: all throw the same.
  void wait();
  /// Returns when no submitted task uses these data and their homes hold their values, without waiting for others: the
  /// application may use its memory behind them until it submits the next task on them. Throws the first failure that
  /// left one of them without its value; see Engine::wait. A failure that concerns other data, too, is reported again
  /// by the next `wait()`. Data that share bytes with these are included. Temporaries have no home; their tasks have
  /// ended. Throws otherwise as `wait()`.
  template <DataHandle First, DataHandle... Others>
  void wait(First const& first, Others const&... others) {
    refuse_foreign("wait", first, others...);
    std::array<DataId, 1 + sizeof...(others)> const ids{first.id(), others.id()...};
    wait_alone(ids);
  }
  /// A hint: the value will be needed on that memory node (`host_node()`, `device_node(d)`). It is copied there if
  /// memory is free, one link leads there from where it is, and it shares no bytes with other data; nothing is evicted
  /// for it. From now on the datum belongs to tasks, as after a submission. Throws InvalidArgument for an unknown node.
  template <DataHandle D>
  void prefetch(D const& data, NodeId node) {
    refuse_foreign("prefetch", data);
    tell_changes(data);
    prefetch_data(data.id(), node);
  }
  /// A hint: no task that is submitted soon will use the datum. If no submitted one does, its value goes home and
  /// replicas elsewhere are dropped; the value of a temporary stays where it is.
  template <DataHandle D>
  void will_not_use(D const& data) {
    refuse_foreign("will_not_use", data);
    tell_changes(data);
    will_not_use_data(data.id());
  }
  /// The failures that the last throwing `wait` of the calling thread found, first submitted first: message, exception,
  /// and lost data. Valid until the thread's next wait.
  [[nodiscard]] std::vector<Failure> const& failures() const;
  /// Cancels every task that was not handed to a worker; `wait` throws `error`. May be called from any thread, and
  /// waits for no task.
  void cancel(std::exception_ptr error);
  /// Cancels in the same way when a stop is requested, or now if it was; waits throw Stopped. Tasks that are submitted
  /// later run: a loop that submits asks the token, too. The last token counts; one without a source ends that.
  void cancel_on(std::stop_token const& token);
  /// Cancels in the same way at a signal that ends the run, or now if one has arrived: waits throw Interrupted. A
  /// request for the state (SIGUSR1) prints `describe` to standard error, and the run goes on. The last watch counts;
  /// the destructor of the Runtime leaves it first. Include <granary/signals.hpp> to use it.
  template <std::same_as<SignalWatch> Watch>
  void cancel_on(Watch const& signals) {
    cancel_on_signals(signals);
  }

  /// The running tasks, what each task waits for, and the bytes in use of every memory, as text. May be called from any
  /// thread, also while others are in `wait`. No task is scheduled meanwhile: O(live tasks and their edges).
  [[nodiscard]] std::string describe() const;

  /// The record of what has ended so far, with the configuration; empty unless RuntimeOptions::trace or record_trace
  /// asks for it. O(events); no task is scheduled meanwhile. Include <granary/trace.hpp> to use it.
  [[nodiscard]] Trace trace() const;
  /// The worker of each task that has ended; empty unless RuntimeOptions::save_schedule or record_schedule asks for it.
  /// Throws Error, with the first of them, when tasks failed or have not ended. O(tasks). Needs <granary/schedule.hpp>.
  [[nodiscard]] Schedule schedule() const;

  /// An array in the memory of a device of this Runtime, by its index in `devices()`: a View for `data` whose elements
  /// are not initialised. It takes device memory beside `RuntimeOptions::device_memory`, and keeps it until the last
  /// copy of the View's owner is destroyed; data that it is registered as, and their parts, have one. With emulated
  /// devices it is in the memory of one of these, so that programs with data on devices run anywhere. Throws
  /// InvalidArgument for a device that there is not, and DeviceError without memory.
  template <class DataType, class Layout = typename DeviceExecutionSpace::array_layout, class... Extents>
  [[nodiscard]] DeviceView<DataType, Layout> device_view(std::size_t device, std::string const& label,
                                                         Extents... extents);
  /// Registers it as a datum, whose home is that device. Throws InvalidArgument if the Runtime does not use it.
  template <class DataType, class Layout>
  auto data(DeviceView<DataType, Layout> const& view) {
    return data_kept(view.view, view.label, view.memory, {});
  }

  // For dual_data, <granary/dual_view.hpp>.
  template <class View>
  Data<View> data_with_mirror(View const& view, detail::MirrorSide const& mirror) {
    return data_kept(view, "", nullptr, mirror);
  }

  /// This process, and the number of all; 0 and 1 without others.
  [[nodiscard]] ProcessId process() const;
  [[nodiscard]] std::uint32_t processes() const;
  /// With several processes: makes one the owner of the datum, which runs all tasks that write it. Before the first
  /// task that accesses it, in all processes. Otherwise tiles of matrices, and parts of a View that is cut in two
  /// dimensions, are dealt over the grid; other data get the owner of what their first task writes, or else reads,
  /// besides. Throws InvalidArgument if there is no such process, or if the datum has another owner already.
  template <DataHandle D>
  void assign(D const& data, ProcessId owner) {
    refuse_foreign("assign", data);
    assign_data(data.id(), owner);
  }
  /// True if this process owns the datum; with several, false until a task accesses it, or `assign`.
  template <DataHandle D>
  [[nodiscard]] bool is_here(D const& data) const {
    refuse_foreign("is_here", data);
    return owns(data.id());
  }
  /// Ends the run because of an exception outside of tasks, and throws it. With several processes, their tasks are
  /// cancelled, and all throw the first of these exceptions: this one here and in the next collective calls of the
  /// others. If they make none within five seconds, all processes end with this status. The destructor does the same if
  /// it runs because of an exception, without telling the others more about it. Nothing is submitted afterwards.
  [[noreturn]] void give_up(std::exception_ptr const& why, int status = 1);
  /// Bytes of values that this process has sent to others.
  [[nodiscard]] Bytes bytes_sent() const;

  // For algorithms. `submitter` first submits the combination of all open reductions.
  [[nodiscard]] Submitter& submitter();
  /// Sets the `failures()` of the calling thread, which waited, to a failure that it found in the results of tasks.
  void set_failure(Failure found);
  /// Throws InvalidArgument if there are other processes; `what` ("data cannot be reduced") is the subject of its
  /// sentence.
  void refuse_with_others(std::string_view what) const;
  /// The other processes; null without any.
  [[nodiscard]] detail::Processes* others() const;
  /// Collective. The bytes of the datum's owner, which has them; nothing happens without others.
  void share_value(DataId data, std::span<std::byte> bytes);
  /// Registers a datum once more, for one more release.
  void retain_data(DataId data);
  /// True if a submitted task uses the datum in this process.
  [[nodiscard]] bool in_use(DataId data) const;
  /// As `wait(data...)`; for `also` see Engine::wait.
  void wait_for(std::span<DataId const> data, std::span<DataId const> also = {});
  /// For owners of data that may outlive the Runtime.
  [[nodiscard]] detail::DataReleaser releaser() const;
  /// For granary's own tests and measurements.
  [[nodiscard]] detail::Engine& engine();
  /// A copy; no task is scheduled meanwhile. Include <granary/trace.hpp> to use it.
  [[nodiscard]] EngineStatistics statistics() const;
  /// Registers a datum of `bytes` bytes; data with an address may be registered several times, see
  /// Engine::add_host_data. Release it with `submitter().release_data`, once per registration. Throws InvalidArgument
  /// for an address together with an origin or a home, and for memory that this Runtime cannot use.
  DataId add_data(std::string name, Bytes bytes, DataBinding binding);
  /// Pins the application's memory while the result exists, so that devices copy from and to it at full speed, if there
  /// are devices and the system allows it. Pin memory that holds several data once, before they are added: parts are
  /// pinned with it. Null for less than 64 KiB, and without devices.
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes);
  /// Asynchronous file I/O with the options' bandwidth, created on first use.
  [[nodiscard]] std::shared_ptr<detail::AsyncFileIo> io();
  /// The options after `configure`.
  [[nodiscard]] RuntimeOptions const& options() const;
  /// Throws InvalidArgument inside a task of this Runtime, Error after exit(); `what` ("wait()") is the subject.
  void refuse_in_task(std::string_view what) const;
  [[nodiscard]] static NodeId host_node() { return NodeId(0); }
  [[nodiscard]] static NodeId disk_node() { return NodeId(1); }
  /// The memory node of a device, by its index in `devices`.
  [[nodiscard]] static NodeId device_node(std::size_t device) { return NodeId(static_cast<std::uint32_t>(2 + device)); }
  /// Peak of the bytes in use under the memory limit. Costs as `statistics`, like the next two.
  [[nodiscard]] Bytes host_memory_peak() const;
  /// The devices in the machine's order, and the bytes moved from and to them.
  [[nodiscard]] std::vector<DeviceFigures> devices() const;
  [[nodiscard]] DeviceTraffic device_traffic() const;
  /// Bytes read from and written to files: matrices and scratch. (Bytes over links, including generated values, are in
  /// `statistics`.)
  [[nodiscard]] Bytes bytes_read() const;
  [[nodiscard]] Bytes bytes_written() const;

 private:
  // Never defined: what compilers list where options are misspelt.
  explicit Runtime(detail::MisspeltOption_WriteRuntimeOptionsBeforeTheBraces const&);
  template <class Body, class... Accesses>
  TaskHandle submit(detail::MisspeltMember_WriteTaskInfoBeforeTheBraces const&, Body const&, Accesses const&...);

  friend class detail::TwoSides;
  friend class detail::Reductions;
  friend class detail::Divisions;
  template <class View, class Op, bool Ordered>
  friend class detail::ReductionOf;
  template <class View>
  friend class detail::DivisionOf;
  struct Parts;

  // `memory`, if any, owns the View's elements.
  template <class View>
  Data<View> data_kept(View const& view, std::string const& name, std::shared_ptr<void const> memory,
                       detail::MirrorSide const& mirror, MatrixPosition position = {});
  [[nodiscard]] std::shared_ptr<std::byte> device_memory(std::size_t device, std::string const& label, Bytes bytes);
  // Of a DualView.
  template <class D>
  static void tell_changes(D const& data) {
    if constexpr (requires { data.in_use(); }) static_cast<void>(data.in_use());
  }
  // Throws InvalidArgument for data of another Runtime.
  template <class... D>
  void refuse_foreign(char const* function, D const&... data) const {
    if ((... || (data.runtime_id() != m_id)))
      refuse_foreign_data(function + std::string("()"), std::array{data.runtime_id()...});
  }
  [[noreturn]] void refuse_foreign_data(std::string const& subject, std::span<RuntimeId const> owners) const;
  template <class... Accesses>
  void refuse_foreign_accesses(TaskName const& task, Accesses const&... accesses) const {
    if ((... || (detail::runtime_of(accesses, m_id) != m_id)))
      refuse_foreign_task(task, std::array<RuntimeId, sizeof...(accesses)>{detail::runtime_of(accesses, m_id)...});
  }
  void refuse_foreign_task(TaskName const& task, std::span<RuntimeId const> owners) const;
  void cancel_on_signals(SignalWatch const& signals);
  void assign_data(DataId data, ProcessId owner);
  [[nodiscard]] bool owns(DataId data) const;
  void prefetch_data(DataId data, NodeId node);
  void will_not_use_data(DataId data);
  // Costs less than `wait_for`, which looks for what is worth a warning.
  void wait_alone(std::span<DataId const> data, std::span<DataId const> also = {});
  void after_wait();
  [[nodiscard]] std::shared_ptr<detail::DataHold const> hold(DataId data) const;
  [[nodiscard]] detail::HeldView hold_view(std::string name, Bytes bytes, DataBinding binding);
  TaskHandle submit_task(TaskInfo const& info, detail::TaskCode const& code, std::span<Access const> accesses,
                         Parameters parameters);
  void check_task(std::string_view name, detail::TaskCode const& code, std::span<Access const> accesses);
  TaskHandle submit_outside_task(TaskName const& name, std::function<bool()> const& ended,
                                 std::span<Access const> accesses);
  // Tells if the work given to a DeviceExecutionSpace so far has ended; empty if this Runtime uses no such devices.
  [[nodiscard]] std::function<bool()> end_of_work(void const* instance) const;
  template <class Body, class... Accesses>
  TaskHandle submit_made(TaskInfo const& info, Body body, Accesses const&... accesses);
  [[nodiscard]] std::string name_of(DataId data) const;
  // The division of a temporary like that one.
  detail::Division const& divide(std::shared_ptr<detail::DataHold const> const& whole,
                                 std::unique_ptr<detail::Division> wanted);
  // Of a division. It follows no other submission.
  void submit_copy(std::string_view name, detail::TaskCode const& code, std::span<Access const> accesses,
                   Parameters parameters);
  template <class Submit>
  TaskHandle submit_in_order(TaskName const& name, std::span<Access const> accesses, Submit&& submit);
  // Accesses as the task has them: room for scratch, a copy for a reduction.
  template <class A>
  static A const& made(A const& access, std::string_view) {
    return access;
  }
  template <class T, std::size_t Rank>
  [[nodiscard]] detail::MadeScratch<detail::TemporaryView<T, Rank>> made(ScratchAccess<T, Rank> const& scratch,
                                                                         std::string_view task);
  template <class View, class Op, bool Ordered>
  [[nodiscard]] detail::MadeReduction<View, Ordered> made(ReduceAccess<View, Op, Ordered> const& reduction,
                                                          std::string_view);
  // Throws InvalidArgument if the task reduces a datum, marked with true, and accesses it in another way, too, or if
  // that is a cut temporary.
  void refuse_reduction(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses) const;
  // Calls it under the lock of the reductions, unless the task is refused.
  TaskHandle submit_reducing(TaskInfo const& info, std::span<std::pair<DataId, bool> const> accesses,
                             std::function<TaskHandle()> const& submission);
  [[nodiscard]] DataId next_copy(std::unique_ptr<detail::ReductionKind> kind);
  void combine_reductions(std::span<DataId const> data);
  // Throws InvalidArgument for a View that cannot be copied to a device, if there are devices.
  void refuse_on_devices(std::string const& name, std::string const& shape) const;

  static RuntimeId next_id();

  RuntimeId m_id = next_id();
  std::unique_ptr<Parts> m_parts;
};

template <class View>
Data<View> Runtime::data_kept(View const& view, std::string const& name, std::shared_ptr<void const> memory,
                              detail::MirrorSide const& mirror, MatrixPosition position) {
  auto const called = detail::name_or_shape(name.empty() ? view.label() : name, detail::shape_of(view));
  auto const form = detail::form_of(view);
  if (!form.movable) refuse_on_devices(called, detail::describe(detail::shape_of(view)));
  auto held = hold_view(called, form.bytes,
                        {.memory = detail::bytes_at(view),
                         .on_host = detail::on_host<View>,
                         .mirror = mirror,
                         .lines = form.lines,
                         .set = form.set,
                         .keep = detail::keep_view(view, std::move(memory)),
                         .serves = &detail::serves<View>,
                         .position = position});
  return {std::move(held.hold), std::static_pointer_cast<View const>(held.view)};
}

template <class View, class... Tiles>
granary::Parts<View> Runtime::partition(Data<View> const& whole, Tiles... tiles) {
  constexpr auto rank = detail::rank_of<View>;
  static_assert(sizeof...(Tiles) == rank, "one tile size per dimension");
  refuse_foreign("partition", whole);
  View const& view = *whole.m_view;
  bool const in_place = view.data() != nullptr;
  auto const name = name_of(whole.id());
  detail::Tiling<rank> tiling;
  std::size_t d = 0;
  ((tiling.extents[d] = view.extent(d), tiling.tile[d] = detail::tile_of(name, d, view.extent(d), tiles), ++d), ...);
  granary::Parts<View> parts(tiling);
  if (in_place) {
    for (std::size_t p = 0; p < tiling.size(); ++p) {
      parts.m_parts.push_back(data_kept(detail::part_of(view, tiling.ranges(p)), name + tiling.indices(p), whole.m_view,
                                        {}, tiling.position(p)));
    }
  } else if constexpr (detail::may_be_temporary<View>) {
    using Division = detail::DivisionOf<View>;
    for (std::size_t e = 0; e < rank; ++e) tiling.tile[e] = std::min(tiling.tile[e], tiling.extents[e]);
    auto const& made = divide(whole.m_hold, std::make_unique<Division>(whole.id(), whole.m_view, tiling));
    for (std::size_t p = 0; p < tiling.size(); ++p) {
      std::shared_ptr<detail::DataHold const> hold(whole.m_hold, &made.holds()[p]);
      parts.m_parts.push_back({std::move(hold), static_cast<Division const&>(made).shape(p)});
    }
  } else {
    detail::refuse_parts_of_part();
  }
  return parts;
}

template <class View, class... Ranges>
Data<PartView<View>> Runtime::part(Data<View> const& whole, Ranges const&... ranges) {
  static_assert(sizeof...(Ranges) == detail::rank_of<View>, "one range per dimension");
  refuse_foreign("part", whole);
  View const& view = *whole.m_view;
  if (view.data() == nullptr) detail::refuse_part_of_temporary();
  auto const name = name_of(whole.id());
  std::size_t d = 0;
  auto const next = [&](auto const& range) {
    auto const dimension = d++;
    return detail::range_of(name, dimension, view.extent(dimension), range);
  };
  std::array<detail::PartRange, detail::rank_of<View>> const checked{next(ranges)...};
  return data_kept(detail::part_of(view, checked), name + detail::describe(std::span<detail::PartRange const>(checked)),
                   whole.m_view, {});
}

template <class T, class... Extents>
Data<detail::TemporaryView<T, sizeof...(Extents)>> Runtime::temporary(std::string_view label, Extents... extents) {
  detail::check_temporary<T, Extents...>();
  using View = detail::TemporaryView<T, sizeof...(Extents)>;
  auto const all = detail::view_extents<View>(extents...);
  auto const bytes = detail::temporary_bytes(all, sizeof(typename View::value_type));
  auto shape = detail::shape_only<View>(all);
  auto const id = add_data(std::string(label), bytes, {.keep = shape});
  return {hold(id), std::move(shape)};
}

template <class DataType, class Layout, class... Extents>
DeviceView<DataType, Layout> Runtime::device_view(std::size_t device, std::string const& label, Extents... extents) {
  using View = typename DeviceView<DataType, Layout>::View;
  View const shape(nullptr, static_cast<std::size_t>(extents)...);
  auto memory = device_memory(device, label, shape.span() * sizeof(typename View::value_type));
  View const view(reinterpret_cast<typename View::pointer_type>(memory.get()), static_cast<std::size_t>(extents)...);
  return {view, label, std::move(memory)};
}

template <class T, std::size_t Rank>
detail::MadeScratch<detail::TemporaryView<T, Rank>> Runtime::made(ScratchAccess<T, Rank> const& scratch,
                                                                  std::string_view task) {
  return std::apply(
      [&](auto... extents) {
        return detail::MadeScratch<detail::TemporaryView<T, Rank>>(
            temporary<T>("scratch of '" + std::string(task) + "'", extents...));
      },
      scratch.extents);
}

template <class View, class Op, bool Ordered>
detail::MadeReduction<View, Ordered> Runtime::made(ReduceAccess<View, Op, Ordered> const& reduction, std::string_view) {
  auto const form = detail::form_of(*reduction.data.m_view);
  return {reduction.data, next_copy(std::make_unique<detail::ReductionOf<View, Op, Ordered>>(
                              reduction.data, reduction.op, form.bytes, reduction.data.m_view))};
}

namespace detail {

template <class View>
void DivisionOf<View>::add_parts(Runtime& runtime, std::string const& name) {
  for (std::size_t p = 0; p < m_tiling.size(); ++p) {
    auto shape = part_shape(*m_shape, m_tiling.ranges(p));
    Bytes const bytes = shape->size() * sizeof(typename View::value_type);
    add(runtime.releaser(), runtime.add_data(name + m_tiling.indices(p), bytes, {.keep = shape}));
    m_shapes.push_back(std::move(shape));
  }
}

template <class View>
template <class Body, class From, class To>
void DivisionOf<View>::copy(Runtime& runtime, char const* name, std::size_t part) const {
  auto const [from, from_shape] = access<From>(part);
  auto const [to, to_shape] = access<To>(part);
  using Task = HostTask<Body, From, To>;
  runtime.submit_copy(name, code_of<Body, From, To>(), std::array{from, to},
                      Parameters(Task{Body{{}, m_tiling.ranges(part)}, {from_shape, to_shape}}));
}

template <class View, class Op, bool Ordered>
void ReductionOf<View, Op, Ordered>::fill(Runtime& runtime, DataId copy) const {
  TypedAccess<View, AccessMode::Write> filled(m_data);
  filled.data = copy;
  runtime.submit(own_task("identity"), FillWithIdentity<Op>{}, filled);
}

template <class View, class Op, bool Ordered>
void ReductionOf<View, Op, Ordered>::combine(Runtime& runtime, DataId copy) const {
  TypedAccess<View, AccessMode::Read> part(m_data);
  part.data = copy;
  runtime.submit(own_task("combine"), Combine<Op>{{}, m_op}, part, read_write(m_data));
}

template <class View, class Op, bool Ordered>
void ReductionOf<View, Op, Ordered>::check_combine(Runtime& runtime, DataId copy) const {
  using Part = TypedAccess<View, AccessMode::Read>;
  using Whole = TypedAccess<View, AccessMode::ReadWrite>;
  runtime.check_task("combine", code_of<Combine<Op>, Part, Whole>(),
                     std::array{Access{copy, Part::mode}, Access{data(), Whole::mode}});
}

}  // namespace detail

template <class T>
Scalar<T> Runtime::scalar(std::string const& name, T first) {
  typename Scalar<T>::View const view(name);
  view() = first;
  return Scalar<T>(*this, data(view));
}

template <class T>
T Scalar<T>::get() const {
  m_runtime->wait(*this);
  T value = (*this->m_view)();
  m_runtime->share_value(this->id(), std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

template <class Body, class... Accesses>
TaskHandle Runtime::submit(TaskInfo const& info, Body body, Accesses const&... accesses) {
  refuse_foreign_accesses(info.name, accesses...);
  if constexpr ((detail::is_reduction<Accesses> || ...)) {
    std::array const list{std::pair(detail::data_of(accesses), detail::is_reduction<Accesses>)...};
    return submit_reducing(info, list, [&] { return submit_made(info, std::move(body), accesses...); });
  } else if constexpr ((detail::is_scratch<Accesses> || ...)) {
    return submit_made(info, std::move(body), accesses...);
  } else if constexpr (detail::check_task<Body, Accesses...>()) {
    using TypedTask = detail::HostTask<Body, Accesses...>;
    std::array<Access, sizeof...(accesses)> const list{Access{accesses.data, Accesses::mode}...};
    return submit_task(info, detail::code_of<Body, Accesses...>(), list,
                       Parameters(TypedTask{std::move(body), {accesses.shape...}}));
  } else {
    return {};
  }
}

template <class Body, class... Accesses>
TaskHandle Runtime::submit_made(TaskInfo const& info, Body body, Accesses const&... accesses) {
  auto const all =
      detail::naming_line(info.name.source_line, [&] { return std::tuple{made(accesses, info.name.text)...}; });
  return std::apply([&](auto const&... own) { return submit(info, std::move(body), own...); }, all);
}

template <class Ended, class... Accesses>
TaskHandle Runtime::submit_outside(TaskName const& name, Ended ended, Accesses const&... accesses) {
  if constexpr (detail::check_ended<Ended>() && detail::check_outside<Accesses...>()) {
    refuse_foreign_accesses(name, accesses...);
    std::array<Access, sizeof...(accesses)> const list{Access{accesses.data, Accesses::mode}...};
    return submit_outside_task(name, detail::as_function(std::move(ended)), list);
  } else {
    return {};
  }
}

template <class Instance, class... Accesses>
TaskHandle Runtime::submit_after(TaskName const& name, Instance const& instance, Accesses const&... accesses) {
  constexpr bool on_instance = Kokkos::is_execution_space<Instance>::value;
  static_assert(on_instance,
                "name the work, then pass its execution-space instance: submit_after(\"fill\", instance, "
                "write(x))");
  if constexpr (on_instance && detail::check_outside<Accesses...>()) {
    std::function<bool()> ended;
    if constexpr (has_device_space && std::is_same_v<Instance, DeviceExecutionSpace>) ended = end_of_work(&instance);
    if (!ended) {
      instance.fence();
      ended = [] { return true; };
    }
    return submit_outside(name, ended, accesses...);
  } else {
    return {};
  }
}

template <detail::NoName Body, class... Accesses>
TaskHandle Runtime::submit(Body const&, Accesses const&...) {
  static_assert(!detail::NoName<Body>, "name the task first: submit(\"axpy\", body, read(x), ...)");
  return {};
}

}  // namespace granary
