// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace granary::detail {

/// The position of a datum in a matrix that is divided into data, counted in data; for traces. -1: not part of a
/// matrix.
struct GRANARY_EXPORT MatrixPosition {
  std::int32_t row = -1;
  std::int32_t column = -1;
};

/// The position of a task in its algorithm, for traces: i and j, the row and column of what it writes, and k, the step;
/// -1 where an algorithm has no such number.
using TaskIndex = std::array<std::int32_t, 3>;
inline constexpr TaskIndex no_index{-1, -1, -1};

/// The description of a datum at registration: identity and size, never an address.
///
/// Workers on the home's node use the home itself, outside the node's capacity. An origin other than the home lies on a
/// node without workers.
struct GRANARY_EXPORT DataDescription {
  std::string name = {};  ///< for messages
  Bytes bytes = 0;     ///< at least 1; of a varying datum: of its first value or, without an origin, what is expected
  NodeId origin = {};  ///< source of the initial value; invalid: none before the first write
  NodeId home = {};    ///< destination of the final value; invalid: the datum is temporary
  /// Origin and home are the same bytes: valid from the start, overwritten by write-backs.
  bool origin_is_home = false;
  /// Set if and only if the home's node has workers (a user's View): they use the home in place.
  bool in_place = false;
  /// Its home may be registered again after its release (a user's View). The datum is then kept until the failures
  /// that concern it are reported: tasks on that registration depend on those before.
  bool may_return = false;
  MatrixPosition position = {};
  /// Not 0: the datum varies, which means that each value has its own size, at most this. It is at least `bytes`.
  /// Workers do not use the origin or home of such a datum in place.
  Bytes bound = 0;
};

/// A place of a datum that its user provides, in addition to origin and home: the other side of a mirrored View, a
/// View of constants, another file with the same contents.
struct GRANARY_EXPORT FixedPlace {
  NodeId node;  ///< which has no other place of the user's for this datum
  /// Tasks may write it: the node's workers use the place instead of the node's memory. A place that is not writable
  /// makes the datum read-only for tasks if the node has workers, and is one more origin if it has none.
  bool writable = false;
  bool valid = true;  ///< holds the initial value
};

/// A datum whose home shares bytes with the home of a new one, on the same node. The planner keeps the values of both
/// the same as if tasks ran in the order of submission.
struct GRANARY_EXPORT SharedBytes {
  DataId other;
  bool covers = false;   ///< the new one's bytes contain all of the other's; false if that is not known
  bool covered = false;  ///< the other's contain all of the new one's
};

}  // namespace granary::detail
