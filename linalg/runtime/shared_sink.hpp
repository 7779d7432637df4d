// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/linalg/files/matrix_sink.hpp>
#include <granary/detail/runtime/api/runtime.hpp>

#include <memory>
#include <string>

namespace granary {

/// An output of all processes of a Runtime: the first one creates the file, each writes its own tiles. Collective, as
/// `commit_sink` is. Throws what MatrixSink does, in all processes the same.
[[nodiscard]] GRANARY_EXPORT std::shared_ptr<detail::MatrixSink> make_sink(detail::Session& session,
                                                                           std::string const& path,
                                                                           detail::MatrixSinkOptions const& options);
/// MatrixSink::commit by the first process, after all have written.
GRANARY_EXPORT void commit_sink(detail::Session& session, detail::MatrixSink& sink);

}  // namespace granary
