// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <string>

namespace granary::detail {

/// Writes to standard error and ignores failures, so that a run does not end because its reader has ended.
inline void say(std::string const& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace granary::detail
