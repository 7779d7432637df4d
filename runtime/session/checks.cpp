// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/session/checks.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace granary::detail {

namespace {

// Bytes of a NaN in single and double precision, and of no common integer. Elements of these bytes count as unwritten.
constexpr std::array<unsigned char, 4> poison{0xA5, 0xA5, 0xFB, 0xFF};

// True while this thread runs a body.
thread_local bool in_body = false;

struct InBody {
  InBody() { in_body = true; }
  ~InBody() { in_body = false; }
  InBody(InBody const&) = delete;
  InBody& operator=(InBody const&) = delete;
};

std::string described(std::string_view task, SourceLine const& source_line) {
  auto text = "task '" + std::string(task) + "'";
  return *source_line.file == '\0' ? text : text + " of " + source_line.file + ":" + std::to_string(source_line.line);
}

std::size_t hash_of(CheckedDatum const& datum, std::byte* at) {
  std::size_t hash = 0;
  for_each_run(datum, at, [&](std::byte const* first, Bytes bytes) {
    std::string_view const text(reinterpret_cast<char const*>(first), bytes);
    hash = hash * 0x9E3779B97F4A7C15U + std::hash<std::string_view>{}(text);
  });
  return hash;
}

void fill_with_poison(CheckedDatum const& datum, std::byte* at) {
  for_each_run(datum, at, [](std::byte* first, Bytes bytes) {
    for (Bytes b = 0; b < bytes; ++b) first[b] = std::byte{poison[b % poison.size()]};
  });
}

bool is_poison(std::byte const* element, Bytes bytes) {
  for (Bytes b = 0; b < bytes; ++b) {
    if (element[b] != std::byte{poison[b % poison.size()]}) return false;
  }
  return true;
}

// "3 of the 100 elements, the first one is number 97"; empty if none is unwritten.
std::string find_unwritten(CheckedDatum const& datum, std::byte* at, Bytes element) {
  Bytes count = 0, first = 0, all = 0;
  for_each_run(datum, at, [&](std::byte const* run, Bytes bytes) {
    for (Bytes offset = 0; offset + element <= bytes; offset += element, ++all) {
      if (is_poison(run + offset, element) && count++ == 0) first = all;
    }
  });
  if (count == 0) return {};
  return std::to_string(count) + " of the " + std::to_string(all) + " elements of '" + datum.name +
         "', the first one at position " + std::to_string(first) + " in memory";
}

}  // namespace

struct Checks::Task {
  std::shared_ptr<Checks> checks;
  std::shared_ptr<CheckedBody> body;
  bool ended = false;
};

// The parameters of a checked task. One that is destroyed without having run was cancelled.
struct CheckedTask {
  std::unique_ptr<Checks::Task> task;

  explicit CheckedTask(std::unique_ptr<Checks::Task> of) : task(std::move(of)) {}
  CheckedTask(CheckedTask&&) noexcept = default;
  CheckedTask& operator=(CheckedTask&&) noexcept = default;
  ~CheckedTask() {
    if (task) task->checks->ended(*task);
  }
  static void run(KernelCall const& call) {
    auto& task = *static_cast<CheckedTask const*>(call.parameters)->task;
    task.checks->run(task, call);
  }
  static Bytes result_bytes(void const* parameters, std::span<Bytes const> bytes, std::size_t result) {
    auto const& task = *static_cast<CheckedTask const*>(parameters)->task;
    return task.body->result_bytes(task.body->parameters.get(), bytes, result);
  }
};

struct Checks::Before {
  std::vector<std::optional<std::size_t>> hashes;  // by access, of data that are only read
  bool orders = false;                             // whether the order of commuting tasks is compared
};

void Checks::add(DataId data, std::string name, Bytes bytes) {
  std::lock_guard const lock(m_mutex);
  m_data[data.value()] = {{}, std::make_shared<CheckedDatum>(CheckedDatum{std::move(name), bytes})};
}

void Checks::add(DataId data, std::shared_ptr<CheckedDatum> const& kept) {
  std::lock_guard const lock(m_mutex);
  m_data[data.value()] = {kept, nullptr};
  std::erase_if(m_by_address, [](auto const& entry) { return entry.second.expired(); });
  m_by_address.emplace(kept->set.first(), kept);
  m_longest = std::max(m_longest, kept->set.span());
}

std::shared_ptr<CheckedDatum> Checks::find(DataId data) const {
  auto const found = m_data.find(data.value());
  if (found == m_data.end()) return nullptr;
  return found->second.own != nullptr ? found->second.own : found->second.in_place.lock();
}

// Those in the application's memory that may share bytes with the range.
template <class Function>
void Checks::for_each_at(std::uint64_t first, std::uint64_t end, Function&& function) const {
  auto const from = m_by_address.lower_bound(first > m_longest ? first - m_longest : 0);
  for (auto at = from; at != m_by_address.end() && at->first < end; ++at) {
    if (auto const datum = at->second.lock(); datum != nullptr && datum->set.end() > first) function(*datum);
  }
}

void Checks::refuse_captured(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                             std::byte const* parameters) const {
  for (std::size_t offset = 0; offset + sizeof(void*) <= code.size; offset += alignof(void*)) {
    void const* byte = nullptr;
    std::memcpy(&byte, parameters + offset, sizeof byte);
    auto const word = reinterpret_cast<std::uintptr_t>(byte);
    for_each_at(word, word + 1, [&](CheckedDatum const& datum) {
      if (!overlap(datum.set, ByteSet(byte, 1))) return;
      bool const declared =
          std::ranges::any_of(accesses, [&](Access const& access) { return find(access.data).get() == &datum; });
      throw CheckFailed(described(info.name.text, info.name.source_line) + " has a body that holds an address in '" +
                        datum.name + "' (" + std::to_string(word - datum.set.first()) +
                        " bytes from its first element), a View or a pointer, which granary does not see: " +
                        (declared
                             ? "use the View that the body gets for its access to it"
                             : "pass it to submit as an access, such as read(x), and use the View that the body gets"));
    });
  }
}

// Throws for elements that changed where none may change; names the possible causes.
static void throw_changed(CheckedDatum const& datum, std::string const& until) {
  throw CheckFailed("the elements of '" + datum.name + "' changed after " + datum.last + " and before " + until +
                    ": the program wrote them without wait(x) before, or a body did whose task does not declare it");
}

Parameters Checks::checked(TaskInfo const& info, TaskCode const& code, std::span<Access const> accesses,
                           Parameters parameters) {
  if (CommutingOrders::again()) throw InternalError("a body that runs again submits a task");
  auto body = std::make_shared<CheckedBody>(
      CheckedBody{std::move(parameters), code.kernels[static_cast<std::size_t>(WorkerKind::Cpu)], code.result_bytes,
                  code.launches_kokkos_kernels, code.restartable, described(info.name.text, info.name.source_line)});
  body->by_body = in_body;
  std::unique_lock lock(m_mutex);
  refuse_captured(info, code, accesses, static_cast<std::byte const*>(body->parameters.get()));
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    auto datum = find(accesses[i].data);
    if (datum == nullptr) continue;
    auto const element = code.elements.empty() ? ComparedElement{} : code.elements[i];
    if (datum->home != nullptr && element.bytes > 0 && !datum->hash && !m_other_work) {
      bool changing = false;
      for_each_at(datum->set.first(), datum->set.end(), [&](CheckedDatum const& other) {
        changing = changing || (other.writers > 0 && overlap(other.set, datum->set));
      });
      if (!changing) {
        datum->hash = hash_of(*datum, datum->home);
        datum->last = body->name + " was submitted";
      }
    }
    body->uses.push_back({std::move(datum), accesses[i].mode, element, i});
  }
  for (auto const& use : body->uses) use.datum->writers += writes(use.mode) ? 1 : 0;
  if (m_orders) m_orders->submitted(*body);
  bool const guarded = m_guard != nullptr && !m_other_work && !in_body;
  lock.unlock();
  if (guarded) guard(*body);
  return Parameters(CheckedTask(std::make_unique<Task>(Task{shared_from_this(), std::move(body)})));
}

// Not while a body runs, which may use the same elements.
void Checks::guard(CheckedBody const& task) {
  std::lock_guard const none(m_body);
  for (auto const& use : task.uses) {
    if (use.datum->home == nullptr || use.element.bytes == 0) continue;
    m_guard->close(use.datum->home, use.datum->set, use.mode == AccessMode::Read,
                   "elements of '" + use.datum->name + "', which " + task.name + " uses", use.datum);
  }
}

void Checks::begin_wait() {
  if (m_guard) m_guard->open();
}

std::unique_lock<std::mutex> Checks::enter_body() {
  for (;;) {
    if (m_guard) m_guard->wait_until_open();
    std::unique_lock entered(m_body);
    if (!m_guard || !m_guard->closed()) return entered;
  }
}

TaskCode Checks::checked(TaskCode const& code) {
  auto checked = code;
  auto& kernel = checked.kernels[static_cast<std::size_t>(WorkerKind::Cpu)];
  checked.checked = std::exchange(kernel, kernel != nullptr ? &CheckedTask::run : nullptr);
  if (checked.result_bytes != nullptr) checked.result_bytes = &CheckedTask::result_bytes;
  return checked;
}

void Checks::run(Task& task, KernelCall const& call) {
  auto const entered = enter_body();
  InBody const inside;
  try {
    run_body(task.body, call);
  } catch (...) {
    if (!task.body->restartable) ended(task);
    throw;
  }
  if (!task.body->restartable) ended(task);
}

void Checks::run_body(std::shared_ptr<CheckedBody> const& body, KernelCall const& call) {
  Before before;
  begin(*body, call, before);
  auto const update = before.orders ? m_orders->begin(body, call) : nullptr;
  body->run(call);
  end(*body, call, before);
  if (update) m_orders->end(update, call);
}

void Checks::begin(CheckedBody const& task, KernelCall const& call, Before& before) {
  std::lock_guard const lock(m_mutex);
  before.orders = m_orders != nullptr && !m_other_work;
  before.hashes.resize(task.uses.size());
  for (std::size_t i = 0; i < task.uses.size(); ++i) {
    auto const& use = task.uses[i];
    auto const& datum = use.datum;
    auto const element = use.element.bytes;
    if (element == 0) continue;
    bool const reads_only = task.only(AccessMode::Read, use);
    if (datum->hash || reads_only) before.hashes[i] = hash_of(*datum, use.at(call));
    if (datum->hash && *datum->hash != *before.hashes[i]) throw_changed(*datum, task.name + " began");
    if (!reads_only) before.hashes[i].reset();
    bool const writes_only = task.only(AccessMode::Write, use);
    if (writes_only && !task.restartable) fill_with_poison(*datum, use.at(call));
  }
  for (auto const& use : task.uses) {
    if (writes(use.mode)) forget_overlapping(*use.datum);
  }
}

void Checks::end(CheckedBody const& task, KernelCall const& call, Before const& before) {
  std::lock_guard const lock(m_mutex);
  for (std::size_t i = 0; i < task.uses.size(); ++i) {
    auto const& use = task.uses[i];
    auto const& datum = use.datum;
    auto const element = use.element.bytes;
    if (before.hashes[i] && *before.hashes[i] != hash_of(*datum, use.at(call))) {
      throw CheckFailed("the body changed elements of '" + datum->name +
                        "', which its task only reads: declare read_write(x)");
    }
    bool const writes_only = task.only(AccessMode::Write, use);
    if (!writes_only || task.restartable || element == 0 || element % poison.size() != 0) continue;
    if (auto const left = find_unwritten(*datum, use.at(call), element); !left.empty()) {
      throw CheckFailed("the body left " + left +
                        " unwritten, and its task declares write(x), after which the old values are lost: write all, "
                        "or declare read_write(x)");
    }
  }
  if (task.restartable || m_other_work) return;
  for (auto const& [datum, mode, element, access] : task.uses) {
    if (datum->home == nullptr || element.bytes == 0) continue;
    if (!writes(mode) && datum->hash) continue;
    datum->hash = hash_of(*datum, datum->home);
    datum->last = task.name + " had ended";
  }
}

// The task runs no more: it has ended or was cancelled.
void Checks::ended(Task& task) {
  std::lock_guard const lock(m_mutex);
  if (std::exchange(task.ended, true)) return;
  for (auto const& use : task.body->uses) use.datum->writers -= writes(use.mode) ? 1 : 0;
}

void Checks::forget_overlapping(CheckedDatum const& datum) {
  if (datum.home == nullptr) return;
  for_each_at(datum.set.first(), datum.set.end(), [&](CheckedDatum& other) {
    if (overlap(other.set, datum.set)) other.hash.reset();
  });
}

void Checks::begin_other_work() {
  begin_wait();
  if (m_orders) m_orders->forget();
  std::lock_guard const lock(m_mutex);
  m_other_work = true;
  for (auto const& [first, datum] : m_by_address) {
    if (auto const known = datum.lock()) known->hash.reset();
  }
}

std::vector<std::shared_ptr<CheckedDatum>> Checks::all_of(std::span<DataId const> data) const {
  std::vector<std::shared_ptr<CheckedDatum>> all;
  if (data.empty()) {
    for (auto const& [first, datum] : m_by_address) all.push_back(datum.lock());
  } else {
    for (auto const& id : data) all.push_back(find(id));
  }
  std::erase_if(all, [](auto const& datum) { return datum == nullptr || datum->home == nullptr; });
  return all;
}

void Checks::waited(std::span<DataId const> data) {
  std::shared_ptr<CheckedDatum> changed;
  {
    std::lock_guard const lock(m_mutex);
    for (auto const& datum : all_of(data)) {
      if (datum->hash && *datum->hash != hash_of(*datum, datum->home) && changed == nullptr) changed = datum;
    }
  }
  forget(data);
  if (changed != nullptr) throw_changed(*changed, "the wait for it");
}

void Checks::forget(std::span<DataId const> data) {
  if (m_orders) m_orders->forget();
  std::lock_guard const lock(m_mutex);
  for (auto const& datum : all_of(data)) forget_overlapping(*datum);
  if (data.empty()) m_other_work = false;
}

}  // namespace granary::detail
