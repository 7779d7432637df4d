// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/movement/registration.hpp>

#include <algorithm>
#include <string>

namespace granary::detail {
namespace {

void check_places(Topology const& topology, DataDescription const& description, std::span<FixedPlace const> places) {
  auto const refuse = [&](std::string const& why) { throw InvalidArgument("data '" + description.name + "' " + why); };
  if (description.bytes == 0) refuse("has no bytes");
  auto const unknown = [&](NodeId node) { return node.index() >= topology.machine().nodes.size(); };
  if ((description.origin.valid() && unknown(description.origin)) ||
      (description.home.valid() && unknown(description.home)) ||
      std::ranges::any_of(places, unknown, &FixedPlace::node)) {
    refuse("names a memory node that does not exist");
  }
  auto const has_workers = [&](NodeId node) { return !topology.groups_on(node).empty(); };
  if (description.bound > 0) {
    if (description.bytes > description.bound) {
      refuse("are expected to have " + std::to_string(description.bytes) + " bytes, but at most " +
             std::to_string(description.bound));
    }
    if (description.in_place || !places.empty()) refuse("vary in size, so that workers cannot use them in place");
  }
  if (description.origin_is_home && description.home != description.origin)
    refuse("has an origin that is not its home");
  if (description.home.valid() && description.in_place != has_workers(description.home)) {
    refuse("must be used in place if and only if its home's node has workers");
  }
  if (description.origin.valid() && !description.origin_is_home && has_workers(description.origin)) {
    refuse("has an origin on a node with workers that is not its home");
  }
  for (auto place = places.begin(); place != places.end(); ++place) {
    auto const on = "place in memory node '" + topology.machine()[place->node].name + "'";
    if (place->node == description.home || place->node == description.origin ||
        std::ranges::count(places.begin(), place, place->node, &FixedPlace::node) > 0) {
      refuse("has more than one " + on);
    }
    if (place->writable && !has_workers(place->node)) refuse("has a writable " + on + ", which has no workers");
    if (!place->writable && !place->valid) refuse("has a read-only " + on + " without a value");
  }
}

void check_shares(DataTable const& data, DataDescription const& description, std::span<FixedPlace const> places,
                  std::span<SharedBytes const> shares) {
  for (auto shared = shares.begin(); shared != shares.end(); ++shared) {
    bool const known = data.known(shared->other);
    std::string const who =
        known ? "'" + data[shared->other].description.name + "'" : std::to_string(shared->other.value());
    auto const refuse = [&](std::string const& why) {
      throw InvalidArgument("data '" + description.name + "' shares bytes with data " + who + ", " + why);
    };
    if (!known) refuse("which is not registered");
    auto const& other = data[shared->other];
    if (description.bound > 0 || other.varies) refuse("and one of them varies in size");
    bool const both_in_homes = description.origin_is_home && other.description.origin_is_home;
    if (!both_in_homes || other.home != description.home) refuse("but not with the same origin and home");
    if (!places.empty() || other.has_further_places()) {
      refuse("and one of them has a further place, such as the device side of a DualView: destroy the handles on " +
             who + " first");
    }
    if (std::ranges::count(shares.begin(), shared, shared->other, &SharedBytes::other) > 0) refuse("named twice");
  }
}

}  // namespace

void check_registration(Topology const& topology, DataTable const& data, DataDescription const& description,
                        std::span<FixedPlace const> places, std::span<SharedBytes const> shares) {
  check_places(topology, description, places);
  check_shares(data, description, places, shares);
}

}  // namespace granary::detail
