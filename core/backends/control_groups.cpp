// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/control_groups.hpp>

#include <granary/detail/core/model/machine.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

namespace granary::detail {

namespace {

namespace fs = std::filesystem;

// The limits of one group, in the units of a resource.
template <class Limit>
using ReadGroup = std::function<Limit(fs::path const& folder)>;

template <class Limit>
Limit least_upwards(fs::path const& mount, std::string const& group, ReadGroup<Limit> const& read) {
  auto least = read(mount);
  fs::path path = mount;
  for (auto const& part : fs::path(group).relative_path()) {
    path /= part;
    least = std::min(least, read(path));
  }
  return least;
}

// The lowest limit of the groups of `membership`: groups of version 2, and of a controller of version 1.
template <class Limit>
Limit least_limit(fs::path const& membership, fs::path const& root, std::string const& controller,
                  ReadGroup<Limit> const& read_v1, ReadGroup<Limit> const& read_v2) {
  auto least = std::numeric_limits<Limit>::max();
  std::ifstream stream(membership);
  for (std::string line; std::getline(stream, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const group = line.substr(second + 1);
    if (controllers.empty()) least = std::min(least, least_upwards(root, group, read_v2));
    if (("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    // Controllers that are mounted together have a folder with all names, and usually a link with each name.
    for (auto const& mount : {controller, controllers})
      least = std::min(least, least_upwards(root / mount, group, read_v1));
  }
  return least;
}

// "max" and absent files do not parse.
Bytes bytes_in(fs::path const& file) {
  std::ifstream stream(file);
  Bytes limit = 0;
  return stream >> limit ? limit : std::numeric_limits<Bytes>::max();
}

double cores_of(std::istream&& quota, std::istream&& period) {
  double time = 0, of = 0;
  // "max" and absent files do not parse, and -1 is no quota.
  return quota >> time && period >> of && time > 0 && of > 0 ? time / of : std::numeric_limits<double>::max();
}

}  // namespace

Bytes control_group_memory_limit(fs::path const& membership, fs::path const& root) {
  return std::min(unbounded, least_limit<Bytes>(
                                 membership, root, "memory",
                                 [](fs::path const& folder) { return bytes_in(folder / "memory.limit_in_bytes"); },
                                 [](fs::path const& folder) { return bytes_in(folder / "memory.max"); }));
}

std::optional<double> control_group_cpu_quota(fs::path const& membership, fs::path const& root) {
  auto const least = least_limit<double>(
      membership, root, "cpu",
      [](fs::path const& folder) {
        return cores_of(std::ifstream(folder / "cpu.cfs_quota_us"), std::ifstream(folder / "cpu.cfs_period_us"));
      },
      [](fs::path const& folder) {
        std::ifstream both(folder / "cpu.max");
        double time = 0, of = 0;
        return both >> time >> of && time > 0 && of > 0 ? time / of : std::numeric_limits<double>::max();
      });
  return least < std::numeric_limits<double>::max() ? std::optional(least) : std::nullopt;
}

}  // namespace granary::detail
