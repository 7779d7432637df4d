// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/trace.hpp>

#include <variant>

namespace granary::detail {

/// The planner allocated the datum in a node's memory.
struct GRANARY_EXPORT Allocated {
  DataId data;
  NodeId node;
  Bytes offset;
  Bytes bytes;  ///< rounded up to the node's alignment
  bool operator==(Allocated const&) const = default;
};

/// The memory is free again; no active command uses it.
struct GRANARY_EXPORT Freed {
  DataId data;
  NodeId node;
  Bytes offset;
  bool operator==(Freed const&) const = default;
};

/// A part of a node's memory keeps the datum's value, which a task overwrites, until that task has ended or come back.
struct GRANARY_EXPORT KeptAside {
  DataId data;
  NodeId node;
  Bytes offset;
  Bytes bytes;  ///< rounded up to the node's alignment
  bool operator==(KeptAside const&) const = default;
};

/// That memory is free again.
struct GRANARY_EXPORT NotKept {
  DataId data;
  NodeId node;
  Bytes offset;
  bool operator==(NotKept const&) const = default;
};

/// A part of a node's memory is for the value that a task makes of a varying datum, beside the place of its present
/// value there.
struct GRANARY_EXPORT ResultPlaced {
  DataId data;
  NodeId node;
  Bytes offset;
  Bytes bytes;  ///< rounded up to the node's alignment
  bool operator==(ResultPlaced const&) const = default;
};

/// That memory is free again: the task did not make the value.
struct GRANARY_EXPORT ResultDropped {
  DataId data;
  NodeId node;
  Bytes offset;
  bool operator==(ResultDropped const&) const = default;
};

/// A task has made a value of a varying datum: from now on this is the datum's place on the node, and what it had there
/// besides is free.
struct GRANARY_EXPORT Settled {
  DataId data;
  NodeId node;
  Bytes offset;
  Bytes bytes;  ///< of the value, rounded up to the node's alignment
  bool operator==(Settled const&) const = default;
};

/// An eviction was decided.
struct GRANARY_EXPORT Evicted {
  DataId data;
  NodeId node;
  EvictionReason reason;
  bool written_back;  ///< this is the only copy of the value, so it is written back before the replica is dropped
  bool operator==(Evicted const&) const = default;
};

/// Submitted tasks have booked so many bytes now, all together.
struct GRANARY_EXPORT Booked {
  NodeId node;  ///< the node of the host to which they belong
  Bytes bytes;
  Bytes limit;  ///< submission sleeps above it; `unbounded`: there is none
  bool operator==(Booked const&) const = default;
};

/// Events inside the planner, for observers; drivers have nothing to do.
using Notice =
    std::variant<Allocated, Freed, KeptAside, NotKept, ResultPlaced, ResultDropped, Settled, Evicted, Booked>;

}  // namespace granary::detail
