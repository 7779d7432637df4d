// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_core.hpp>
#include <granary/detail/core/backends/kokkos_tools.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace granary::detail {
namespace {

// Few tools support concurrent calls.
std::mutex tool_mutex;

class Region {
 public:
  explicit Region(char const* name) {
    std::lock_guard const lock(tool_mutex);
    Kokkos::Tools::pushRegion(std::string("granary::") + (name != nullptr ? name : "task"));
  }
  Region(Region const&) = delete;
  Region& operator=(Region const&) = delete;
  ~Region() {
    std::lock_guard const lock(tool_mutex);
    Kokkos::Tools::popRegion();
  }
};

class ShownWorkers final : public WorkerBackend {
 public:
  explicit ShownWorkers(std::shared_ptr<WorkerBackend> workers) : m_workers(std::move(workers)) {}
  void const* enter(WorkerId worker) override { return m_workers->enter(worker); }
  void leave(WorkerId worker) noexcept override { m_workers->leave(worker); }
  Duration run(Kernel kernel, bool launches_kokkos_kernels, KernelCall const& call) override {
    Region const region(call.name);
    return m_workers->run(kernel, launches_kokkos_kernels, call);
  }

 private:
  std::shared_ptr<WorkerBackend> m_workers;
};

class ShownLaunches final : public LaunchBackend {
 public:
  explicit ShownLaunches(std::shared_ptr<LaunchBackend> devices) : m_devices(std::move(devices)) {}
  [[nodiscard]] Kernel kernel_of(Codelet const& codelet) const override { return m_devices->kernel_of(codelet); }
  void enter(WorkerId worker) override { m_devices->enter(worker); }
  void leave(WorkerId worker) noexcept override { m_devices->leave(worker); }
  void launch(WorkerId worker, Kernel kernel, KernelCall const& call, bool follows) override {
    Region const region(call.name);
    m_devices->launch(worker, kernel, call, follows);
  }
  [[nodiscard]] std::size_t most_launches() const override { return m_devices->most_launches(); }
  [[nodiscard]] std::optional<LaunchEnd> poll(WorkerId worker) override { return m_devices->poll(worker); }

 private:
  std::shared_ptr<LaunchBackend> m_devices;
};

// From its construction to its end, which may be on different threads.
class Section {
 public:
  explicit Section(std::string const& name) {
    std::lock_guard const lock(tool_mutex);
    Kokkos::Tools::createProfileSection(name, &m_id);
    Kokkos::Tools::startSection(m_id);
  }
  Section(Section const&) = delete;
  Section& operator=(Section const&) = delete;
  ~Section() {
    std::lock_guard const lock(tool_mutex);
    Kokkos::Tools::stopSection(m_id);
    Kokkos::Tools::destroyProfileSection(m_id);
  }

 private:
  std::uint32_t m_id = 0;
};

class ShownCopyBackend final : public CopyBackend {
 public:
  ShownCopyBackend(std::shared_ptr<CopyBackend> copies, std::string name)
      : m_copies(std::move(copies)), m_name(std::move(name)) {}
  void copy_async(CopyRequest const& request, CopyCompletion done) override {
    m_copies->copy_async(request, [section = std::make_shared<Section>(m_name),
                                   done = std::move(done)](std::exception_ptr error) mutable {
      section.reset();
      done(std::move(error));
    });
  }
  void forget(DataId data) override { m_copies->forget(data); }

 private:
  std::shared_ptr<CopyBackend> m_copies;
  std::string m_name;
};

}  // namespace

bool tools_listen() { return Kokkos::Tools::profileLibraryLoaded(); }

void show_to_tools(EngineBackends& backends, Machine const& machine) {
  if (backends.workers) backends.workers = std::make_shared<ShownWorkers>(std::move(backends.workers));
  if (backends.devices) backends.devices = std::make_shared<ShownLaunches>(std::move(backends.devices));
  for (std::size_t l = 0; l < backends.copies.size(); ++l) {
    auto const& link = machine.links[l];
    auto name = "granary::" + machine[link.from].name + " -> " + machine[link.to].name;
    backends.copies[l] = std::make_shared<ShownCopyBackend>(std::move(backends.copies[l]), std::move(name));
  }
}

void tell_tools(std::string const& key, std::string const& value) { Kokkos::Tools::declareMetadata(key, value); }

}  // namespace granary::detail
