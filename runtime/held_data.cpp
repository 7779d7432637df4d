// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/runtime/held_data.hpp>

#include <granary/core/engine/engine.hpp>
#include <granary/runtime/runtime.hpp>

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace granary::detail {

HeldData::HeldData(Runtime& runtime) : m_runtime(&runtime), m_engine(runtime.lent_engine()) {}

HeldData::HeldData(HeldData&& other) noexcept
    : m_runtime(other.m_runtime),
      m_engine(std::exchange(other.m_engine, {})),
      m_ids(std::exchange(other.m_ids, {})),
      m_unused(std::exchange(other.m_unused, 0)) {}

HeldData& HeldData::operator=(HeldData&& other) noexcept {
  HeldData before(std::move(*this));
  m_runtime = other.m_runtime;
  m_engine = std::exchange(other.m_engine, {});
  m_ids = std::exchange(other.m_ids, {});
  m_unused = std::exchange(other.m_unused, 0);
  return *this;
}

HeldData::~HeldData() {
  if (m_ids.empty()) return;
  try {
    auto const engine = m_engine.lock();
    EngineScope const scope(engine.get());  // the Runtime must not end here: it waits until the engine is given back
    if (!engine) return;
    for (DataId const id : m_ids) engine->release_data(id);
  } catch (std::exception const& error) {
    spdlog::error("granary: releasing a datum failed: {}", error.what());
  }
}

void HeldData::retain(DataId id) {
  m_runtime->engine().retain_data(id);
  own(id);
}

bool HeldData::in_use() {
  auto& engine = m_runtime->engine();
  while (m_unused < m_ids.size() && !engine.in_use(m_ids[m_unused])) ++m_unused;
  return m_unused < m_ids.size();
}

void HeldData::release() {
  for (DataId const id : std::exchange(m_ids, {})) m_runtime->submitter().release_data(id);
}

}  // namespace granary::detail
