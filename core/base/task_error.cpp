// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/task_error.hpp>

#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

namespace granary {
namespace {

struct Makers {
  std::mutex mutex;
  std::unordered_map<std::type_index, detail::MakeInTask> of;

  template <class... E>
  void add() {
    (of.emplace(typeid(E), &detail::make_in_task<E>), ...);
  }
  Makers() {
    add<Error, InvalidArgument, MemoryLimitError, IoError, DataError, DeviceError, DeviceLost, Stopped, CheckFailed,
        InternalError>();
    add<std::exception, std::logic_error, std::domain_error, std::invalid_argument, std::length_error,
        std::out_of_range, std::runtime_error, std::range_error, std::overflow_error, std::underflow_error,
        std::bad_alloc, std::bad_cast, std::bad_function_call, std::bad_optional_access, std::system_error,
        std::filesystem::filesystem_error>();
  }
};

Makers& makers() {
  static Makers known;
  return known;
}

std::string submitted_at(SourceLine const& source_line) {
  return std::string("submitted at ") + source_line.file + ":" + std::to_string(source_line.line);
}

detail::MakeInTask maker_of(std::type_index type) {
  auto& known = makers();
  std::lock_guard const lock(known.mutex);
  auto const found = known.of.find(type);
  return found != known.of.end() ? found->second : nullptr;
}

}  // namespace

std::string detail::TaskOrigin::describe() const {
  auto text = what;
  for (std::size_t i = 0; i < data.size(); ++i) text += (i == 0 ? " on '" : ", '") + data[i] + "'";
  return *source_line.file == '\0' ? text : text + ", " + submitted_at(source_line);
}

TaskError::TaskError(detail::TaskOrigin origin, std::type_index type) : m_origin(std::move(origin)), m_type(type) {}
TaskError::~TaskError() = default;

std::string detail::with_task(std::string const& message, TaskError const& task) {
  bool const names_it = message.starts_with("task '" + task.task() + "'");
  return message + (names_it ? " (" + submitted_at(task.source_line()) : " (in " + task.describe()) + ")";
}

void detail::add_task_error(std::type_index type, MakeInTask make) {
  auto& known = makers();
  std::lock_guard const lock(known.mutex);
  known.of.emplace(type, make);
}

std::exception_ptr detail::in_task(std::exception_ptr const& error, detail::TaskOrigin const& origin) {
  if (!error || *origin.source_line.file == '\0') return error;
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& thrown) {
    if (auto const make = maker_of(typeid(thrown))) return make(thrown, origin);
  } catch (...) {  // NOLINT(bugprone-empty-catch): its type is not known
  }
  return error;
}

}  // namespace granary
