// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/runtime/session/data_releaser.hpp>

#include <spdlog/spdlog.h>

#include <exception>

namespace granary::detail {

void DataReleaser::release(DataId data) const noexcept {
  try {
    auto const engine = m_engine.lock();
    EngineScope const scope(engine.get());  // the Runtime must not end here: it waits until the engine is given back
    if (engine) m_submitter->release_data(data);
  } catch (std::exception const& error) {
    spdlog::error("granary: releasing a datum failed: {}", error.what());
  } catch (...) {
    spdlog::error("granary: releasing a datum failed: {}", "an exception of unknown type");
  }
}

}  // namespace granary::detail
