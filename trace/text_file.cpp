// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/trace/text_file.hpp>

#include <granary/detail/core/base/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace granary {

TextFile::TextFile(std::string path) : m_path(std::move(path)) {
  if (!detail::is_special_file(m_path)) {
    m_whole.emplace(m_path);
    return;
  }
  m_special = ::open(m_path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (m_special < 0) throw IoError("cannot write", m_path, errno);
}

TextFile::~TextFile() {
  if (m_special >= 0) ::close(m_special);
}

void TextFile::flush() {
  detail::write_all(m_whole ? m_whole->descriptor() : m_special, {m_text.data(), m_text.size()}, m_path);
  m_text.clear();
}

void TextFile::close() {
  flush();
  if (m_whole) m_whole->commit();
}

}  // namespace granary
