// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/outofcore/async_file_io.hpp>

namespace granary::detail {

/// Asynchronous file input and output by the engine of the options. Throws InvalidArgument for options out of range and
/// for an engine that is not available.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<AsyncFileIo> make_async_file_io(IoOptions const& options = {});

}  // namespace granary::detail
