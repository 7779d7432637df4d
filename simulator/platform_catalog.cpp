// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The location of platform files.
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/text_file.hpp>
#include <granary/detail/simulator/platform.hpp>

#include <dlfcn.h>

#include <cerrno>
#include <set>
#include <system_error>

namespace granary {
namespace {

namespace fs = std::filesystem;

// The install location relative to this library (or to the program, if linked statically), the source tree, and the
// configured install folder.
std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  Dl_info library{};
  static char const inside = 0;
  if (dladdr(&inside, &library) != 0 && library.dli_fname != nullptr) {
    std::error_code error;
    auto const file = fs::canonical(library.dli_fname, error);
    if (!error) found.push_back((file.parent_path() / GRANARY_PLATFORMS_FROM_LIBRARY).lexically_normal());
  }
  found.emplace_back(GRANARY_PLATFORMS_IN_SOURCE);
  found.emplace_back(GRANARY_PLATFORMS_INSTALLED);
  return found;
}

}  // namespace

std::vector<std::string> Platform::known_names() {
  std::set<std::string> names;
  for (auto const& folder : folders()) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at->path().extension() == ".json") names.insert(at->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

Platform Platform::find(std::string const& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) return read(name_or_path);
  for (auto const& folder : folders()) {
    std::error_code error;
    auto const path = folder / (name_or_path + ".json");
    if (fs::is_regular_file(path, error)) return read(path);
  }
  std::string known;
  for (auto const& shipped : known_names()) known += (known.empty() ? "" : ", ") + shipped;
  throw InvalidArgument("there is no platform '" + name_or_path + "'; the known ones are: " + known +
                        " (or the path of a file that ends in .json)");
}

Platform Platform::read(fs::path const& path) { return parse(read_text_file(path), path.string()); }

void Platform::write(fs::path const& path, bool overwrite) const {
  std::error_code ignored;  // what cannot be looked at cannot be written either
  if (!overwrite && fs::exists(path, ignored)) throw IoError("cannot write", path.string(), EEXIST);
  write_text_file(path, to_json());
}

}  // namespace granary
