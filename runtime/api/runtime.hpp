// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/planner/failure.hpp>
#include <granary/detail/runtime/api/data.hpp>
#include <granary/detail/runtime/api/deprecated.hpp>
#include <granary/detail/runtime/api/host_task.hpp>
#include <granary/detail/runtime/api/parts.hpp>
#include <granary/detail/runtime/api/reduce.hpp>
#include <granary/detail/runtime/api/registration.hpp>
#include <granary/detail/runtime/api/scalar.hpp>
#include <granary/detail/runtime/api/submit.hpp>
#include <granary/detail/runtime/api/temporary.hpp>
#include <granary/detail/runtime/session/figures.hpp>
#include <granary/detail/runtime/session/session.hpp>
#include <granary/detail/runtime/setup/nodes.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace granary {

namespace detail {
class RuntimeSession;
}  // namespace detail
class SignalWatch;
struct Schedule;
struct Trace;

/// Handles on data: Data, Scalar, MatrixTile.
template <class D>
concept DataHandle = requires(D const& data) {
  { data.id() } -> std::same_as<DataId>;
  { data.runtime_id() } -> std::same_as<detail::RuntimeId>;
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
class GRANARY_EXPORT Runtime : public detail::DeprecatedCalls<Runtime> {
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
    return detail::register_view(*m_session, view, name, nullptr, {});
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
  Parts<View> partition(Data<View> const& whole, Tiles... tiles) {
    return detail::partition(*m_session, whole, tiles...);
  }
  /// Registers one part of a View as a datum. Each range is a pair of the first element and the one after the last, or
  /// Kokkos::ALL. Parts may overlap. Throws InvalidArgument for a range that is empty or outside the View, for a
  /// temporary (use `partition`), and as `data`.
  template <class View, class... Ranges>
  Data<detail::PartView<View>> part(Data<View> const& whole, Ranges const&... ranges) {
    return detail::part(*m_session, whole, ranges...);
  }

  /// Registers a temporary: an array without initial value and home that tasks write and then read. It takes memory,
  /// under the limit, only while it holds a value or a task uses it, and moves to scratch when memory is full. The
  /// label is its name in messages and traces. `T` is either the type of the elements, `temporary<double>("b", n, m)`,
  /// for an array in LayoutRight, or that of a View, `temporary<Kokkos::View<float*[3], Kokkos::LayoutLeft>>("p", n)`,
  /// which sets the data type and the layout. Elements must be trivially copyable. Throws InvalidArgument for a
  /// negative extent, and for 2^63 bytes or more.
  template <class T, class... Extents>
  Data<detail::TemporaryView<T, sizeof...(Extents)>> temporary(std::string_view label, Extents... extents) {
    return detail::temporary<T>(*m_session, label, extents...);
  }
  template <class T, detail::NotText... Extents>
  Data<detail::TemporaryView<T, sizeof...(Extents)>> temporary(Extents... extents) {
    return temporary<T>(std::string_view("temporary"), extents...);
  }

  /// Registers a datum whose values differ in size. Each value has at most `most` elements; `expected`, by default
  /// `most`, is a first estimate for schedulers. Memory must have room for 2 * `most` elements. While the data of a
  /// task that writes it are allocated, the new value has room for `most` elements, beside the present value. A body
  /// may lower this bound with a member `std::size_t most_elements(std::span<std::size_t const> elements, std::size_t
  /// access) const`: it gets the present numbers of elements of all data of the task, by access, and returns the bound
  /// for the datum of `access`. A task may access the datum once, as one of its first 8 data. Throws InvalidArgument if
  /// `most` is 0, if `expected` is more than `most`, and for 2^63 bytes or more. Include <granary/varying.hpp> to use
  /// it.
  template <class T>
  [[nodiscard]] Varying<T> varying(std::string_view label, std::size_t most, std::optional<std::size_t> expected = {});

  /// Registers one value, `first` before any task writes it.
  template <class T>
  [[nodiscard]] Scalar<T> scalar(std::string const& name, T first = {});

  /// Limit of distinct names for the tasks of one body (a functor type with its kinds of accesses).
  static constexpr std::size_t most_task_names = detail::most_task_names;

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
  TaskHandle submit(TaskInfo const& info, Body body, Accesses const&... accesses) {
    return detail::submit(*m_session, info, std::move(body), accesses...);
  }
  template <class Body, class... Accesses>
  TaskHandle submit(detail::TaskName const& name, Body body, Accesses const&... accesses) {
    return submit(TaskInfo{name}, std::move(body), accesses...);
  }
  template <detail::NoName Body, class... Accesses>
  TaskHandle submit(Body const& body, Accesses const&... accesses);  ///< does not compile: the task has no name

  /// Makes work outside granary, such as an MPI message, a task that no worker runs. When the earlier tasks on these
  /// data have ended, a thread of the Runtime calls `ended()` repeatedly until it returns true; an exception from it
  /// fails the task. Later tasks on these data start after that. `ended` may start the work in its first call; it must
  /// become true without later calls of the submitting thread, which may sleep here and in `submit` while too many
  /// tasks are live. The data are Views, where the application has them: what the work reads must be there before the
  /// call, as after `wait(x)`. The access is `read`, `write` or `read_write`. Later tasks start late by up to a quarter
  /// of the duration of the work (up to 50 µs if it is short), at most 1 ms. Throws InvalidArgument with several
  /// processes, and for temporaries, tiles of files and DualViews; otherwise as `submit`.
  template <class Ended, class... Accesses>
  TaskHandle submit_outside(detail::TaskName const& name, Ended ended, Accesses const&... accesses) {
    return detail::submit_outside(*m_session, name, std::move(ended), accesses...);
  }
  /// The same for all work that the application has given to an execution-space instance so far: tasks that are
  /// submitted later begin after it, and no fence is needed. Before it gives the instance that work, the application
  /// waits for these data. The instance may belong to a device; on the host, this call waits for its kernels.
  template <class Instance, class... Accesses>
  TaskHandle submit_after(detail::TaskName const& name, Instance const& instance, Accesses const&... accesses) {
    return detail::submit_after(*m_session, name, instance, accesses...);
  }

  /// Returns when every submitted task has ended and every home holds its final value; see Engine::wait for failures.
  /// Throws InvalidArgument inside a task of this Runtime, where it would wait for itself, and Error after exit(). With
  /// several processes, collective: all throw the same.
  void wait();
  /// Returns when no submitted task uses these data and their homes hold their values, without waiting for others: the
  /// application may use its memory behind them until it submits the next task on them. Throws the first failure that
  /// left one of them without its value, see Engine::wait; one that concerns other data, too, is reported again by the
  /// next `wait()`. Data that share bytes with these are included. Throws otherwise as `wait()`.
  template <DataHandle First, DataHandle... Others>
  void wait(First const& first, Others const&... others) {
    detail::refuse_foreign(*m_session, "wait", first, others...);
    m_session->wait_quietly(std::array<DataId, 1 + sizeof...(others)>{first.id(), others.id()...});
  }
  /// A hint: the value will be needed on that memory node (`host_node()`, `device_node(d)`). It is copied there if
  /// memory is free, one link leads there from where it is, and it shares no bytes with other data; nothing is evicted
  /// for it. From now on the datum belongs to tasks, as after a submission. Throws InvalidArgument for an unknown node.
  template <DataHandle D>
  void prefetch(D const& data, NodeId node) {
    detail::refuse_foreign(*m_session, "prefetch", data);
    detail::tell_changes(data);
    m_session->prefetch(data.id(), node);
  }
  /// A hint: no task that is submitted soon will use the datum. If no submitted one does, a value that is not at home
  /// is sent there, and its replicas stay until their eviction; replicas of other values are dropped, but not the last.
  template <DataHandle D>
  void will_not_use(D const& data) {
    detail::refuse_foreign(*m_session, "will_not_use", data);
    detail::tell_changes(data);
    m_session->will_not_use(data.id());
  }
  /// The failures that the thread's last throwing `wait` found, first submitted first. Valid until its next wait.
  [[nodiscard]] std::vector<detail::Failure> const& failures() const;
  /// Cancels every task that was not handed to a worker; `wait` throws `error`. From any thread; waits for no task.
  void cancel(std::exception_ptr error);
  /// Cancels in the same way when a stop is requested, or now if it was; waits throw Stopped. Tasks that are submitted
  /// later run: a loop that submits asks the token, too. The last token counts; one without a source ends that.
  void cancel_on(std::stop_token const& token);
  /// Cancels in the same way at a signal that ends the run: waits throw Interrupted. SIGUSR1 prints `describe` to
  /// standard error, and the run goes on. The last watch counts. Include <granary/signals.hpp> to use it.
  template <std::same_as<SignalWatch> Watch>
  void cancel_on(Watch const& signals) {
    m_session->cancel_on(signals);
  }

  /// The running tasks, what each task waits for, and the bytes in use of every memory, as text. May be called from any
  /// thread, also while others are in `wait`. No task is scheduled meanwhile: O(live tasks and their edges).
  [[nodiscard]] std::string describe() const;

  /// Peaks and bytes moved so far. Costs as `statistics`.
  [[nodiscard]] RuntimeFigures figures() const;
  /// The counts of the engine and its planner; no task is scheduled meanwhile. Include <granary/trace.hpp> to use it.
  [[nodiscard]] detail::EngineStatistics statistics() const;
  /// The record of what has ended so far, with the configuration; empty unless RuntimeOptions::trace or record_trace
  /// asks for it. O(events); no task is scheduled meanwhile. Include <granary/trace.hpp> to use it.
  [[nodiscard]] Trace trace() const;
  /// The worker of each task that has ended; empty unless RuntimeOptions::save_schedule or record_schedule asks for it.
  /// Throws Error, with the first of them, when tasks failed or have not ended. O(tasks). Needs <granary/schedule.hpp>.
  [[nodiscard]] Schedule schedule() const;

  /// An array in the memory of a device, by its index in `figures().devices`: a View for `data` with uninitialised
  /// elements. It takes memory beside `RuntimeOptions::device_memory` until the last copy of the View's owner is
  /// destroyed; data that it is registered as, and their parts, have one. Emulated devices have such memory, too, so
  /// that these programs run anywhere. Throws InvalidArgument for an unknown device, and DeviceError without memory.
  template <class DataType, class Layout = typename detail::DeviceExecutionSpace::array_layout, class... Extents>
  [[nodiscard]] detail::DeviceView<DataType, Layout> device_view(std::size_t device, std::string const& label,
                                                                 Extents... extents);
  /// Registers it as a datum, whose home is that device. Throws InvalidArgument if the Runtime does not use it.
  template <class DataType, class Layout>
  auto data(detail::DeviceView<DataType, Layout> const& view) {
    return detail::register_view(*m_session, view.view, view.label, view.memory, {});
  }

  /// This process, and the number of all; 0 and 1 without others.
  [[nodiscard]] ProcessId process() const;
  [[nodiscard]] std::uint32_t processes() const;
  /// With several processes: makes `owner` the process that runs all tasks that write the datum. Call it in all
  /// processes, before the first task that accesses the datum. Without it, tiles of matrices and parts of a View that
  /// is cut in two dimensions are dealt over the process grid; other data get the owner of their first task's other
  /// outputs, or else inputs. Throws InvalidArgument without such a process, and if the datum has another owner
  /// already.
  template <DataHandle D>
  void assign(D const& data, ProcessId owner) {
    detail::refuse_foreign(*m_session, "assign", data);
    m_session->assign(data.id(), owner);
  }
  /// True if this process owns the datum; with several, false until a task accesses it, or `assign`.
  template <DataHandle D>
  [[nodiscard]] bool is_here(D const& data) const {
    detail::refuse_foreign(*m_session, "is_here", data);
    return m_session->owns(data.id());
  }
  /// Ends the run because of an exception `why` that was thrown outside of tasks, and throws it. Nothing can be
  /// submitted afterwards. With several processes, the tasks of all are cancelled, and all throw the first such
  /// exception, the others from their next collective call; if they make none within five seconds, all processes exit
  /// with `status`. The destructor does the same during stack unwinding, but cannot tell the others the exception.
  [[noreturn]] void give_up(std::exception_ptr const& why, int status = 1);
  /// Pins the application's memory while the result exists, so that devices copy at full speed, if the system allows
  /// it. Pin memory that holds several data once, before they are added: parts are pinned with it. Null for less than
  /// 64 KiB, and without devices.
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes) {
    return m_session->pin(memory, bytes);
  }

  /// The options after `configure`.
  [[nodiscard]] RuntimeOptions const& options() const { return m_session->options(); }
  [[nodiscard]] static NodeId host_node() { return detail::host_node(); }
  /// The memory node of a device, by its index in `figures().devices`.
  [[nodiscard]] static NodeId device_node(std::size_t device) { return detail::device_node(device); }
  /// Takes tasks of algorithms on tiles (TaskEmitter). First submits the combination of all open reductions.
  [[nodiscard]] Submitter& submitter() { return m_session->submitter(); }
  /// What granary's own algorithms need beside these functions. It may change in any version.
  [[nodiscard]] detail::Session& session() const { return *m_session; }

 private:
  // Never defined: what compilers list where options are misspelt.
  explicit Runtime(detail::MisspeltOption_WriteRuntimeOptionsBeforeTheBraces const&);
  template <class Body, class... Accesses>
  TaskHandle submit(detail::MisspeltMember_WriteTaskInfoBeforeTheBraces const&, Body const&, Accesses const&...);

  std::unique_ptr<detail::RuntimeSession> m_own;
  detail::Session* m_session = nullptr;  // the same
};

template <class DataType, class Layout, class... Extents>
detail::DeviceView<DataType, Layout> Runtime::device_view(std::size_t device, std::string const& label,
                                                          Extents... extents) {
  using View = typename detail::DeviceView<DataType, Layout>::View;
  View const shape(nullptr, static_cast<std::size_t>(extents)...);
  auto memory = m_session->device_memory(device, label, shape.span() * sizeof(typename View::value_type));
  View const view(reinterpret_cast<typename View::pointer_type>(memory.get()), static_cast<std::size_t>(extents)...);
  return {view, label, std::move(memory)};
}

template <class T>
Scalar<T> Runtime::scalar(std::string const& name, T first) {
  typename Scalar<T>::View const view(name);
  view() = first;
  return detail::Handles::scalar<T>(*m_session, data(view));
}

template <class T>
T Scalar<T>::get() const {
  auto& session = *m_session;
  detail::refuse_foreign(session, "wait", *this);
  session.wait_quietly(std::array{this->id()});
  T value = (*detail::Handles::view<View>(*this))();
  session.share_value(this->id(), std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

template <detail::NoName Body, class... Accesses>
TaskHandle Runtime::submit(Body const&, Accesses const&...) {
  static_assert(!detail::NoName<Body>, "name the task first: submit(\"axpy\", body, read(x), ...)");
  return {};
}

}  // namespace granary
