// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/error_kinds.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace granary {
namespace {

struct Kind {
  std::type_index type;
  std::string name;
  std::function<std::string(std::exception const&)> argument;
  std::function<std::exception_ptr(std::string const&)> make;
};

struct Kinds {
  std::mutex mutex;
  std::vector<Kind> all;

  // Adds an exception type that is thrown as E in another process.
  template <class Thrown, class E = Thrown>
  void add(std::string name) {
    all.push_back({typeid(Thrown), std::move(name), [](std::exception const& error) { return error.what(); },
                   [](std::string const& text) { return std::make_exception_ptr(E(text)); }});
  }
  Kinds() {
    add<Error>("Error");
    add<IoError, Error>("IoError");
    add<InvalidArgument>("InvalidArgument");
    add<MemoryLimitError>("MemoryLimitError");
    add<DataError>("DataError");
    add<DeviceError>("DeviceError");
    add<DeviceLost>("DeviceLost");
    add<Stopped>("Stopped");
    add<CheckFailed>("CheckFailed");
    add<InternalError>("InternalError");
  }
};

Kinds& kinds() {
  static Kinds known;
  return known;
}

}  // namespace

void add_error_kind(std::type_index type, std::string kind, std::function<std::string(std::exception const&)> argument,
                    std::function<std::exception_ptr(std::string const&)> make) {
  auto& known = kinds();
  std::lock_guard const lock(known.mutex);
  if (std::ranges::find(known.all, kind, &Kind::name) != known.all.end()) return;
  known.all.push_back({type, std::move(kind), std::move(argument), std::move(make)});
}

detail::ErrorText detail::text_of(std::exception const& error) {
  auto& known = kinds();
  std::lock_guard const lock(known.mutex);
  auto const* const in_task = dynamic_cast<TaskError const*>(&error);
  auto const type = in_task != nullptr ? in_task->type() : std::type_index(typeid(error));
  auto const found = std::ranges::find(known.all, type, &Kind::type);
  return found == known.all.end() ? ErrorText{} : ErrorText{found->name, found->argument(error)};
}

std::exception_ptr detail::error_of(ErrorText const& text) {
  auto& known = kinds();
  std::lock_guard const lock(known.mutex);
  auto const found = std::ranges::find(known.all, text.kind, &Kind::name);
  return found == known.all.end() ? nullptr : found->make(text.argument);
}

}  // namespace granary
