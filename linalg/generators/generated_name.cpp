// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/files/matrix_file_info.hpp>
#include <granary/detail/linalg/generators/generators.hpp>

namespace granary {
namespace {

using Kind = GeneratedMatrix::Kind;
using Fields = std::vector<std::string_view>;

struct Grammar {
  Kind kind;
  std::string_view word;
  std::size_t least;  // minimum of fields after the word
  std::size_t most;
  std::string_view form;
};

constexpr std::array grammars{
    Grammar{Kind::Dominant, "random", 1, 2, "random:N[:SEED]"},
    Grammar{Kind::General, "general", 1, 2, "general:ROWSxCOLS[:SEED]"},
    Grammar{Kind::Conditioned, "spd", 2, 3, "spd:N:CONDITION[:SEED]"},
    Grammar{Kind::Hilbert, "hilbert", 1, 2, "hilbert:N[:NUGGET]"},
    Grammar{Kind::Laplacian, "laplacian", 2, 3, "laplacian:N:LENGTH[:NUGGET]"},
};

Grammar const* grammar_of(std::string_view text) {
  for (auto const& grammar : grammars) {
    if (text.size() > grammar.word.size() && text.starts_with(grammar.word) && text[grammar.word.size()] == ':')
      return &grammar;
  }
  return nullptr;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  auto const found = parse_number<Number>(text);
  if (found) number = *found;
  return found.has_value();
}

// `N` or `RxC`; a single number is both extents.
bool read_shape(std::string_view text, std::uint64_t& rows, std::uint64_t& cols) {
  auto const cross = text.find('x');
  if (!read(text.substr(0, cross), rows)) return false;
  if (cross == std::string_view::npos) {
    cols = rows;
    return true;
  }
  return read(text.substr(cross + 1), cols);
}

bool read_fields(Fields const& fields, GeneratedMatrix& matrix) {
  bool const optional = fields.size() > 1;
  switch (matrix.kind) {
    case Kind::General:
      return read_shape(fields[0], matrix.rows, matrix.cols) && (!optional || read(fields[1], matrix.seed));
    case Kind::Dominant:
      if (!read(fields[0], matrix.rows) || (optional && !read(fields[1], matrix.seed))) return false;
      break;
    case Kind::Conditioned:
      if (!read(fields[0], matrix.rows) || !read(fields[1], matrix.condition)) return false;
      if (fields.size() > 2 && !read(fields[2], matrix.seed)) return false;
      break;
    case Kind::Hilbert:
      if (!read(fields[0], matrix.rows) || (optional && !read(fields[1], matrix.nugget))) return false;
      break;
    case Kind::Laplacian: {
      bool const grid = fields[0].find('x') != std::string_view::npos;
      if (!read_shape(fields[0], matrix.rows, matrix.grid_cols) || !read(fields[1], matrix.length)) return false;
      if (fields.size() > 2 && !read(fields[2], matrix.nugget)) return false;
      if (!grid) matrix.grid_cols = 1;
      // Both factors are below the limit, so the product does not overflow.
      if (matrix.rows > detail::largest_extent || matrix.grid_cols > detail::largest_extent) return false;
      matrix.rows *= matrix.grid_cols;
      break;
    }
  }
  matrix.cols = matrix.rows;
  return true;
}

std::string number(double value) {
  std::array<char, 32> text{};
  auto const result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

}  // namespace

bool is_generated(std::string_view text) { return grammar_of(text) != nullptr; }

GeneratedMatrix parse_generated(std::string_view text) {
  auto const* grammar = grammar_of(text);
  if (grammar == nullptr) {
    throw InvalidArgument(
        "'" + std::string(text) +
        "' is not a generated matrix; the known ones are random:, general:, spd:, hilbert: and laplacian:");
  }
  Fields fields;
  for (auto rest = text.substr(grammar->word.size() + 1);;) {
    auto const colon = rest.find(':');
    fields.push_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  GeneratedMatrix matrix{.kind = grammar->kind};
  bool const read = fields.size() >= grammar->least && fields.size() <= grammar->most && read_fields(fields, matrix);
  if (!read || matrix.rows == 0 || matrix.cols == 0 || matrix.rows > detail::largest_extent ||
      matrix.cols > detail::largest_extent) {
    throw InvalidArgument("malformed input '" + std::string(text) + "': write " + std::string(grammar->form) +
                          " with extents from 1 to " + std::to_string(detail::largest_extent));
  }
  return matrix;
}

std::string GeneratedMatrix::name() const {
  auto const order = std::to_string(rows);
  auto const seeded = ":" + std::to_string(seed);
  auto const extra = nugget == 0 ? "" : ":" + number(nugget);
  switch (kind) {
    case Kind::Dominant:
      return "random:" + order + seeded;
    case Kind::General:
      return "general:" + order + "x" + std::to_string(cols) + seeded;
    case Kind::Conditioned:
      return "spd:" + order + ":" + number(condition) + seeded;
    case Kind::Hilbert:
      return "hilbert:" + order + extra;
    case Kind::Laplacian:
      return "laplacian:" +
             (grid_cols == 1 ? order : std::to_string(rows / grid_cols) + "x" + std::to_string(grid_cols)) + ":" +
             number(length) + extra;
  }
  return "unknown";
}

}  // namespace granary
