// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/storage.hpp>

namespace granary::detail {
namespace {

std::string errno_text(int number) { return std::generic_category().message(number); }

}  // namespace

File::File(std::string name, int buffered, int direct)
    : m_name(std::move(name)), m_buffered(buffered), m_direct(direct) {
  // Requests are large enough: read-ahead would only fill the page cache.
  ::posix_fadvise(m_buffered, 0, 0, POSIX_FADV_RANDOM);
}

File::~File() {
  if (m_direct >= 0) ::close(m_direct);
  ::close(m_buffered);
}

std::shared_ptr<File const> File::open(std::string const& path, int flags) {
  int const buffered = ::open(path.c_str(), flags | O_CLOEXEC);
  if (buffered < 0) throw InvalidArgument("cannot open " + path + ": " + errno_text(errno));
  struct stat status {};
  if (::fstat(buffered, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(buffered);
    throw InvalidArgument("cannot open " + path + ": it is not a regular file");
  }
  int const direct = ::open(path.c_str(), flags | O_CLOEXEC | O_DIRECT);
  return std::shared_ptr<File const>(new File(path, buffered, direct));
}

std::shared_ptr<File const> File::open_for_reading(std::string const& path) { return open(path, O_RDONLY); }

std::shared_ptr<File const> File::open_for_update(std::string const& path) { return open(path, O_RDWR); }

std::shared_ptr<File const> File::create_unlinked(std::string const& directory) {
  auto const name = "the scratch file in " + directory;
  int const nameless = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (nameless >= 0) {
    auto const link = "/proc/self/fd/" + std::to_string(nameless);
    int const direct = ::open(link.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT);
    if (direct >= 0 || errno == EINVAL) return std::shared_ptr<File const>(new File(name, nameless, direct));
    ::close(nameless);  // without /proc it cannot be opened again
  }
  // The file system does not support unnamed files: create a file and unlink it.
  std::string path = directory + "/granary-scratch-XXXXXX";
  int const buffered = ::mkostemp(path.data(), O_CLOEXEC);
  if (buffered < 0)
    throw InvalidArgument("cannot write to the scratch directory " + directory + ": " + errno_text(errno));
  int const direct = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT);
  ::unlink(path.c_str());
  return std::shared_ptr<File const>(new File(name, buffered, direct));
}

void File::sync() const {
  if (::fdatasync(m_buffered) != 0) throw IoError("cannot flush", m_name, errno);
}

void File::drop_cache(std::uint64_t offset, Bytes bytes) const {
  auto const first = offset / io_alignment * io_alignment;
  auto const length = bytes == 0 ? 0 : round_up(offset + bytes, io_alignment) - first;
  ::posix_fadvise(m_buffered, static_cast<off_t>(first), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
}

void File::start_writing_back() const { ::sync_file_range(m_buffered, 0, 0, SYNC_FILE_RANGE_WRITE); }

void File::reserve(std::uint64_t offset, Bytes bytes) const {
  if (::fallocate(m_buffered, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
    throw IoError("cannot reserve space in", m_name, offset, errno);
}

}  // namespace granary::detail
