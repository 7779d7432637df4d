// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/pool.hpp>

#include <granary/detail/core/base/error.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace granary::detail {

namespace {
constexpr Bytes huge_page = 2_MiB;
}

Pool::Pool(std::string const& node_name, Bytes bytes) : m_bytes(bytes) {
  if (bytes == 0) return;
  m_mapped = round_up(bytes, huge_page) + huge_page;
  m_mapping = ::mmap(nullptr, m_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m_mapping == MAP_FAILED) {
    throw Error("cannot allocate " + format_bytes(bytes) + " for memory node '" + node_name +
                "': " + std::strerror(errno) +
                "; lower its limit or raise the limit on address space (ulimit -v) or data (ulimit -d)");
  }
  auto const address = reinterpret_cast<std::uintptr_t>(m_mapping);
  m_base = static_cast<std::byte*>(m_mapping) + (round_up(address, huge_page) - address);
  // Huge pages reduce page faults and TLB misses on tiles. Only whole ones: the last, partial one would be resident
  // beyond the capacity.
  Bytes const whole = bytes / huge_page * huge_page;
  if (whole > 0) ::madvise(m_base, whole, MADV_HUGEPAGE);
  ::madvise(m_base, m_bytes, MADV_DONTDUMP);
}

Pool::~Pool() {
  if (m_mapping != nullptr) ::munmap(m_mapping, m_mapped);
}

}  // namespace granary::detail
