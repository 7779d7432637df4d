// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/linalg.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/message_of.hpp"
#include "support/scalars.hpp"
#include "unit/linalg/rectangle.hpp"

/// Common parts of the tests of calls with a Runtime.
namespace granary::testing {

using test::Scalars;

template <class T, class Layout>
using HostView = Kokkos::View<T**, Layout, Kokkos::HostSpace>;
template <class T>
using LeftView = HostView<T, Kokkos::LayoutLeft>;
template <class T>
using RightView = HostView<T, Kokkos::LayoutRight>;
template <class T>
using StridedView = HostView<T, Kokkos::LayoutStride>;
template <class T>
using ColumnView = Kokkos::View<T*, Kokkos::LayoutStride, Kokkos::HostSpace>;

template <class View, class T>
void fill(View const& view, Rectangle<T> const& values) {
  for (std::uint64_t i = 0; i < values.rows; ++i) {
    for (std::uint64_t j = 0; j < values.cols; ++j) view(i, j) = values(i, j);
  }
}
template <class View>
[[nodiscard]] auto values_of(View const& view) {
  return rectangle_of<typename View::non_const_value_type>(view.extent(0), view.extent(1), view);
}

template <class T, class Layout>
[[nodiscard]] HostView<T, Layout> make_view(Rectangle<T> const& values, std::string const& name = "A") {
  HostView<T, Layout> view(name, values.rows, values.cols);
  fill(view, values);
  return view;
}
/// The elements of a rectangle themselves, with its padding.
template <class T>
[[nodiscard]] StridedView<T> view_of(Rectangle<T>& a) {
  return StridedView<T>(a.elements.data(), Kokkos::LayoutStride(a.rows, 1, a.cols, a.ld));
}

/// ε in LAPACK's sense times `factor`, relative to 1.
template <class T>
[[nodiscard]] double rounding(double factor) {
  return factor * std::numeric_limits<detail::RealOf<T>>::epsilon() / 2;
}

/// The message of the InvalidArgument that `call` throws, without its line; empty, and a test failure, if it throws
/// none.
template <class Call>
[[nodiscard]] std::string refusal(Call&& call) {
  try {
    call();
  } catch (InvalidArgument const& error) {
    std::string const message = error.what();
    EXPECT_EQ(message.find("(submitted at"), message.rfind("(submitted at")) << message;
    return test::without_line(message);
  }
  ADD_FAILURE() << "accepted";
  return {};
}

/// A directory for files that is removed at the end.
class Files : public ::testing::Test {
 protected:
  Files() : m_directory(std::filesystem::temp_directory_path() / ("granary-linalg-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(m_directory);
  }
  ~Files() override { std::filesystem::remove_all(m_directory); }
  [[nodiscard]] std::string file(std::string const& name) const { return (m_directory / name).string(); }
  [[nodiscard]] std::filesystem::path const& directory() const { return m_directory; }

  /// Writes a matrix through a FileMatrix.
  template <class T>
  void write(std::string const& name, Rectangle<T> const& values, std::uint64_t tile) const {
    Runtime runtime({.workers = 1});
    auto const view = make_view<T, Kokkos::LayoutLeft>(values);
    auto matrix = create_matrix<T>(runtime, values.rows, values.cols,
                                   {.tile = tile, .output = file(name), .output_dataset = "A"});
    copy(runtime, view, matrix);
    matrix.commit();
  }
  /// The values of a dataset.
  template <class T>
  [[nodiscard]] Rectangle<T> read(std::string const& name, std::uint64_t tile) const {
    Runtime runtime({.workers = 1});
    auto const matrix = open_matrix<T>(runtime, file(name), "", {.tile = tile});
    auto const& grid = matrix.tiles().grid();
    LeftView<T> const view("values", grid.rows, grid.cols);
    copy(runtime, matrix, view);
    return values_of(view);
  }

 private:
  std::filesystem::path m_directory;
};

}  // namespace granary::testing
