// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/model/data.hpp>
#include <granary/detail/runtime/session/checks.hpp>
#include <granary/detail/runtime/session/data_binding.hpp>
#include <granary/detail/runtime/session/session_machine.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace granary::detail {

/// Registers data with the engine of a session, and with what checks its tasks.
class DataRegistry {
 public:
  /// `checks`: null, or what has to know the data.
  DataRegistry(SessionMachine& machine, std::shared_ptr<Checks> checks)
      : m_machine(machine), m_checks(std::move(checks)) {}

  /// Registers a datum of a binding without an address: its storages, if any, are the binding's.
  [[nodiscard]] DataId add(DataDescription description, DataBinding const& binding) const;
  /// Registers the bytes of a binding with an address; `bytes` without the gaps between its lines.
  [[nodiscard]] SharedData add_view(std::string name, Bytes bytes, DataBinding binding) const;
  /// The memory node whose memory holds the bytes. Throws InvalidArgument, with the name, if there is none.
  [[nodiscard]] NodeId node_of(std::string const& name, std::byte const* memory, Bytes bytes, bool on_host) const;
  /// See Session::pin.
  [[nodiscard]] std::shared_ptr<void const> pin(std::byte* memory, Bytes bytes) const;

 private:
  SessionMachine& m_machine;
  std::shared_ptr<Checks> m_checks;
};

}  // namespace granary::detail
