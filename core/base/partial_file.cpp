// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/base/partial_file_guard.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/stable_hash.hpp>

namespace granary::detail {
namespace {

// The files of this process. Never destroyed: the process may end while static objects exist.
struct Registry {
  std::mutex mutex;  // held while files are created, renamed and removed, so that abandon_partial_files misses none
  std::vector<PartialFile const*> files;
  std::vector<FileId> inputs;  // one for each OpenInput
};

Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

FileId id_of(struct stat const& status) { return {status.st_dev, status.st_ino}; }

enum class Lock { Taken, HeldElsewhere, Unsupported };

Lock lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return Lock::Taken;
  return errno == EAGAIN || errno == EACCES ? Lock::HeldElsewhere : Lock::Unsupported;
}

// A name that would be too long gets another one, always the same.
std::string partial_path_of(std::string const& path) {
  constexpr std::string_view ending = ".partial";
  auto const start = path.rfind('/') + 1;
  if (path.size() - start + ending.size() <= NAME_MAX) return path + std::string(ending);
  std::array<char, 17> number{};
  std::snprintf(number.data(), number.size(), "%016" PRIx64, stable_hash(path.substr(start)));
  return path.substr(0, start) + "granary-" + number.data() + std::string(ending);
}

}  // namespace

std::optional<FileId> file_at(std::string const& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(id_of(status)) : std::nullopt;
}

std::optional<FileId> file_behind(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? std::optional(id_of(status)) : std::nullopt;
}

OpenInput::OpenInput(std::string const& path) : m_file(file_at(path)) {
  if (!m_file) return;
  std::lock_guard const guard(registry().mutex);
  if (std::ranges::any_of(registry().files, [&](auto const* output) { return output->replaces(*m_file); }))
    throw InvalidArgument("the input " + path + " will be replaced by an output of this process: commit that first");
  registry().inputs.push_back(*m_file);
}

OpenInput::~OpenInput() {
  if (!m_file) return;
  std::lock_guard const guard(registry().mutex);
  registry().inputs.erase(std::ranges::find(registry().inputs, *m_file));
}

PartialFile::PartialFile(std::string const& path) {
  check_output(path, {});
  m_path = follow_links(path);
  m_partial_path = partial_path_of(m_path);
  struct stat old {};
  if (::stat(m_path.c_str(), &old) == 0) m_replaced = Replaced{id_of(old), old.st_mode, old.st_uid, old.st_gid};
  std::lock_guard const guard(registry().mutex);
  if (m_replaced && std::ranges::find(registry().inputs, m_replaced->file) != registry().inputs.end())
    throw InvalidArgument("the output " + path + " is open as an input of this process: close that matrix first");
  // Other processes may create and remove files of this name between two of our calls, but not forever.
  constexpr int most_tries = 1000;
  for (int tries = 0; !create(); ++tries) {
    if (tries == most_tries) refuse("other processes keep creating and removing it");
  }
  registry().files.push_back(this);
}

PartialFile::~PartialFile() {
  if (m_descriptor < 0) return;
  {
    std::lock_guard const guard(registry().mutex);
    if (std::erase(registry().files, this) > 0 && has_its_name()) ::unlink(m_partial_path.c_str());
  }
  close();  // frees the blocks of a large file, which takes time
}

// Returns false if another process interfered: try again. Only the holder of the lock on the file of this name renames
// or removes it.
bool PartialFile::create() {
  // The replaced file may be confidential.
  mode_t const mode = m_replaced ? S_IRUSR | S_IWUSR : S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  m_descriptor = ::open(m_partial_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (m_descriptor < 0) {
    if (errno != EEXIST) refuse(std::generic_category().message(errno));
    remove_dead();
    return false;
  }
  // Another process may have found the file before it was locked, and taken it for one of a dead run.
  if (lock(m_descriptor) != Lock::HeldElsewhere && has_its_name()) return true;
  close();
  return false;
}

void PartialFile::remove_dead() {
  m_descriptor = ::open(m_partial_path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (m_descriptor < 0) {
    if (errno == ENOENT) return;
    refuse(errno == ELOOP ? "it is a symbolic link" : std::generic_category().message(errno));
  }
  struct stat status {};
  bool const regular = ::fstat(m_descriptor, &status) == 0 && S_ISREG(status.st_mode);
  auto const outcome = regular ? lock(m_descriptor) : Lock::Unsupported;
  if (outcome == Lock::Taken && has_its_name() && ::unlink(m_partial_path.c_str()) == 0) m_replaced_a_dead_one = true;
  close();
  if (!regular) refuse("it exists and is not a regular file");
  if (outcome == Lock::HeldElsewhere) refuse("another run is writing it");
  if (outcome == Lock::Unsupported) {
    refuse(
        "it exists, and its file system has no locks, so another run may be writing it; remove it if none "
        "is");
  }
}

bool PartialFile::has_its_name() const {
  struct stat named {};
  return ::lstat(m_partial_path.c_str(), &named) == 0 && file_behind(m_descriptor) == id_of(named);
}

void PartialFile::close() {
  ::close(m_descriptor);
  m_descriptor = -1;
}

void PartialFile::refuse(std::string const& why) const {
  throw InvalidArgument("cannot write the output " + m_path + " as " + m_partial_path + ": " + why);
}

void PartialFile::append(std::string_view text) const { write_all(m_descriptor, text, m_path); }

void PartialFile::require_space(Bytes bytes, Bytes length) const {
  detail::require_space(m_partial_path, "the output " + m_path, bytes, length);
}

void PartialFile::require_same(int descriptor) const {
  if (auto const ours = file_behind(m_descriptor); ours && ours == file_behind(descriptor)) return;
  throw Error(m_partial_path + " was replaced while it was written");
}

void PartialFile::keep_access() const {
  if (!m_replaced) return;
  auto mode = m_replaced->mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  if (::fchown(m_descriptor, m_replaced->owner, m_replaced->group) != 0 &&
      ::fchown(m_descriptor, static_cast<uid_t>(-1), m_replaced->group) != 0) {
    // Another group must not get the permissions of the old group.
    mode = (mode & ~static_cast<mode_t>(S_IRWXG)) | (mode & (mode << 3U) & S_IRWXG);
  }
  ::fchmod(m_descriptor, mode);
}

void PartialFile::commit() {
  {
    std::lock_guard const guard(registry().mutex);
    if (!has_its_name()) throw Error(m_partial_path + " was removed or replaced while it was written");
    keep_access();
    // The written file is complete: if the rename fails, it stays.
    std::erase(registry().files, this);
    if (std::rename(m_partial_path.c_str(), m_path.c_str()) != 0) {
      throw IoError("cannot rename the complete output " + m_partial_path +
                        ", which is kept until the next run with this output, to",
                    m_path, errno);
    }
  }
  // The new name is durable once its directory is flushed; some file systems cannot flush one.
  auto const parent = m_path.substr(0, m_path.rfind('/') + 1);
  int const directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

void write_all(int descriptor, std::string_view text, std::string const& name) {
  for (std::size_t written = 0; written < text.size();) {
    auto const n = ::write(descriptor, text.data() + written, text.size() - written);
    if (n >= 0) {
      written += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      throw IoError("cannot write", name, written, errno);
    }
  }
}

void require_space(std::string const& path, std::string const& what, Bytes bytes, Bytes length) {
  auto const refuse = [&what](Bytes needed, std::string const& why) {
    throw Error("cannot write " + what + ": it needs " + format_bytes(needed) + ", but " + why);
  };
  struct rlimit most {};
  if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && length > most.rlim_cur)
    refuse(length, "files are limited to " + format_bytes(most.rlim_cur) + " here (ulimit -f)");
  struct statvfs system {};
  if (::statvfs(path.c_str(), &system) != 0 || system.f_blocks == 0) return;  // unknown
  Bytes const free = Bytes{system.f_bavail} * system.f_frsize;
  if (bytes > free) refuse(bytes, "its file system has " + format_bytes(free) + " free");
}

std::unique_lock<std::mutex> hold_partial_files() { return std::unique_lock(registry().mutex); }

void abandon_partial_files() {
  registry().mutex.lock();
  for (auto const* file : registry().files) ::unlink(file->partial_path().c_str());
}

}  // namespace granary::detail
