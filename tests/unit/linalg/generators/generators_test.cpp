// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/linalg/generators/generators.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include <granary/detail/core/base/error.hpp>

#include "tests/support/io_support.hpp"
#include "tests/support/message_of.hpp"

namespace granary {
namespace {

using Complex = std::complex<double>;
using test::message_of;

// All elements, row by row, read tile by tile from the last to the first.
template <class T>
std::vector<T> elements_of(std::string const& name, std::uint64_t tile) {
  auto const source = open_generated(name, tile, scalar_type_of<T>);
  auto const& t = source->tiling();
  std::vector<T> values(t.rows * t.cols);
  for (auto slot = t.tile_rows() * t.tile_cols(); slot-- > 0;) {
    test::AlignedMemory memory(source->tile_bytes(slot));
    test::read(*source, slot, memory);
    auto const i = t.row_of(slot);
    auto const j = t.col_of(slot);
    for (std::uint64_t r = 0; r < t.rows_in(i); ++r) {
      for (std::uint64_t c = 0; c < t.cols_in(j); ++c)
        values[(t.first(i) + r) * t.cols + t.first(j) + c] = memory.as<T>()[r * t.cols_in(j) + c];
    }
  }
  return values;
}

std::vector<std::string> const names{"random:50:7", "general:50x50:3", "spd:50:1e6:5", "hilbert:50:0.5",
                                     "laplacian:10x5:3:0.125"};

TEST(Generators, AMatrixDoesNotDependOnItsTilesNorOnItsPrecision) {
  for (auto const& name : names) {
    auto const whole = elements_of<double>(name, 50);
    auto const tiled = elements_of<double>(name, 7);
    auto const single = elements_of<float>(name, 16);
    auto const complex = elements_of<Complex>(name, 50);
    auto const complex_tiled = elements_of<std::complex<float>>(name, 16);
    EXPECT_EQ(whole, tiled) << name;
    for (std::size_t k = 0; k < whole.size(); ++k) {
      ASSERT_EQ(single[k], static_cast<float>(whole[k])) << name;
      ASSERT_EQ(complex_tiled[k], std::complex<float>(complex[k])) << name;
    }
  }
}

TEST(Generators, AllButTheGeneralOneAreHermitian) {
  for (auto const& name : names) {
    auto const real = elements_of<double>(name, 16);
    auto const complex = elements_of<Complex>(name, 16);
    bool hermitian = true;
    for (std::size_t i = 0; i < 50; ++i) {
      for (std::size_t j = 0; j < 50; ++j) {
        hermitian = hermitian && real[i * 50 + j] == real[j * 50 + i];
        hermitian = hermitian && complex[i * 50 + j] == std::conj(complex[j * 50 + i]);
      }
    }
    EXPECT_EQ(hermitian, !name.starts_with("general")) << name;
  }
}

template <class T>
void expect_spectrum(std::string const& name, std::size_t n, double condition) {
  // The trace and the Frobenius norm are the sums of the eigenvalues and of their squares.
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < n; ++k) {
    double const eigenvalue = std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1));
    sum += eigenvalue;
    squares += eigenvalue * eigenvalue;
  }
  auto const a = elements_of<T>(name, 32);
  double trace = 0;
  double norm = 0;
  double off_diagonal = 0;
  for (std::size_t i = 0; i < n; ++i) {
    trace += std::real(a[i * n + i]);
    for (std::size_t j = 0; j < n; ++j) {
      norm += std::norm(a[i * n + j]);
      if (i != j) off_diagonal += std::norm(a[i * n + j]);
    }
  }
  EXPECT_NEAR(trace, sum, 1e-12 * sum);
  EXPECT_NEAR(norm, squares, 1e-12 * squares);
  EXPECT_GT(off_diagonal, 0.001 * norm);
}

TEST(Generators, ConditionedMatricesHaveTheEigenvaluesTheyShould) {
  expect_spectrum<double>("spd:60:1e6", 60, 1e6);
  expect_spectrum<Complex>("spd:60:1e6", 60, 1e6);
  EXPECT_NEAR(elements_of<double>("spd:101:1:4", 32)[0], 1, 1e-14) << "the identity";
  EXPECT_EQ(elements_of<double>("spd:1:100", 1), std::vector<double>{1});
  EXPECT_NE(elements_of<double>("spd:20:10:1", 8), elements_of<double>("spd:20:10:2", 8));
}

TEST(Generators, ElementsAreWhatTheFormulasSay) {
  auto const hilbert = elements_of<double>("hilbert:5:0.5", 2);
  auto const covariance = elements_of<double>("laplacian:3x4:2:0.25", 5);
  auto const line = elements_of<double>("laplacian:12:2", 5);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) {
      if (i < 5 && j < 5) {
        EXPECT_EQ(hilbert[i * 5 + j], 1 / static_cast<double>(i + j + 1) + (i == j ? 0.5 : 0));
      }
      auto const step = [](std::size_t a, std::size_t b) { return static_cast<double>(a) - static_cast<double>(b); };
      double const distance = std::hypot(step(i / 4, j / 4), step(i % 4, j % 4));
      EXPECT_NEAR(covariance[i * 12 + j], std::exp(-distance / 2) + (i == j ? 0.25 : 0), 1e-15);
      EXPECT_NEAR(line[i * 12 + j], std::exp(-std::abs(step(i, j)) / 2), 1e-15);
    }
  }
  for (double const x : elements_of<double>("general:30x20", 7)) EXPECT_LE(std::abs(x), 1);
}

TEST(Generators, ComplexDominantMatricesAreDominant) {
  constexpr std::size_t n = 40;
  auto const a = elements_of<Complex>("random:40", 16);
  for (std::size_t i = 0; i < n; ++i) {
    double others = 0;
    for (std::size_t j = 0; j < n; ++j) others += i == j ? 0 : std::abs(a[i * n + j]);
    EXPECT_GT(a[i * n + i].real(), others);
    EXPECT_EQ(a[i * n + i].imag(), 0);
  }
}

TEST(Generators, NamesAreReadAndWritten) {
  for (std::string const name : {"random:5:1", "general:5x6:2", "spd:5:1e+06:3", "hilbert:5", "hilbert:5:0.5",
                                 "laplacian:6:2", "laplacian:2x3:2.5:0.1"}) {
    EXPECT_TRUE(is_generated(name));
    EXPECT_EQ(parse_generated(name).name(), name);
  }
  EXPECT_EQ(parse_generated("random:5").seed, 1U);
  EXPECT_EQ(parse_generated("general:5").cols, 5U);
  EXPECT_EQ(parse_generated("laplacian:2x3:2").rows, 6U);
  EXPECT_EQ(open_generated("random:5:2", 4)->describe(1), "tile (0, 1) of random:5:2");
  for (std::string const name : {"A.h5", "random", "A.h5:/random:5", "spd.npy", "matrix:5"})
    EXPECT_FALSE(is_generated(name));
}

TEST(Generators, WhatIsMalformedIsRefused) {
  for (std::string const name :
       {"random:", "random:0", "random:-1", "random:5:x", "random:5:1:2", "random:2147483648", "general:5x",
        "general:x5", "general:5x0", "general:5x6x7", "spd:5", "spd:5:", "spd:5x5:10", "hilbert:1.5", "laplacian:5",
        "laplacian:5x:1", "laplacian:99999x99999:1", "laplacian:18446744073709551615x2:1", "laplacian:5:1:2:3"}) {
    auto const message = message_of<InvalidArgument>([&] { (void)parse_generated(name); });
    EXPECT_TRUE(message.starts_with("malformed input '" + name + "': write ")) << name << ": " << message;
  }
  for (std::string const name : {"spd:5:0.5", "spd:5:nan", "spd:5:inf", "spd:5:-1", "laplacian:5:0", "laplacian:5:-1",
                                 "laplacian:5:1:-1", "hilbert:5:-1", "hilbert:5:nan"})
    EXPECT_THROW((void)open_generated(name, 4), InvalidArgument) << name;
  EXPECT_EQ(message_of<InvalidArgument>([] { (void)parse_generated("A.h5"); }),
            "'A.h5' is not a generated matrix; the known ones are random:, general:, spd:, hilbert: and laplacian:");
  EXPECT_THROW((void)open_generated("random:5", 0), InvalidArgument);
  EXPECT_THROW((void)open_generated({.kind = GeneratedMatrix::Kind::Hilbert, .rows = 4, .cols = 5}, 4),
               InvalidArgument);
  EXPECT_THROW(
      (void)open_generated({.kind = GeneratedMatrix::Kind::Laplacian, .rows = 5, .cols = 5, .grid_cols = 2}, 4),
      InvalidArgument);
}

}  // namespace
}  // namespace granary
