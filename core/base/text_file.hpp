// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace granary {

/// The limit of read_text_file: a device such as /dev/zero never ends.
inline constexpr std::size_t most_text_bytes = std::size_t{1} << 30;

/// The whole text of a file or a pipe. Throws IoError when it cannot be read, is a directory, or has more than `most`
/// bytes.
[[nodiscard]] GRANARY_EXPORT std::string read_text_file(std::filesystem::path const& path,
                                                        std::size_t most = most_text_bytes);

/// Writes the whole text to a device, a FIFO or a socket, or else into a file that gets its name when it is complete
/// (detail::PartialFile): a failure leaves the old file. Throws InvalidArgument when there can be no output at `path`,
/// IoError when writing fails.
GRANARY_EXPORT void write_text_file(std::filesystem::path const& path, std::string_view text);

}  // namespace granary
