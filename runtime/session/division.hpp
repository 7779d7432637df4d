// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/runtime/session/data_hold.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace granary::detail {

class Session;

/// The elements [first, second) of a dimension.
using PartRange = std::pair<std::size_t, std::size_t>;

/// The parts that one call of Runtime::partition makes of a temporary.
class GRANARY_EXPORT Division {
 public:
  Division(DataId whole, std::vector<std::size_t> tiles) : m_whole(whole), m_tiles(std::move(tiles)) {}
  virtual ~Division() = default;
  Division(Division const&) = delete;
  Division& operator=(Division const&) = delete;

  [[nodiscard]] DataId whole() const { return m_whole; }
  [[nodiscard]] std::vector<std::size_t> const& tiles() const { return m_tiles; }
  /// One for each part.
  [[nodiscard]] std::deque<DataHold> const& holds() const { return m_holds; }
  [[nodiscard]] std::vector<DataId> const& data() const { return m_data; }

  /// The elements of a part, one range for each dimension.
  [[nodiscard]] virtual std::vector<PartRange> ranges(std::size_t part) const = 0;
  /// Registers the parts; `name` is the whole's.
  virtual void add_parts(Session& session, std::string const& name) = 0;
  /// Submit the task that copies a part to the whole, or from it. The first gather begins a new value of the whole.
  virtual void gather(Session& session, std::size_t part) const = 0;
  virtual void scatter(Session& session, std::size_t part) const = 0;

 protected:
  void add(DataReleaser const& releaser, DataId part) {
    m_holds.emplace_back(releaser, part);
    m_data.push_back(part);
  }

 private:
  DataId m_whole;
  std::vector<std::size_t> m_tiles;
  std::deque<DataHold> m_holds;
  std::vector<DataId> m_data;
};

}  // namespace granary::detail
