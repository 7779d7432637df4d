// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/linalg/kernels/elementwise_kernels.hpp>
#include <granary/detail/linalg/tiles/measured.hpp>
#include <granary/detail/linalg/tiles/tile_call.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace granary::tiles {
namespace {

using detail::DeviceLane;

// The task's own kernels and parameters, and its measurements. The data of the measurements are its last accesses.
struct MeasuredCall {
  std::array<detail::Kernel, detail::worker_kinds> kernels;
  detail::Check check;
  detail::Parameters own;
  std::size_t accesses;  // number of its own accesses
  std::size_t tile_access;
  detail::TileShape tile;
  bool before;
  bool after;
  MatrixPart after_part;
};

template <class T>
void measure(detail::KernelCall const&, MatrixPart part, detail::TileView<T const> tile, double& largest) {
  largest = kernels::max_modulus<T>({.part = part}, tile);
}
template <class T>
void measure_on_lane(detail::KernelCall const& call, MatrixPart part, detail::TileView<T const> tile, double& largest) {
  kernels::max_modulus(DeviceLane(call), part, tile, &largest);
}

template <class T, detail::WorkerKind Kind,
          void (*Measure)(detail::KernelCall const&, MatrixPart, detail::TileView<T const>, double&)>
void run_measured(detail::KernelCall const& call) {
  auto const& p = detail::parameters_of<MeasuredCall>(call);
  auto const tile = detail::input_tile<T>(call, p.tile_access, p.tile);
  auto const number = [&](std::size_t after_own) -> double& {
    return *reinterpret_cast<double*>(call.data[p.accesses + after_own]);
  };
  if (p.before) Measure(call, MatrixPart::All, tile, number(0));
  auto own = call;
  own.data = call.data.first(p.accesses);
  if (!call.pitches.empty()) own.pitches = call.pitches.first(p.accesses);
  own.parameters = p.own.get();
  p.kernels[static_cast<std::size_t>(Kind)](own);
  if (p.after) Measure(call, p.after_part, tile, number(p.before ? 1 : 0));
}

void check_measured(void const* parameters, detail::KernelReport const& report) {
  auto const& p = *static_cast<MeasuredCall const*>(parameters);
  p.check(p.own.get(), report);
}

template <class T>
detail::Codelet measuring(detail::Codelet codelet) {
  auto const wrap = [&](detail::WorkerKind kind, detail::Kernel kernel) {
    if (codelet.runs_on(kind)) codelet.kernels[static_cast<std::size_t>(kind)] = kernel;
  };
  wrap(detail::WorkerKind::Cpu, run_measured<T, detail::WorkerKind::Cpu, measure<T>>);
  wrap(detail::WorkerKind::Device, run_measured<T, detail::WorkerKind::Device, measure_on_lane<T>>);
  codelet.expand = nullptr;
  if (codelet.check != nullptr) codelet.check = check_measured;
  return codelet;
}

}  // namespace

template <class T>
detail::CodeletId MeasuringSubmitter<T>::add_codelet(detail::Codelet codelet) {
  auto const id = m_submitter.add_codelet(codelet);
  m_codelets.push_back({std::move(codelet), id, {}});
  return id;
}

template <class T>
TaskId MeasuringSubmitter<T>::submit(TaskSubmission const& submission, detail::Parameters parameters) {
  if (!m_next) return m_submitter.submit(submission, std::move(parameters));
  auto const next = *std::exchange(m_next, std::nullopt);
  auto const own = submission.accesses;
  auto const written = std::ranges::find_if(
      own, [&](detail::Access const& access) { return access.data == next.tile.data && writes(access.mode); });
  if (written == own.end()) throw InternalError("a task measures a tile that it does not write");
  auto const known = std::ranges::find(m_codelets, submission.codelet, &Known::id);
  if (known == m_codelets.end()) throw InvalidArgument("a measuring task has an unknown codelet");
  if (!known->measuring.valid()) known->measuring = m_submitter.add_codelet(measuring<T>(known->codelet));

  std::vector<detail::Access> accesses(own.begin(), own.end());
  for (auto const number : {next.before, next.after}) {
    if (number.valid()) accesses.push_back({number, detail::AccessMode::Write});
  }
  auto measured = submission;
  measured.codelet = known->measuring;
  measured.accesses = accesses;
  return m_submitter.submit(
      measured, detail::Parameters(MeasuredCall{.kernels = known->codelet.kernels,
                                                .check = known->codelet.check,
                                                .own = std::move(parameters),
                                                .accesses = own.size(),
                                                .tile_access = static_cast<std::size_t>(written - own.begin()),
                                                .tile = next.tile.shape(),
                                                .before = next.before.valid(),
                                                .after = next.after.valid(),
                                                .after_part = next.after_part}));
}

template class MeasuringSubmitter<float>;
template class MeasuringSubmitter<double>;
template class MeasuringSubmitter<Kokkos::complex<float>>;
template class MeasuringSubmitter<Kokkos::complex<double>>;

}  // namespace granary::tiles
