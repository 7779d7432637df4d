// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/trace/text_file.hpp>

#include <granary/core/base/error.hpp>

#include <cerrno>
#include <utility>

namespace granary {

TextFile::TextFile(std::string path) : m_path(std::move(path)), m_file(std::fopen(m_path.c_str(), "w")) {
  if (!m_file) fail();
}

void TextFile::flush() {
  if (std::fwrite(m_text.data(), 1, m_text.size(), m_file.get()) != m_text.size()) fail();
  m_written += m_text.size();
  m_text.clear();
}

void TextFile::close() {
  flush();
  if (std::fclose(m_file.release()) != 0) fail();
}

void TextFile::fail() const { throw IoError("write", m_path, m_written, errno); }

}  // namespace granary
