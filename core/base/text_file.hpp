// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// The limit of read_text_file: a device such as /dev/zero never ends.
inline constexpr std::size_t most_text_bytes = std::size_t{1} << 30;

/// The whole text of a file or a pipe. Throws IoError when it cannot be read, is a directory, or has more than `most`
/// bytes.
[[nodiscard]] std::string read_text_file(std::filesystem::path const& path, std::size_t most = most_text_bytes);

}  // namespace granary

#pragma GCC visibility pop
