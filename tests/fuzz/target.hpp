// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Common parts of a fuzz target: LLVMFuzzerTestOneInput, and the initial inputs of mutations.
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace granary::fuzz {

/// Well-formed inputs of the target, generated in code.
[[nodiscard]] std::vector<std::string> seeds();
/// Words that mutations insert.
[[nodiscard]] std::vector<std::string> words();

inline std::string_view text_of(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<char const*>(data), size};
}

[[noreturn]] inline void fail(std::string const& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

/// Calls `read`, which may succeed or refuse its input: errors of the library other than InternalError. Any other
/// exception propagates and ends the program. Returns true if it succeeded.
template <class Read>
bool refuses_or(std::size_t size, Read const& read) {
  try {
    read();
    return true;
  } catch (InternalError const& error) {
    fail(std::string("an internal error: ") + error.what());
  } catch (Error const& error) {
    std::string const what = error.what();
    if (what != printable_lines(what)) fail("a message has control characters: " + what);
    if (what.size() > 4096 + 16 * size) fail("a message of " + std::to_string(what.size()) + " bytes");
    return false;
  }
}

/// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile() : m_descriptor(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (m_descriptor < 0) fail("memfd_create failed");
    m_path = "/proc/self/fd/" + std::to_string(m_descriptor);
  }
  MemoryFile(MemoryFile const&) = delete;
  MemoryFile& operator=(MemoryFile const&) = delete;
  ~MemoryFile() { ::close(m_descriptor); }

  [[nodiscard]] std::string const& path() const { return m_path; }
  void write(std::string_view text) const {
    if (::ftruncate(m_descriptor, 0) != 0 ||
        ::pwrite(m_descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      fail("a file in memory cannot be written");
    }
  }

 private:
  int m_descriptor;
  std::string m_path;
};

}  // namespace granary::fuzz
