// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <granary/core/base/units.hpp>

#pragma GCC visibility push(default)

namespace granary {

/// Throws InvalidArgument when `output` cannot be created in its directory, is there and cannot be written, is a
/// directory, a device, a FIFO or a socket, or is the same file as one of `inputs`, by whatever name. Files among
/// `inputs` that do not exist are ignored.
void check_output(std::string const& output, std::vector<std::string> const& inputs);

/// The same for a text, which may also go to a device, a FIFO or a socket.
void check_text_output(std::string const& output, std::vector<std::string> const& inputs);

namespace detail {

/// The path at the end of all symbolic links, whether there is a file or not. Throws InvalidArgument for links in a
/// circle.
[[nodiscard]] std::string follow_links(std::string const& path);

/// Whether there is something at `path` that is neither a regular file nor a directory.
[[nodiscard]] bool is_special_file(std::string const& path);

/// Throws Error when the file system of `path` has not `bytes` free, or files may not be `length` bytes long
/// (`ulimit -f`). `what` needs them, a noun for the message.
void require_space(std::string const& path, std::string const& what, Bytes bytes, Bytes length);

/// A file, by whatever name.
struct FileId {
  dev_t device;
  ino_t number;
  bool operator==(FileId const&) const = default;
};

/// The file at the end of the path's links, or the one behind a descriptor; nothing where there is none.
[[nodiscard]] std::optional<FileId> file_at(std::string const& path);
[[nodiscard]] std::optional<FileId> file_behind(int descriptor);

/// Says, while it lives, that this process reads a file: no PartialFile replaces it meanwhile, so that nobody reads an
/// old value of what the same program computes anew.
class OpenInput {
 public:
  /// Throws InvalidArgument when a PartialFile of this process will replace the file at `path`.
  explicit OpenInput(std::string const& path);
  ~OpenInput();
  OpenInput(OpenInput const&) = delete;
  OpenInput& operator=(OpenInput const&) = delete;

 private:
  std::optional<FileId> m_file;  // nothing: there is none
};

/// A file that is written beside its path, as `<path>.partial`, and gets its name when it is complete. A link is
/// followed, so that the file it names is replaced and not the link.
///
/// The file is locked as long as this lives (fcntl, F_OFD_SETLK), so that a run, in whatever container or on whatever
/// node, can tell a file that is being written from one whose writer died. The lock belongs to the open file: two
/// outputs of one process exclude each other, too.
class PartialFile {
 public:
  /// Creates the file, with access for its owner alone where it replaces one. A file that a dead run left is removed
  /// first. Throws InvalidArgument when the file cannot be created there, while another PartialFile of the same path is
  /// alive, in any process, and while an OpenInput of this process reads the file that it would replace.
  explicit PartialFile(std::string const& path);
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;
  /// Removes what was not committed.
  ~PartialFile();

  [[nodiscard]] std::string const& path() const { return m_path; }
  [[nodiscard]] std::string const& partial_path() const { return m_partial_path; }
  /// For reading and writing; closed by the destructor.
  [[nodiscard]] int descriptor() const { return m_descriptor; }
  /// Whether a dead run's file was removed.
  [[nodiscard]] bool replaced_a_dead_one() const { return m_replaced_a_dead_one; }
  /// Whether `commit` will take this file's name.
  [[nodiscard]] bool replaces(FileId const& file) const { return m_replaced && m_replaced->file == file; }

  /// Writes `text` where the descriptor's last write ended. Throws IoError.
  void append(std::string_view text) const;
  /// For `bytes` in a file of this length. Throws as detail::require_space.
  void require_space(Bytes bytes, Bytes length) const;
  /// Throws Error unless `descriptor` is open on this very file: after it was opened by its name.
  void require_same(int descriptor) const;
  /// Renames the file to its path, over what was there, whose permissions it takes, and owner and group where the
  /// system allows that. Throws IoError; Error when somebody removed or replaced the file.
  void commit();

 private:
  struct Replaced {
    FileId file;
    mode_t mode;
    uid_t owner;
    gid_t group;
  };

  [[nodiscard]] bool create();
  void remove_dead();
  [[nodiscard]] bool has_its_name() const;
  void close();
  void keep_access() const;
  [[noreturn]] void refuse(std::string const& why) const;

  std::string m_path;
  std::string m_partial_path;
  std::optional<Replaced> m_replaced;
  int m_descriptor = -1;
  bool m_replaced_a_dead_one = false;
};

/// Writes the whole text to a descriptor, which errors call `name`. Throws IoError.
void write_all(int descriptor, std::string_view text, std::string const& name);

/// Removes every file that a PartialFile of this process writes. From then on none is created or committed: threads
/// that try wait for ever. For the thread that ends the process, at once after this.
void abandon_partial_files();

}  // namespace detail
}  // namespace granary

#pragma GCC visibility pop
