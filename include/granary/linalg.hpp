// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Linear algebra for users: calls with a Runtime and matrices. Those in `granary::async` submit their tasks and
/// return; those in `granary` wait for the result. docs/linalg.md lists them with LAPACK's names.
#include <granary/detail/linalg/algorithms/io_bounds.hpp>
#include <granary/detail/linalg/files/matrix_file.hpp>
#include <granary/detail/linalg/generators/generators.hpp>
#include <granary/detail/linalg/generators/spd_generator.hpp>
#include <granary/detail/linalg/kernels/blas.hpp>
#include <granary/detail/linalg/runtime/blas.hpp>
#include <granary/detail/linalg/runtime/condition.hpp>
#include <granary/detail/linalg/runtime/diagonal.hpp>
#include <granary/detail/linalg/runtime/elementwise.hpp>
#include <granary/detail/linalg/runtime/factor.hpp>
#include <granary/detail/linalg/runtime/file_matrix.hpp>
#include <granary/detail/linalg/runtime/inverse.hpp>
#include <granary/detail/linalg/runtime/least_squares.hpp>
#include <granary/detail/linalg/runtime/matrices.hpp>
#include <granary/detail/linalg/runtime/mixed.hpp>
#include <granary/detail/linalg/runtime/norm.hpp>
#include <granary/detail/linalg/runtime/qr.hpp>
#include <granary/detail/linalg/runtime/read_csv.hpp>
#include <granary/detail/linalg/runtime/residual.hpp>
#include <granary/detail/linalg/runtime/solve.hpp>
