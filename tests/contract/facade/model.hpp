// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "contract/facade/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace granary::facade_test {

/// What granary must do with a step.
enum class Verdict : std::uint8_t {
  Impossible,  ///< the program may not do this, or cannot: the step is left out
  Accepted,
  Refused,   ///< it throws InvalidArgument and changes nothing
  Uncertain  ///< concerns what a failure may have left without a value: refused or accepted, and no wait is sure
};

/// The sequential meaning of a program: steps take effect one after the other, in the order of submission.
class Model {
 public:
  explicit Model(Program const& program);

  [[nodiscard]] Verdict verdict(Step const& step) const;
  /// The step has taken effect.
  void apply(Step const& step);
  /// The step was refused. That counts as a use of DualViews.
  void refused(Step const& step);

  struct Cells {
    Array shape;
    std::vector<double> values;
    std::vector<bool> free;  ///< the application may use them: no task since a wait for them
    bool defined = true;     ///< temporaries and varying data are not before a task writes them
    bool spoilt = false;     ///< a failing task wrote it, or one that used something spoilt: nothing is known of it
    bool unsure = false;   ///< spoilt, and tasks may find old values in it; never where it was cut before it was spoilt
    bool written = false;  ///< by a task since the last wait for everything
    bool busy = false;     ///< tasks inside tasks use it: nobody else may until the next wait for everything
    std::vector<std::array<std::size_t, 2>> divisions = {};  ///< of a temporary that was cut: the tile sizes
    std::size_t begun = 0;  ///< the division some of whose parts are defined, if the whole is not; 0: none
    std::vector<bool> begun_parts = {};
    std::size_t present = 0;  ///< elements of a varying datum
  };
  struct Handle {
    Name array;
    Kind kind;
    Region region;
    std::size_t division = 0;  ///< of a temporary, from 1 on; 0: the whole
    std::size_t part = 0;
  };
  [[nodiscard]] std::map<Name, Cells> const& arrays() const { return m_arrays; }
  [[nodiscard]] std::map<Name, Handle> const& handles() const { return m_handles; }
  [[nodiscard]] Cells const& cells(Handle const& handle) const { return m_arrays.at(handle.array); }
  [[nodiscard]] bool free(Name array, Region const& region) const;
  /// The tasks so far, and the checksum that each must have found; nothing if that is unknown because of a failure.
  [[nodiscard]] std::map<Name, std::optional<std::uint64_t>> const& tasks() const { return m_tasks; }
  /// The checksums of all tasks that cannot have found old values: a task that ran has found that.
  [[nodiscard]] std::map<Name, std::uint64_t> const& if_run() const { return m_if_run; }
  /// Failing tasks since the last wait for everything.
  [[nodiscard]] std::size_t failures() const { return m_failures; }

  /// What the application writes to a cell.
  [[nodiscard]] static double changed(std::uint64_t salt, std::size_t cell) { return term(Use::Write, salt, 7, cell); }
  [[nodiscard]] static double first_of_scalar(Name array) { return changed(array, 0); }

 private:
  struct Asked;    // finds the verdict
  struct Applied;  // applies

  [[nodiscard]] Handle const* find(Name handle) const;
  [[nodiscard]] Handle const* find(Name handle, Kind kind) const;
  [[nodiscard]] bool share_cells(Handle const& a, Handle const& b) const;
  [[nodiscard]] bool same_cells(Handle const& a, Handle const& b) const;
  [[nodiscard]] bool has_value(Handle const& handle) const;
  [[nodiscard]] bool is_refused(Use use, Handle const& handle) const;
  static void define(Cells& array, Handle const& handle);
  [[nodiscard]] static Region present(Cells const& array, Handle const& handle);
  [[nodiscard]] Verdict verdict_of_accesses(Form const& form, std::span<Name const> handles) const;
  void run(Form const& form, std::span<Name const> handles, Work const& work);
  void spoil_all();
  void use_dual(Name handle);  // if it is one

  std::map<Name, Cells> m_arrays;
  std::map<Name, Handle> m_handles;
  std::map<Name, std::optional<std::uint64_t>> m_tasks;
  std::map<Name, std::uint64_t> m_if_run;
  Name m_first_task = 0;  // since the last wait for everything
  std::size_t m_failures = 0;
};

}  // namespace granary::facade_test
