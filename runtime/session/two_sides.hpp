// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>

#include <atomic>
#include <cstddef>
#include <memory>

namespace granary::detail {

class Session;

// Tells granary which side of a mirrored datum the application has changed, and the application which sides are valid.
class GRANARY_EXPORT TwoSides : public std::enable_shared_from_this<TwoSides> {
 public:
  TwoSides(Session& session, DataId data, std::byte const* device_side);
  virtual ~TwoSides() = default;
  TwoSides(TwoSides const&) = delete;
  TwoSides& operator=(TwoSides const&) = delete;
  // A task on the datum is about to be submitted. Until the next wait the session keeps this object.
  void use();
  // The application has waited for the datum.
  void give_back();
  [[nodiscard]] DataId data() const { return m_data; }

 protected:
  void device_changed();
  void host_changed();

 private:
  virtual void tell() = 0;  // what the application has changed, if anything
  virtual void set_device_valid(bool device_valid) = 0;

  Session& m_session;
  DataId m_data;
  NodeId m_device;
  std::atomic<bool> m_in_use = false;  // since the last wait
};

}  // namespace granary::detail
