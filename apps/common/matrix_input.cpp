// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apps/common/matrix_input.hpp"

#include <granary/core/base/error.hpp>
#include <granary/linalg/files/columns_file.hpp>

#include <fmt/format.h>

namespace granary::app {

std::unique_ptr<MatrixSource> MatrixInput::open(std::uint64_t tile, MatrixPart part,
                                                std::shared_ptr<AsyncFileIo> io) const {
  return file ? open_matrix_source(*file, tile, part, std::move(io)) : open_generated(generated, tile, type);
}

namespace {

MatrixInput generated_input(std::string const& name, ScalarType type) {
  auto const generated = parse_generated(name);
  return {.name = name,
          .file = std::nullopt,
          .generated = generated,
          .rows = generated.rows,
          .cols = generated.cols,
          .type = type};
}

MatrixInput file_input(MatrixFileInfo const& info) {
  return {.name = info.name(),
          .file = info,
          .generated = {},
          .rows = info.rows,
          .cols = info.cols,
          .type = info.scalar_type};
}

}  // namespace

MatrixInput find_columns(std::string const& name, ScalarType type) {
  return is_generated(name) ? generated_input(name, type) : file_input(open_columns_file(name));
}

MatrixInput find_matrix(std::string const& name, RunOptions const& options) {
  if ((options.single_precision || options.complex) && !is_generated(name)) {
    throw InvalidArgument(fmt::format("{} applies to generated matrices; {} has the elements that its file has",
                                      options.single_precision ? "--float" : "--complex", name));
  }
  auto const real = options.single_precision ? ScalarType::Float32 : ScalarType::Float64;
  auto const complex = options.single_precision ? ScalarType::Complex64 : ScalarType::Complex128;
  return is_generated(name) ? generated_input(name, options.complex ? complex : real)
                            : file_input(open_matrix_file(name));
}

void require_square(MatrixInput const& input) {
  if (input.rows == input.cols) return;
  throw InvalidArgument(
      fmt::format("{} is not square: it has {} rows and {} columns", input.name, input.rows, input.cols));
}

}  // namespace granary::app
