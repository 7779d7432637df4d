// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/linalg/files/partial_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <granary/core/base/error.hpp>

namespace granary {
namespace {

namespace fs = std::filesystem;

std::string directory_of(std::string const& path) {
  auto const parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string follow_links(std::string const& path) {
  std::error_code error;
  auto const real = fs::canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

void check_output(std::string const& output, std::vector<std::string> const& inputs) {
  std::error_code error;
  for (auto const& input : inputs) {
    if (fs::equivalent(output, input, error))
      throw InvalidArgument("the output " + output + " is the same file as the input " + input);
  }
  auto const target = follow_links(output);
  if (fs::is_directory(target, error)) throw InvalidArgument("the output " + output + " is a directory");
  auto const directory = directory_of(target);
  if (::access(directory.c_str(), W_OK | X_OK) != 0 || !fs::is_directory(directory, error)) {
    throw InvalidArgument("cannot write the output " + output + ": " + directory + ": " +
                          std::generic_category().message(errno == 0 ? ENOTDIR : errno));
  }
}

namespace detail {

PartialFile::PartialFile(std::string const& path)
    : m_path(follow_links(path)), m_partial_path(m_path + ".partial-" + std::to_string(::getpid())) {
  check_output(path, {});
}

PartialFile::~PartialFile() {
  if (!m_committed) ::unlink(m_partial_path.c_str());
}

void PartialFile::commit() {
  if (std::rename(m_partial_path.c_str(), m_path.c_str()) != 0)
    throw IoError("cannot give the output its name", m_path, 0, errno);
  m_committed = true;
  // The name is durable with its directory; a file system that cannot flush one has nothing to flush.
  int const directory = ::open(directory_of(m_path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace detail
}  // namespace granary
