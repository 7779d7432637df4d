// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/distributed/failure_origin.hpp>

namespace granary {

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
  try {
    if (failure.error) std::rethrow_exception(failure.error);
  } catch (RemoteFailure const& remote) {
    return remote.origin();
  } catch (std::exception const& error) {
    text = error.what();
  } catch (...) {
    text = "an exception of unknown type";
  }
  return std::make_shared<FailureOrigin const>(FailureOrigin{self, failure.position, failure.what + ": " + text});
}

}  // namespace granary
