// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/base/text_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace granary {

std::string read_text_file(std::filesystem::path const& path, std::size_t most) {
  std::string text;
  int error = 0;
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw IoError("cannot read", path.string(), errno);
  std::array<char, 65536> part{};
  for (;;) {
    auto const count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > most) error = EFBIG;
    if (error != 0) break;
  }
  ::close(descriptor);
  if (error != 0) throw IoError("cannot read", path.string(), text.size(), error);
  return text;
}

void write_text_file(std::filesystem::path const& path, std::string_view text) {
  if (!detail::is_special_file(path.string())) {
    detail::PartialFile whole(path.string());
    whole.append(text);
    return whole.commit();
  }
  int const descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) throw IoError("cannot write", path.string(), errno);
  try {
    detail::write_all(descriptor, text, path.string());
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
}

}  // namespace granary
