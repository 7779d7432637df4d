// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/core/base/ids.hpp>
#include <granary/core/base/units.hpp>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace granary {

/// Where a datum lies in a matrix that is divided into data, counted in these, for people who look at a trace; -1: it
/// is no part of a matrix.
struct MatrixPosition {
  std::int32_t row = -1;
  std::int32_t column = -1;
};

/// A datum as it is registered: identity and size, never an address.
///
/// Workers on the home's node use the home itself, outside the node's capacity. An origin that is not the home lies on
/// a node without workers.
struct DataDescription {
  std::string name = {};  ///< for messages
  Bytes bytes = 0;        ///< at least 1
  NodeId origin = {};     ///< where its first value is read from; invalid: it has none before it is first written
  NodeId home = {};       ///< where its last value goes; invalid: the datum is temporary
  /// Origin and home are the same bytes: valid from the start, overwritten by write-backs.
  bool origin_is_home = false;
  /// Stated when, and only when, the home's node has workers (a user's View): they use it in place.
  bool in_place = false;
  MatrixPosition position = {};
};

}  // namespace granary

#pragma GCC visibility pop
