// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error_kinds.hpp>
#include <granary/detail/linalg/tiles/singular.hpp>

#include <cstdlib>
#include <sstream>
#include <string>

namespace granary {
namespace {

// In every program that can throw it.
[[maybe_unused]] bool const knows_singular = [] {
  add_error_kind<Singular>(
      "Singular",
      [](Singular const& error) {
        std::ostringstream text;
        text << error.order() << ' ' << std::hexfloat << error.modulus();
        return text.str();
      },
      [](std::string const& text) {
        char* rest = nullptr;
        auto const order = std::strtoull(text.c_str(), &rest, 10);
        return Singular(order, std::strtod(rest, nullptr));
      });
  return true;
}();

std::string text(double modulus) {
  std::ostringstream out;
  out << modulus;
  return out.str();
}

}  // namespace

Singular::Singular(std::uint64_t order)
    : Error("the matrix is singular: pivot " + std::to_string(order) + " of its factorization is exactly zero"),
      m_order(order) {}

Singular::Singular(std::uint64_t order, double modulus)
    : Error("the LU factorization without pivoting cannot continue: the modulus of pivot " + std::to_string(order) +
            " is " + text(modulus) + "; factor the matrix with pivoting"),
      m_order(order),
      m_modulus(modulus) {}

}  // namespace granary
