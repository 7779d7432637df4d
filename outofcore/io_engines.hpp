// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary::detail {

[[nodiscard]] std::shared_ptr<AsyncFileIo> make_thread_pool_io(IoOptions const& options);

/// Null if the kernel or the build does not offer io_uring.
[[nodiscard]] std::shared_ptr<AsyncFileIo> make_uring_io(IoOptions const& options);

}  // namespace granary::detail
