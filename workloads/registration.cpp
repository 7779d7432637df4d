// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/workloads/registration.hpp>

#include <utility>

namespace granary::detail {
namespace {

void no_body(KernelCall const&) {
  throw InvalidArgument("a workload's tasks have no bodies; they can be simulated only");
}

}  // namespace

DataId add_home_data(Submitter& submitter, workloads::DataHome home, std::string name, Bytes bytes,
                     MatrixPosition position) {
  return submitter.add_data({.name = std::move(name),
                             .bytes = bytes,
                             .origin = home.node,
                             .home = home.node,
                             .origin_is_home = true,
                             .in_place = home.in_place,
                             .position = position});
}

DataId add_result_data(Submitter& submitter, workloads::DataHome home, std::string name, Bytes bytes) {
  return submitter.add_data(
      {.name = std::move(name), .bytes = bytes, .origin = {}, .home = home.node, .in_place = home.in_place});
}

DataId add_temporary_data(Submitter& submitter, std::string name, Bytes bytes, MatrixPosition position) {
  return submitter.add_data({.name = std::move(name), .bytes = bytes, .origin = {}, .home = {}, .position = position});
}

CodeletId add_codelet(Submitter& submitter, std::string name, std::string variant, RunsOn runs_on) {
  return submitter.add_codelet(
      {.name = std::move(name),
       .kernels = {runs_on == RunsOn::DeviceOnly ? nullptr : no_body, runs_on == RunsOn::CpuOnly ? nullptr : no_body},
       .launches_kokkos_kernels = false,
       .variant = std::move(variant)});
}

CodeletId AnyWorkerSubmitter::add_codelet(Codelet codelet) {
  codelet.kernels.fill(no_body);
  return m_submitter.add_codelet(std::move(codelet));
}

}  // namespace granary::detail
