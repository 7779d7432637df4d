// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Linear algebra for users: calls with a Runtime and matrices. Those in `granary::async` submit their tasks and
/// return; those in `granary` wait for the result. docs/linalg.md lists them with LAPACK's names.
#include <granary/linalg/algorithms/io_bounds.hpp>
#include <granary/linalg/runtime/blas.hpp>
#include <granary/linalg/runtime/condition.hpp>
#include <granary/linalg/runtime/diagonal.hpp>
#include <granary/linalg/runtime/elementwise.hpp>
#include <granary/linalg/runtime/factor.hpp>
#include <granary/linalg/runtime/file_matrix.hpp>
#include <granary/linalg/runtime/inverse.hpp>
#include <granary/linalg/runtime/matrices.hpp>
#include <granary/linalg/runtime/mixed.hpp>
#include <granary/linalg/runtime/norm.hpp>
#include <granary/linalg/runtime/read_csv.hpp>
#include <granary/linalg/runtime/residual.hpp>
#include <granary/linalg/runtime/solve.hpp>
