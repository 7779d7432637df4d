// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/backends/vector_units.hpp>
#include <granary/detail/core/base/export.hpp>

#include <optional>
#include <string>

namespace granary::detail {

/// The letters, digits and dots of a text, with a dash for what lies between them: part of a folder's name.
[[nodiscard]] GRANARY_EXPORT std::string as_word(std::string const& text);

/// The BLAS library whose functions this process calls.
struct GRANARY_EXPORT BlasLibrary {
  std::string name = {};     ///< OpenBLAS, MKL or BLIS; otherwise the name of its file, or "BLAS" if that is not known
  std::string version = {};  ///< empty if it does not tell
  std::string kernels = {};  ///< those that it chose for this processor, in its own words; empty if it does not tell
  std::string file = {};     ///< empty if it is part of the executable
  std::string text = {};     ///< the line with which it describes itself, or the name

  /// The vector instructions of the kernels.
  [[nodiscard]] VectorUnits vectors() const;
  /// Name, version and kernels as one word of letters, digits, dots and dashes.
  [[nodiscard]] std::string id() const;
};

/// Asks the library that the function `dgemm_` of this process comes from.
[[nodiscard]] GRANARY_EXPORT BlasLibrary find_blas_library();

/// A variable of the environment with which the library uses faster kernels from the start of a process. The library
/// reads it before `main`.
struct GRANARY_EXPORT BlasSetting {
  std::string variable;
  std::string value;
};

/// The setting for an OpenBLAS whose kernels use narrower vectors than the processor has, as on processors that are
/// newer than the library. None if there is nothing better, nothing is known, or for another library.
[[nodiscard]] GRANARY_EXPORT std::optional<BlasSetting> faster_blas_setting(BlasLibrary const& blas,
                                                                            VectorUnits processor);

}  // namespace granary::detail
