// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace granary {

/// Throws InvalidArgument when `output` cannot be created in its directory, is a directory, or is the same file as one
/// of `inputs`, by whatever name. Files among `inputs` that do not exist are ignored.
void check_output(std::string const& output, std::vector<std::string> const& inputs);

namespace detail {

/// A file that is written beside its path, as `<path>.partial-<process id>`, and gets its name when it is complete. A
/// link is followed, so that the file it names is replaced and not the link.
class PartialFile {
 public:
  /// Creates nothing. Throws InvalidArgument when the file cannot be created there.
  explicit PartialFile(std::string const& path);
  PartialFile(PartialFile const&) = delete;
  PartialFile& operator=(PartialFile const&) = delete;
  /// Removes what was not committed.
  ~PartialFile();

  [[nodiscard]] std::string const& path() const { return m_path; }
  [[nodiscard]] std::string const& partial_path() const { return m_partial_path; }
  [[nodiscard]] bool committed() const { return m_committed; }
  /// Renames the file to its path, over what was there. Throws IoError.
  void commit();

 private:
  std::string m_path;
  std::string m_partial_path;
  bool m_committed = false;
};

}  // namespace detail
}  // namespace granary

#pragma GCC visibility pop
