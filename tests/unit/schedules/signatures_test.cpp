// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/schedules/signatures.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace granary::signatures_test {
namespace {

using enum detail::AccessMode;

detail::Codelet const gemm{.name = "gemm", .variant = "d"};

struct Call {
  detail::TaskSignatures signatures;
  Bytes size = 800;
  std::uint64_t add(std::vector<detail::Access> const& accesses, detail::Codelet const& codelet = gemm,
                    double flops = 1e6) {
    auto const bytes = [&](DataId) { return size; };
    detail::AccessList const list{std::span<detail::Access const>(accesses)};
    auto const next = signatures.next(codelet, flops, list, bytes);
    EXPECT_EQ(signatures.next(codelet, flops, list, bytes), next);
    EXPECT_EQ(signatures.add(codelet, flops, list, bytes), next) << "next() is not what add() returns";
    return next;
  }
};

TEST(TaskSignatures, DoNotDependOnIds) {
  Call a;
  Call b;
  EXPECT_EQ(a.add({{DataId(0), Read}, {DataId(1), Write}}), b.add({{DataId(7), Read}, {DataId(3), Write}}));
  EXPECT_EQ(a.add({{DataId(1), Read}, {DataId(2), Write}}), b.add({{DataId(3), Read}, {DataId(9), Write}}));
  EXPECT_NE(a.add({{DataId(0), Read}}), b.add({{DataId(3), Read}})) << "the first datum, and the second one";
}

TEST(TaskSignatures, EveryPropertyCounts) {
  std::set<std::uint64_t> all;
  std::vector<detail::Access> const reads{{DataId(0), Read}};
  all.insert(Call{}.add(reads));
  all.insert(Call{}.add({{DataId(0), Write}}));
  all.insert(Call{}.add({{DataId(0), ReadWrite}}));
  all.insert(Call{}.add({{DataId(0), Commute}}));
  all.insert(Call{}.add(reads, {.name = "gemm", .variant = "s"}));
  all.insert(Call{}.add(reads, {.name = "trsm", .variant = "d"}));
  all.insert(Call{}.add(reads, {.name = "gemmd"}));
  all.insert(Call{}.add(reads, gemm, 2e6));
  all.insert(Call{.signatures = {}, .size = 808}.add(reads));
  all.insert(Call{}.add({{DataId(0), Read}, {DataId(1), Read}}));
  all.insert(Call{}.add({{DataId(0), Read}, {DataId(0), Read}}));
  all.insert(Call{}.add({}));
  EXPECT_EQ(all.size(), 12U);
}

TEST(TaskSignatures, ARepeatedDatumThatIsNewHasOneNumber) {
  Call a;
  a.add({{DataId(5), Read}});
  a.add({{DataId(1), Read}, {DataId(5), Read}, {DataId(2), Read}, {DataId(1), Write}, {DataId(2), Read}});
  Call b;
  b.add({{DataId(0), Read}});
  EXPECT_EQ(a.add({{DataId(9), Read}}), [&] {
    b.add({{DataId(1), Read}, {DataId(0), Read}, {DataId(2), Read}, {DataId(1), Write}, {DataId(2), Read}});
    return b.add({{DataId(3), Read}});
  }());
}

TEST(TaskSignatures, AForgottenIdIsANewDatum) {
  Call reused;
  Call fresh;
  reused.add({{DataId(0), Write}});
  fresh.add({{DataId(0), Write}});
  reused.signatures.forget(DataId(0));
  reused.signatures.forget(DataId(99));
  EXPECT_EQ(reused.add({{DataId(0), Write}}), fresh.add({{DataId(1), Write}}));
  EXPECT_EQ(reused.add({{DataId(0), Read}}), fresh.add({{DataId(1), Read}}));
}

// The file format names these values: they must not change.
TEST(TaskSignatures, AreTheSameOnEveryMachine) {
  Call a;
  EXPECT_EQ(a.add({{DataId(3), Read}, {DataId(1), ReadWrite}}), 5158015541583346087U);
}

}  // namespace
}  // namespace granary::signatures_test
