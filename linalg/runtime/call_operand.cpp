// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/runtime/call_operand.hpp>

#include <algorithm>

namespace granary::detail {

std::uint64_t default_tile(std::uint64_t largest_extent) {
  constexpr std::uint64_t small = 1024;
  auto const part = largest_extent <= small ? (largest_extent + 7) / 8 : small / 8 + (largest_extent - small) / 12;
  return std::clamp<std::uint64_t>((part + 31) / 32 * 32, 64, 512);
}

namespace {

char const* name_of(MatrixPart part) {
  return part == MatrixPart::All ? "all" : part == MatrixPart::Lower ? "the lower triangle" : "the upper triangle";
}

bool share_data(CallOperand const& a, CallOperand const& b) {
  auto other = b.data.begin();
  for (auto const id : a.data) {
    other = std::lower_bound(other, b.data.end(), id);
    if (other == b.data.end()) return false;
    if (*other == id) return true;
  }
  return false;
}

bool overlap(CallOperand const& a, CallOperand const& b) {
  return (a.memory && b.memory && overlap(*a.memory, *b.memory)) || share_data(a, b);
}

}  // namespace

std::string describe(CallOperand const& operand) {
  return operand.role + (operand.name.empty() ? "" : " '" + operand.name + "'") + " (" + std::to_string(operand.rows) +
         " x " + std::to_string(operand.cols) + (operand.op == Op::NoTrans ? ")" : ", transposed)");
}

void require_match(std::string const& call, bool match, std::span<CallOperand const> operands) {
  if (match) return;
  std::string list;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == operands.size() ? " and " : ", ") + describe(operands[i]);
  }
  throw InvalidArgument(call + ": the sizes of " + list + " do not match");
}

void require_square(std::string const& call, CallOperand const& operand) {
  if (operand.rows != operand.cols) throw InvalidArgument(call + ": " + describe(operand) + " is not square");
}

void require_tall(std::string const& call, CallOperand const& operand) {
  if (operand.rows >= operand.cols) return;
  throw InvalidArgument(call + ": " + describe(operand) + " has fewer rows than columns");
}

void require_part(std::string const& call, CallOperand const& operand, MatrixPart part) {
  if (operand.part == MatrixPart::All || operand.part == part) return;
  throw InvalidArgument(call + " needs " + name_of(part) + " of " + describe(operand) + ", which was opened with " +
                        name_of(operand.part));
}

void require_pivots(std::string const& call, CallOperand const& operand, TileGrid const& factored) {
  if (operand.rows == factored.rows) return;
  throw InvalidArgument(call + ": the pivots of a matrix of " + std::to_string(factored.rows) + " x " +
                        std::to_string(factored.cols) + " do not fit " + describe(operand));
}

void require_whole_output(std::string const& call, std::string const& name, MatrixPart opened, MatrixPart part) {
  if (opened == part) return;
  throw InvalidArgument(call + ": " + name +
                        " was opened with an output for the whole matrix; for one triangle open it with " +
                        (part == MatrixPart::Lower ? "MatrixPart::Lower" : "MatrixPart::Upper"));
}

void require_distinct(std::string const& call, std::span<CallOperand const> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if ((operands[i].written || operands[j].written) && overlap(operands[j], operands[i])) {
        throw InvalidArgument(call + ": " + describe(operands[j]) + " and " + describe(operands[i]) +
                              " share elements, and one of them is written");
      }
    }
  }
}

std::uint64_t choose_tile(std::string const& call, TileSize asked, std::span<CallOperand const> operands) {
  if (asked == std::uint64_t{0}) throw InvalidArgument(call + ": the tile size must be at least 1, not 0");
  std::uint64_t extent = 0;
  CallOperand const* tiled = nullptr;
  for (auto const& operand : operands) {
    extent = std::max({extent, operand.rows, operand.cols});
    if (operand.tile == 0) continue;
    if (tiled != nullptr && tiled->tile != operand.tile) {
      throw InvalidArgument(call + ": " + describe(*tiled) + " has tile size " + std::to_string(tiled->tile) + ", " +
                            describe(operand) + " has tile size " + std::to_string(operand.tile));
    }
    tiled = &operand;
  }
  if (tiled == nullptr) return asked.value_or(default_tile(extent));
  if (asked && *asked != tiled->tile) {
    throw InvalidArgument(call + ": tile size " + std::to_string(*asked) + " was requested, but " + describe(*tiled) +
                          " has tile size " + std::to_string(tiled->tile));
  }
  return tiled->tile;
}

}  // namespace granary::detail
