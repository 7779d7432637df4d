// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/partial_file.hpp>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <granary/detail/core/base/error.hpp>

namespace granary {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string const& output, std::string const& why) {
  throw InvalidArgument("cannot write the output " + output + ": " + why);
}

std::string text_of(int error_number) { return std::generic_category().message(error_number); }

// The file type at the path, after following links; empty where a new file can be created. stat() follows the links: it
// refuses links of other users in world-writable directories.
std::optional<mode_t> kind_of(std::string const& output) {
  struct stat status {};
  if (::stat(output.c_str(), &status) == 0) return status.st_mode;
  if (errno != ENOENT) refuse(output, text_of(errno));
  return std::nullopt;
}

bool is_descriptor(int descriptor, std::string const& path) {
  auto const named = detail::file_at(path);
  return named && named == detail::file_behind(descriptor);
}

std::string directory_of(fs::path const& path) {
  auto const parent = path.parent_path().string();
  return parent.empty() ? "." : parent;
}

// True if this process may rename and remove files of others in directories with the sticky bit.
bool ignores_owners() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return ::syscall(SYS_capget, &header, data) == 0 && (data[0].effective & (1U << CAP_FOWNER)) != 0;
}

// A file that may be written, but that no other file may replace.
void check_replaced(std::string const& output, struct stat const& directory) {
  auto const file = detail::follow_links(output);
  struct stat old {};
  if (::lstat(file.c_str(), &old) != 0) return;
  auto const user = ::geteuid();
  bool const sticky = (directory.st_mode & S_ISVTX) != 0;
  if (sticky && old.st_uid != user && directory.st_uid != user && !ignores_owners())
    refuse(output, "it is another user's file in a directory with the sticky bit, and cannot be replaced");
  struct statx more {};
  if (::statx(AT_FDCWD, file.c_str(), AT_SYMLINK_NOFOLLOW, 0, &more) != 0) return;
  auto const attributes = more.stx_attributes & more.stx_attributes_mask;
  if ((attributes & STATX_ATTR_MOUNT_ROOT) != 0) refuse(output, "it is a mount point, and cannot be replaced");
  if ((attributes & (STATX_ATTR_APPEND | STATX_ATTR_IMMUTABLE)) != 0)
    refuse(output, "it is append-only or immutable, and cannot be replaced");
}

void check_place(std::string const& output) {
  auto const directory = directory_of(detail::follow_links(output));
  struct stat status {};
  int const error = ::stat(directory.c_str(), &status) != 0 ? errno : !S_ISDIR(status.st_mode) ? ENOTDIR : 0;
  if (error != 0) refuse(output, directory + ": " + text_of(error));
  if (::access(directory.c_str(), W_OK | X_OK) != 0) refuse(output, directory + ": " + text_of(errno));
  check_replaced(output, status);
}

void check(std::string const& output, std::vector<std::string> const& inputs, bool special) {
  if (output.empty()) throw InvalidArgument("the name of an output is empty");
  std::error_code ignored;
  for (auto const& input : inputs) {
    if (fs::equivalent(output, input, ignored))
      throw InvalidArgument("the output " + output + " is the same file as the input " + input);
  }
  auto const kind = kind_of(output);
  if (kind && S_ISDIR(*kind)) throw InvalidArgument("the output " + output + " is a directory");
  if (kind && !S_ISREG(*kind) && !special) {
    throw InvalidArgument("the output " + output + " is a " +
                          (S_ISFIFO(*kind)   ? "FIFO"
                           : S_ISSOCK(*kind) ? "socket"
                                             : "device") +
                          "; a matrix is written to a regular file");
  }
  if (kind && S_ISREG(*kind) && (is_descriptor(STDOUT_FILENO, output) || is_descriptor(STDERR_FILENO, output)))
    throw InvalidArgument("the output " + output + " is this program's standard output or standard error");
  if (kind && ::access(output.c_str(), W_OK) != 0) refuse(output, text_of(errno));
  if (!kind || S_ISREG(*kind)) check_place(output);
}

}  // namespace

void check_output(std::string const& output, std::vector<std::string> const& inputs) { check(output, inputs, false); }

void check_text_output(std::string const& output, std::vector<std::string> const& inputs) {
  check(output, inputs, true);
}

std::string detail::follow_links(std::string const& path) {
  constexpr int most_links = 40;  // the system's limit
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == most_links) refuse(path, text_of(ELOOP));
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  auto const directory = fs::canonical(directory_of(target), error);
  return error ? target.string() : (directory / target.filename()).string();
}

bool detail::is_special_file(std::string const& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace granary
