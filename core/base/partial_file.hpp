// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>

namespace granary {

/// Throws InvalidArgument when `output` cannot be created in its directory, exists and cannot be written, is a
/// directory, a device, a FIFO or a socket, or is the same file as one of `inputs`, under any name. Files among
/// `inputs` that do not exist are ignored.
GRANARY_EXPORT void check_output(std::string const& output, std::vector<std::string> const& inputs);

/// The same for text, which may also go to a device, a FIFO or a socket.
GRANARY_EXPORT void check_text_output(std::string const& output, std::vector<std::string> const& inputs);

namespace detail {

/// The path after following all symbolic links, whether the file exists or not. Throws InvalidArgument for a cycle of
/// links.
[[nodiscard]] GRANARY_EXPORT std::string follow_links(std::string const& path);

/// True if `path` exists and is neither a regular file nor a directory.
[[nodiscard]] GRANARY_EXPORT bool is_special_file(std::string const& path);

/// Throws Error when the file system of `path` has less than `bytes` free, or files are limited to less than `length`
/// bytes (`ulimit -f`). `what`, a noun for the message, needs them.
GRANARY_EXPORT void require_space(std::string const& path, std::string const& what, Bytes bytes, Bytes length);

/// The identity of a file, under any name.
struct GRANARY_EXPORT FileId {
  dev_t device;
  ino_t number;
  bool operator==(FileId const&) const = default;
};

/// The file that the path leads to, or the one behind a descriptor; empty if there is none.
[[nodiscard]] GRANARY_EXPORT std::optional<FileId> file_at(std::string const& path);
[[nodiscard]] GRANARY_EXPORT std::optional<FileId> file_behind(int descriptor);

/// Marks a file as read by this process while the object lives. No PartialFile replaces it meanwhile, so that nobody
/// reads an old value of something that the same program recomputes.
class GRANARY_EXPORT OpenInput {
 public:
  /// Throws InvalidArgument when a PartialFile of this process will replace the file at `path`.
  explicit OpenInput(std::string const& path);
  ~OpenInput();
  OpenInput(OpenInput const&) = delete;
  OpenInput& operator=(OpenInput const&) = delete;

 private:
  std::optional<FileId> m_file;  // empty if there is none
};

/// A file that is written next to its path, as `<path>.partial`, and renamed when it is complete. If the path is a
/// link, the file it points to is replaced, not the link.
///
/// The file is locked while this object lives (fcntl, F_OFD_SETLK). So a run in any container or on any node can tell a
/// file that is being written from one whose writer died. The lock belongs to the open file: two outputs of one process
/// exclude each other, too.
class GRANARY_EXPORT PartialFile {
 public:
  /// Creates the file; only its owner gets access if it replaces another file. A file left by a dead run is removed
  /// first. Throws InvalidArgument when the file cannot be created, while another PartialFile of the same path exists
  /// in any process, and while an OpenInput of this process reads the file that would be replaced.
  explicit PartialFile(std::string const& path);
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;
  /// Removes the file unless `commit` was reached.
  ~PartialFile();

  [[nodiscard]] std::string const& path() const { return m_path; }
  [[nodiscard]] std::string const& partial_path() const { return m_partial_path; }
  /// For reading and writing; closed by the destructor.
  [[nodiscard]] int descriptor() const { return m_descriptor; }
  /// True if a dead run's file was removed.
  [[nodiscard]] bool replaced_a_dead_one() const { return m_replaced_a_dead_one; }
  /// True if `commit` will replace this file.
  [[nodiscard]] bool replaces(FileId const& file) const { return m_replaced && m_replaced->file == file; }

  /// Writes `text` at the descriptor's position. Throws IoError.
  void append(std::string_view text) const;
  /// For `bytes` in a file of this length. Throws as detail::require_space.
  void require_space(Bytes bytes, Bytes length) const;
  /// Throws Error unless `descriptor` refers to this file; checks a descriptor that was opened by name.
  void require_same(int descriptor) const;
  /// Renames the file to its path and replaces what was there. It takes the permissions of the old file, and its owner
  /// and group where the system allows that. Throws IoError if it cannot be renamed; then it keeps its partial path,
  /// and the destructor does not remove it. Throws Error when the file was removed or replaced meanwhile.
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
GRANARY_EXPORT void write_all(int descriptor, std::string_view text, std::string const& name);

/// Removes every file that a PartialFile of this process writes. Afterwards none is created or committed: threads that
/// try wait forever. To be called just before the process ends.
GRANARY_EXPORT void abandon_partial_files();

}  // namespace detail
}  // namespace granary
