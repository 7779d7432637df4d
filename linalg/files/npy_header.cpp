// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/files/npy_header.hpp>

#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/printable.hpp>

namespace granary::detail {
namespace {

constexpr std::size_t max_header_bytes = 1 << 16;

[[noreturn]] void malformed(std::string const& path) {
  throw DataError("the header of " + path + " is not a well-formed .npy header");
}

[[noreturn]] void truncated(std::string const& path, std::uint64_t expected) {
  throw DataError(path + " is truncated: it has " + std::to_string(std::filesystem::file_size(path)) +
                  " bytes, and its header alone has " + std::to_string(expected));
}

// The text of the Python dictionary in the header, and the offset of the elements.
std::string read_dictionary(std::string const& path, std::uint64_t& first_byte) {
  std::ifstream file(path, std::ios::binary);
  unsigned char start[12] = {};
  if (!file.read(reinterpret_cast<char*>(start), 10)) truncated(path, 10);
  std::size_t length = start[8] + (std::size_t{start[9]} << 8);
  first_byte = 10;
  if (start[6] != 1) {
    if (start[6] == 0 || start[6] > 3)
      throw DataError(path + " has .npy version " + std::to_string(start[6]) + "; 1 to 3 can be read");
    if (!file.read(reinterpret_cast<char*>(start) + 10, 2)) truncated(path, 12);
    length += (std::size_t{start[10]} << 16) + (std::size_t{start[11]} << 24);
    first_byte = 12;
  }
  if (length > max_header_bytes) {
    throw DataError("the header of " + path + " has " + std::to_string(length) + " bytes; up to " +
                    std::to_string(max_header_bytes) + " are read");
  }
  std::string text(length, '\0');
  first_byte += length;
  if (!file.read(text.data(), static_cast<std::streamsize>(length))) truncated(path, first_byte);
  return text;
}

// The text after `'key':`, without leading blanks.
std::string_view value_of(std::string_view text, std::string_view key, std::string const& path) {
  auto position = text.find(std::string("'").append(key).append("'"));
  if (position == std::string_view::npos) malformed(path);
  position = text.find(':', position + key.size() + 2);
  if (position == std::string_view::npos) malformed(path);
  ++position;
  while (position < text.size() && text[position] == ' ') ++position;
  return text.substr(position);
}

std::vector<std::uint64_t> shape_of(std::string_view text, std::string const& path) {
  auto const close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos) malformed(path);
  std::vector<std::uint64_t> shape;
  std::size_t position = 1;
  while (position < close) {
    if (text[position] == ',' || text[position] == ' ') {
      ++position;
      continue;
    }
    std::uint64_t extent = 0;
    auto const [end, error] = std::from_chars(text.data() + position, text.data() + close, extent);
    if (error == std::errc::result_out_of_range) extent = largest_extent + 1;
    if (extent > largest_extent) {
      throw DataError(path + " has the shape " + excerpt(text.substr(0, close + 1), 60) + "; extents are at most " +
                      std::to_string(largest_extent));
    }
    if (error != std::errc{}) malformed(path);
    shape.push_back(extent);
    position = static_cast<std::size_t>(end - text.data());
    if (text[position] == 'L') ++position;  // as Python 2 writes long integers
  }
  return shape;
}

}  // namespace

MatrixFileInfo read_npy_header(std::string const& path) {
  MatrixFileInfo info;
  info.path = path;
  info.format = MatrixFileInfo::Format::Npy;
  info.arrangement = MatrixFileInfo::Arrangement::Contiguous;
  auto const text = read_dictionary(path, info.first_byte);

  auto const type = value_of(text, "descr", path);
  if (type.size() < 5 || type[0] != '\'' || type.find('\'', 1) == std::string_view::npos) {
    throw DataError(path + " does not hold numbers: its elements are records");
  }
  auto const descriptor = type.substr(1, type.find('\'', 1) - 1);
  auto const kind = descriptor.empty() ? descriptor : descriptor.substr(1);
  if (kind == "f4") {
    info.scalar_type = ScalarType::Float32;
  } else if (kind == "f8") {
    info.scalar_type = ScalarType::Float64;
  } else if (kind == "c8") {
    info.scalar_type = ScalarType::Complex64;
  } else if (kind == "c16") {
    info.scalar_type = ScalarType::Complex128;
  } else {
    throw DataError(path + " holds elements of type '" + excerpt(descriptor, 20) +
                    "'; real and complex float and double can be read");
  }
  constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
  info.swapped = (descriptor[0] == '<' || descriptor[0] == '>') && descriptor[0] != native;

  auto order = value_of(text, "fortran_order", path);
  order = order.substr(0, order.find_first_of(",}\n"));
  info.column_major = order.starts_with("True");
  if (!info.column_major && !order.starts_with("False")) {
    throw DataError("the fortran_order of " + path + " is " + excerpt(order, 20) + ", neither True nor False");
  }
  auto shape = shape_of(value_of(text, "shape", path), path);
  if (shape.size() != 2 && shape.size() != 1)
    throw DataError(path + " has " + std::to_string(shape.size()) + " dimensions; a matrix has 2, a vector 1");
  info.dimensions = static_cast<unsigned>(shape.size());
  if (info.dimensions == 1) {
    shape.push_back(1);
    info.column_major = false;
  }
  info.rows = shape[0];
  info.cols = shape[1];
  if (info.rows == 0 || info.cols == 0) {
    throw DataError(path + " holds an empty matrix of " + std::to_string(info.rows) + " x " +
                    std::to_string(info.cols) + " elements");
  }
  auto const expected = info.first_byte + matrix_bytes(path, info.rows, info.cols, info.scalar_type);
  auto const present = static_cast<std::uint64_t>(std::filesystem::file_size(path));
  if (present < expected) {
    throw DataError(path + " is truncated: it has " + std::to_string(present) + " bytes of " +
                    std::to_string(expected));
  }
  return info;
}

}  // namespace granary::detail
