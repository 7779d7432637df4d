// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/session/data_registry.hpp>
#include <granary/detail/runtime/session/submission.hpp>

#include <utility>

namespace granary::detail {

namespace {

class LocalSubmission final : public Submission {
 public:
  LocalSubmission(Engine& engine, DataRegistry const& registry) : m_engine(engine), m_registry(registry) {}

  Submitter& submitter() override { return m_engine; }
  std::optional<TaskId> submit_while(std::atomic<std::uint64_t> const& counter, std::uint64_t value,
                                     TaskSubmission const& task, Parameters& parameters) override {
    return m_engine.submit_while(counter, value, task, parameters);
  }

  bool owns(DataId /*data*/) const override { return true; }
  bool in_use(DataId data) const override { return m_engine.in_use(data); }
  void prefetch(DataId data, NodeId node) override { m_engine.prefetch(data, node); }
  void will_not_use(DataId data) override { m_engine.will_not_use(data); }
  DataId add_data(DataDescription description, DataBinding binding) override {
    return m_registry.add(std::move(description), binding);
  }
  SharedData add_view(std::string name, Bytes bytes, DataBinding binding) override {
    return m_registry.add_view(std::move(name), bytes, std::move(binding));
  }
  void retain_data(DataId data) override { m_engine.retain_data(data); }
  std::string name_of(DataId data) const override { return m_engine.name_of(data); }

  void assign(DataId /*data*/, ProcessId owner) override {
    if (owner != ProcessId(0))
      throw InvalidArgument("there is no process " + std::to_string(owner.value()) + ": there is one, process 0");
  }
  void share_value(DataId /*data*/, std::span<std::byte> /*bytes*/) override {}
  Processes* others() const override { return nullptr; }
  void refuse_with_others(std::string_view /*what*/) const override {}

  void wait() override { m_engine.wait(); }
  void wait(std::span<DataId const> data, std::span<DataId const> also) override { m_engine.wait(data, also); }
  std::exception_ptr give_up(std::exception_ptr const& why, int /*status*/) override { return why; }
  bool gave_up() const override { return false; }
  void abandon(std::exception_ptr const& why) override {
    m_engine.cancel(why);
    try {
      m_engine.wait();
    } catch (...) {  // NOLINT(bugprone-empty-catch): an exception is on its way already
    }
  }

 private:
  Engine& m_engine;
  DataRegistry const& m_registry;
};

}  // namespace

std::unique_ptr<Submission> make_local_submission(Engine& engine, DataRegistry const& registry) {
  return std::make_unique<LocalSubmission>(engine, registry);
}

}  // namespace granary::detail
