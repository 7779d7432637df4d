// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors a View in place, and a matrix in a file that is larger than the memory for its tiles.
#include <granary/granary.hpp>
#include <granary/linalg.hpp>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using granary::MatrixPart;
  using granary::Uplo;
  using namespace granary::literals;
  // The user may have an A.h5 in the current folder.
  auto const folder = std::filesystem::temp_directory_path() / "granary-example-cholesky";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  granary::write_random_spd("A.h5", 1024, 128, 1, granary::ScalarType::Float64);

  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a_view("A", 500, 500);
  for (std::size_t i = 0; i < 500; ++i) a_view(i, i) = 4.0;

  double residual = 0;
  {
    // [factor]
    granary::Runtime runtime({.scheduler = "darts", .host_memory = 1_MiB});
    granary::potrf(runtime, Uplo::Lower, a_view, 128);  // a View, in place

    auto A =
        granary::open_matrix<double>(runtime, "A.h5", "/A", {.part = MatrixPart::Lower, .tile = 128, .output = "L.h5"});
    granary::potrf(runtime, Uplo::Lower, A);  // a file; larger than the limit
    A.commit();                               // L.h5 has the factor and its name
    // [factor]
    auto const original = granary::open_matrix<double>(runtime, "A.h5", "/A", {.tile = 128});
    auto const factor = granary::open_matrix<double>(runtime, "L.h5", "/L", {.tile = 128});
    residual = granary::potrf_residual(runtime, Uplo::Lower, original, factor);

    Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> a("a", 1200, 1200);
    for (std::size_t i = 0; i < 1200; ++i) a(i, i) = 9.0;
    // [inner]
    granary::potrf(runtime, granary::Uplo::Lower, a, 1024, {.inner_tile = 256});  // large tiles, as finer graphs
    granary::TaskEmitter tasks(runtime.submitter());
    tasks.set_inner_tile(256);  // for everything that this emitter emits
    // [inner]
    granary::set(tasks, 0.0, 1.0, original.tiles());
    runtime.wait();
    if (a(1199, 1199) != 3.0) residual = 1;
  }
  std::filesystem::current_path(folder.parent_path());
  std::filesystem::remove_all(folder);
  std::printf("|A - L L^T| / (n eps |A|) = %.2g\n", residual);
  return residual < 1 && a_view(499, 499) == 2.0 ? 0 : 1;
}
