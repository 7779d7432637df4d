// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary::detail {

[[nodiscard]] std::shared_ptr<AsyncFileIo> make_thread_pool_io(IoOptions const& options);

/// Null if the kernel or the build does not offer io_uring.
[[nodiscard]] std::shared_ptr<AsyncFileIo> make_uring_io(IoOptions const& options);

/// True if the kernel and the build offer io_uring to this process.
[[nodiscard]] GRANARY_EXPORT bool uring_available();

}  // namespace granary::detail
