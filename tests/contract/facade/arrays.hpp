// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "contract/facade/model.hpp"
#include "contract/facade/tasks.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace granary::facade_test {

/// The memory of the application's arrays, and handles on it.
class Arrays {
 public:
  /// With the first values of the model. Device memory is the Runtime's; the Runtime may end before this object.
  Arrays(Program const& program, Model const& model, Runtime& runtime);

  [[nodiscard]] Held data(Runtime& runtime, MakeHandle const& step) const;
  /// A part of a datum of that kind; `to` may lie beyond its end.
  [[nodiscard]] static Held part(Runtime& runtime, Kind kind, Held const& whole, std::array<std::size_t, 2> from,
                                 std::array<std::size_t, 2> to);
  [[nodiscard]] static std::vector<Held> partition(Runtime& runtime, Kind kind, Held const& whole,
                                                   std::array<std::size_t, 2> tiles);

  /// Null for arrays that are not the application's.
  [[nodiscard]] double* cells(Name array) const { return array < m_memory.size() ? m_memory[array].cells : nullptr; }
  void change(Change const& step);
  void recover(Recover const& step);
  /// Throws std::runtime_error unless the application finds the model's values in a region. `waited`: a wait has told
  /// which sides of DualViews are valid; else the host side is.
  void compare(Name array, Region const& region, std::vector<double> const& expected, bool waited) const;

 private:
  struct Memory {
    std::optional<Left> left = {};
    std::optional<Right> right = {};
    std::optional<DeviceArray> on_device = {};
    std::optional<DeviceLine> device_side = {};
    std::optional<TwoSidedVector> dual = {};
    double* cells = nullptr;  // of a DualView, those on the host
  };
  void make(Array const& array, Runtime& runtime);

  std::vector<Memory> m_memory;
};

}  // namespace granary::facade_test
