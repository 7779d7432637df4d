// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/model/graph_recorder.hpp>
#include <granary/detail/core/model/machine.hpp>

#include <cstdint>

namespace granary {

namespace detail {

enum class GRANARY_EXPORT TransferDirection : std::uint8_t { Load, WriteBack };

/// Lower bound of the bytes that a graph moves, however large the memories are, if no worker uses a datum in place.
///
/// ```cpp
/// #include <granary/simulator.hpp>
/// #include <granary/workloads.hpp>
/// granary::GraphRecorder graph;
/// granary::workloads::TiledGemm({.tiles = 4, .tile = 1000}).submit(graph, {granary::NodeId(0)});
/// auto const traffic = granary::compulsory_traffic(graph);
/// assert(traffic.read == 3 * 128'000'000 && traffic.written == 128'000'000);
/// auto const bandwidth = granary::bus_bandwidth(granary::Platform::find("v100x1").machine);
/// std::printf("at least %g s of transfers\n", static_cast<double>(traffic.read) / bandwidth);
/// ```
struct GRANARY_EXPORT CompulsoryTraffic {
  Bytes read = 0;     ///< data with an origin that a task reads before any task overwrites them, once each
  Bytes written = 0;  ///< data with a home that some task writes, once each
  [[nodiscard]] Bytes total() const { return read + written; }
};

}  // namespace detail

[[nodiscard]] GRANARY_EXPORT detail::CompulsoryTraffic compulsory_traffic(detail::GraphRecorder const& graph);

/// Bytes per second that all links into the devices' memories carry together (write-back: out of them), limited by
/// their own bandwidths and by the buses that they share, without other traffic. Links between devices do not count. If
/// all workers are on host nodes: the links between those nodes and the others. 0 without such links. Throws
/// InvalidArgument if the machine has no workers.
[[nodiscard]] GRANARY_EXPORT double bus_bandwidth(
    detail::Machine const& machine, detail::TransferDirection direction = detail::TransferDirection::Load);

/// Bytes that can cross these links in `time`, for example the time of a TimeBounds: a schedule that moves more needs
/// longer for the transfers than the best schedule for the computation (DARTS, Figure 6b, gray line). Throws
/// InvalidArgument for a negative time or a machine without workers.
[[nodiscard]] GRANARY_EXPORT Bytes bus_limit(detail::Machine const& machine, Duration time,
                                             detail::TransferDirection direction = detail::TransferDirection::Load);

}  // namespace granary
