// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/stable_hash.hpp>
#include <granary/detail/schedules/signatures.hpp>

#include <bit>

namespace granary::detail {
namespace {

// The last steps of MurmurHash3: every bit of the input changes half of the result's.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return x ^ (x >> 33U);
}

std::uint64_t combined(std::uint64_t hash, std::uint64_t word) {
  return mixed(hash ^ mixed(word + 0x9e3779b97f4a7c15U)) + hash;
}

}  // namespace

std::uint64_t TaskSignatures::of_task(Codelet const& codelet, double flops) {
  return combined(combined(stable_hash(codelet.name), stable_hash(codelet.variant)),
                  std::bit_cast<std::uint64_t>(flops));
}

std::uint64_t TaskSignatures::with_access(std::uint64_t hash, AccessMode mode, Bytes bytes, std::uint64_t number) {
  return combined(combined(combined(hash, static_cast<std::uint64_t>(mode)), bytes), number);
}

// The datum is new with this task: it gets its number at its first access.
std::uint64_t TaskSignatures::number_of_repeated(AccessList const& accesses, Access const& access) const {
  std::uint64_t unknown = 0;
  for (auto const& earlier : accesses) {
    if (number_of(earlier.data) == 0 && !earlier.repeated) ++unknown;
    if (earlier.data == access.data) break;
  }
  return m_numbered + unknown;
}

}  // namespace granary::detail
