// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/distributed/failure_origin.hpp>

#include <granary/detail/core/base/task_error.hpp>

#include <utility>

namespace granary::detail {

std::shared_ptr<FailureOrigin const> remote_origin(Failure const& failure) {
  try {
    if (failure.error) std::rethrow_exception(failure.error);
  } catch (RemoteFailure const& remote) {
    return remote.origin();
  } catch (...) {
    return nullptr;
  }
  return nullptr;
}

std::shared_ptr<FailureOrigin const> origin_of(Failure const& failure, ProcessId self) {
  std::string text = "it did not run";
  ErrorText made;
  bool has_task = false;  // in its text
  try {
    if (failure.error) std::rethrow_exception(detail::in_task(failure.error, failure.origin));
  } catch (RemoteFailure const& remote) {
    return remote.origin();
  } catch (std::exception const& error) {
    text = error.what();
    made = text_of(error);
    has_task = dynamic_cast<TaskError const*>(&error) != nullptr;
  } catch (...) {
    text = "an exception of unknown type";
  }
  auto const what = failure.what.empty() || has_task ? text : failure.what + ": " + text;
  return std::make_shared<FailureOrigin const>(
      FailureOrigin{.process = self, .position = failure.position, .what = what, .error = std::move(made)});
}

void rethrow_origin(std::shared_ptr<FailureOrigin const> const& origin) {
  if (auto const error = error_of(origin->error)) std::rethrow_exception(error);
  throw RemoteFailure(origin);
}

}  // namespace granary::detail
