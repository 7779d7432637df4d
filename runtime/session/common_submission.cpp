// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/failure_origin.hpp>
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/runtime/session/common_data.hpp>
#include <granary/detail/runtime/session/data_registry.hpp>
#include <granary/detail/runtime/session/submission.hpp>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace granary::detail {

namespace {

class CommonSubmission final : public Submission {
 public:
  CommonSubmission(Processes& processes, Distribution const& grid, Engine& engine, DataRegistry const& registry,
                   Exchange& exchange)
      : m_processes(processes),
        m_engine(engine),
        m_registry(registry),
        m_data(processes, grid, engine, engine.topology().peers(), exchange) {}

  Submitter& submitter() override { return m_data; }
  // Nothing is cut or reduced here, so the counter stays.
  std::optional<TaskId> submit_while(std::atomic<std::uint64_t> const& /*counter*/, std::uint64_t /*value*/,
                                     TaskSubmission const& task, Parameters& parameters) override {
    m_engine.refuse_in_task("submit()");
    return m_data.submit(task, std::move(parameters));
  }

  bool owns(DataId data) const override { return own(data).valid(); }
  bool in_use(DataId data) const override {
    DataId const id = own(data);
    return id.valid() && m_engine.in_use(id);
  }
  void prefetch(DataId data, NodeId node) override {
    if (DataId const id = own(data); id.valid()) m_engine.prefetch(id, node);
  }
  void will_not_use(DataId data) override {
    if (DataId const id = own(data); id.valid()) m_engine.will_not_use(id);
  }
  DataId add_data(DataDescription description, DataBinding binding) override {
    auto keep = binding.keep;
    auto add = [this, binding = std::move(binding)](DataDescription own) {
      return m_registry.add(std::move(own), binding);
    };
    return submitted_id(m_data.add_data(std::move(description), std::move(add), std::move(keep)));
  }
  SharedData add_view(std::string name, Bytes bytes, DataBinding binding) override {
    if (binding.mirror.memory != nullptr) refuse_with_others("a DualView cannot be used");
    DataDescription description{.name = std::move(name), .bytes = bytes, .position = binding.position};
    auto add = [this, binding](DataDescription const& own) {
      return m_registry.add_view(own.name, own.bytes, binding).data;
    };
    DataKey const key = m_data.add_view(std::move(description), *binding.set, std::move(add), binding.keep);
    return {submitted_id(key), std::move(binding.keep)};
  }
  void retain_data(DataId data) override { m_data.retain_data(key_of(data)); }
  std::string name_of(DataId data) const override { return m_data.name_of(key_of(data)); }

  void assign(DataId data, ProcessId owner) override { m_data.assign(key_of(data), owner); }
  void share_value(DataId data, std::span<std::byte> bytes) override {
    auto const owner = m_data.owner(key_of(data));
    if (owner == CommonOrder::nobody) return;
    auto const text =
        m_processes.from(owner, [&] { return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size()); });
    std::memcpy(bytes.data(), text.data(), bytes.size());
  }
  Processes* others() const override { return &m_processes; }
  void refuse_with_others(std::string_view what) const override {
    throw InvalidArgument(std::string(what) + " with several processes");
  }

  void wait() override { m_data.wait(); }
  void wait(std::span<DataId const> data, std::span<DataId const> also) override {
    m_data.wait(keys_of(data), keys_of(also));
  }
  std::exception_ptr give_up(std::exception_ptr const& why, int status) override {
    try {
      rethrow_origin(m_data.give_up(why, status));
    } catch (...) {
      return std::current_exception();
    }
  }
  bool gave_up() const override { return m_data.gave_up(); }
  void abandon(std::exception_ptr const& why) override { m_data.give_up(why, 1); }

 private:
  // The engine's id of a datum; invalid if it belongs to another process.
  DataId own(DataId data) const { return m_data.local(key_of(data)); }
  static std::vector<DataKey> keys_of(std::span<DataId const> data) {
    std::vector<DataKey> keys;
    for (DataId const id : data) keys.push_back(key_of(id));
    return keys;
  }

  Processes& m_processes;
  Engine& m_engine;
  DataRegistry const& m_registry;
  CommonData m_data;
};

}  // namespace

std::unique_ptr<Submission> make_common_submission(Processes& processes, Distribution const& grid, Engine& engine,
                                                   DataRegistry const& registry, Exchange& exchange) {
  return std::make_unique<CommonSubmission>(processes, grid, engine, registry, exchange);
}

}  // namespace granary::detail
