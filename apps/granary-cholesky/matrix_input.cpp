// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matrix_input.hpp"

#include <granary/core/base/error.hpp>
#include <granary/linalg/files/spd_generator.hpp>

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace granary::app {
namespace {

constexpr std::string_view random_prefix = "random:";
constexpr std::uint64_t largest_order = std::uint64_t{1} << 31;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

MatrixInput parse_random(std::string_view text, bool single_precision) {
  auto const numbers = text.substr(random_prefix.size());
  auto const colon = numbers.find(':');
  auto const n = parse_number(numbers.substr(0, colon));
  auto const seed =
      colon == std::string_view::npos ? std::optional<std::uint64_t>(1) : parse_number(numbers.substr(colon + 1));
  if (!n || !seed || *n == 0 || *n >= largest_order) {
    throw InvalidArgument(fmt::format(
        "malformed input '{}': write random:N or random:N:SEED with an order N from 1 to {}", text, largest_order - 1));
  }
  return {.file = std::nullopt,
          .n = *n,
          .seed = *seed,
          .type = single_precision ? ScalarType::Float32 : ScalarType::Float64};
}

}  // namespace

std::unique_ptr<MatrixSource> MatrixInput::open(std::uint64_t tile, std::shared_ptr<AsyncFileIo> io) const {
  return file ? open_matrix_source(*file, tile, MatrixPart::Lower, std::move(io))
              : make_random_spd_source(n, tile, seed, type);
}

MatrixInput find_matrix(std::string const& input, bool single_precision) {
  if (input.starts_with(random_prefix)) return parse_random(input, single_precision);
  if (single_precision)
    throw InvalidArgument("--float applies to random matrices; " + input + " has the precision that its file has");
  auto const info = open_matrix_file(input);
  if (info.rows != info.cols) {
    throw InvalidArgument(
        fmt::format("{} is not square: it has {} rows and {} columns", info.name(), info.rows, info.cols));
  }
  return {.file = info, .n = info.rows, .type = info.scalar_type};
}

}  // namespace granary::app
