// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/model/owned_data.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary::owned_data_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Releases final : Submitter {
  detail::CodeletId add_codelet(detail::Codelet) override { return {}; }
  DataId add_data(detail::DataDescription) override { return DataId(data++); }
  void release_data(DataId id) override {
    if (id == refused) throw std::runtime_error("refused");
    released.push_back(id.value());
  }
  TaskId submit(TaskSubmission const&, detail::Parameters) override { return {}; }

  std::uint32_t data = 0;
  DataId refused;
  std::vector<std::uint32_t> released;
};

static_assert(!std::is_copy_constructible_v<detail::OwnedData> && !std::is_copy_assignable_v<detail::OwnedData>);
static_assert(std::is_nothrow_move_constructible_v<detail::OwnedData>);

detail::OwnedData added(Submitter& submitter, int count) {
  detail::OwnedData data(submitter);
  for (int i = 0; i < count; ++i) data.add({.name = "d", .bytes = 8});
  return data;
}

TEST(OwnedData, ReleasesInTheOrderOfOwningAtItsEnd) {
  Releases submitter;
  {
    auto data = added(submitter, 3);
    EXPECT_EQ(data.own(DataId(17)), DataId(17));
    EXPECT_EQ(data.size(), 4U);
    EXPECT_EQ(data[1], DataId(1));
    EXPECT_THAT(data.ids(), ElementsAre(DataId(0), DataId(1), DataId(2), DataId(17)));
    EXPECT_THAT(submitter.released, IsEmpty());
  }
  EXPECT_THAT(submitter.released, ElementsAre(0, 1, 2, 17));
}

TEST(OwnedData, ReleasesNothingTwice) {
  Releases submitter;
  {
    auto data = added(submitter, 3);
    data.release(1);
    data.release(1);
    EXPECT_THAT(submitter.released, ElementsAre(1));
    data.release();
    EXPECT_EQ(data.size(), 0U);
    data.release();
  }
  EXPECT_THAT(submitter.released, ElementsAre(1, 0, 2));
}

TEST(OwnedData, HasPlacesWithoutDatum) {
  Releases submitter;
  {
    detail::OwnedData data(submitter, std::vector<DataId>(3));
    EXPECT_EQ(data.own(1, DataId(5)), DataId(5));
    data.release(0);
  }
  EXPECT_THAT(submitter.released, ElementsAre(5));
}

TEST(OwnedData, MovesToOneOwner) {
  Releases submitter;
  {
    auto first = added(submitter, 2);
    detail::OwnedData second(std::move(first));
    EXPECT_EQ(second.size(), 2U);
    second = added(submitter, 1);
    EXPECT_THAT(submitter.released, ElementsAre(0, 1)) << "assignment releases what was owned";
    detail::OwnedData all(submitter);
    all.add({.name = "d", .bytes = 8});
    all.own(std::move(second));
    EXPECT_THAT(all.ids(), ElementsAre(DataId(3), DataId(2)));
    EXPECT_THAT(submitter.released, ElementsAre(0, 1));
  }
  EXPECT_THAT(submitter.released, ElementsAre(0, 1, 3, 2));
}

TEST(OwnedData, ReleasesAtTheSubmitterOfAnAssignedOwner) {
  Releases one;
  Releases other;
  {
    auto data = added(one, 1);
    data = added(other, 1);
    EXPECT_THAT(one.released, ElementsAre(0));
    EXPECT_THAT(other.released, IsEmpty());
  }
  EXPECT_THAT(one.released, ElementsAre(0));
  EXPECT_THAT(other.released, ElementsAre(0));
}

TEST(OwnedData, ThrowsFromReleaseButNotAtItsEnd) {
  Releases submitter;
  submitter.refused = DataId(0);
  {
    auto data = added(submitter, 2);
    EXPECT_THROW(data.release(0), std::runtime_error);
  }
  EXPECT_THAT(submitter.released, ElementsAre(1));
  {
    auto data = added(submitter, 0);
    data.own(DataId(0));
  }
  EXPECT_THAT(submitter.released, ElementsAre(1));
}

}  // namespace
}  // namespace granary::owned_data_test
