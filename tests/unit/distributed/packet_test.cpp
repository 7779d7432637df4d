// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/distributed/transports/packet.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace granary {

using namespace detail;

namespace {

Message ask(std::uint32_t number) {
  return {.kind = Message::Kind::Ask, .value = {DataKey(number), number + 1}, .tag = number + 2};
}

std::vector<Message> read(Packet const& packet) {
  std::vector<Message> messages;
  read_packet(packet.bytes(), [&](Message const& message) { messages.push_back(message); });
  return messages;
}

TEST(Packet, MessagesComeBackInOrder) {
  Packet packet;
  EXPECT_TRUE(read(packet).empty());
  auto refuse = ask(7);
  refuse.kind = Message::Kind::Refuse;
  refuse.failure = std::make_shared<FailureOrigin const>(FailureOrigin{ProcessId(3), 1ULL << 40, "no pivot", true});
  EXPECT_TRUE(packet.add(ask(1)));
  EXPECT_TRUE(packet.add(refuse));
  EXPECT_TRUE(packet.add(ask(2)));
  auto const found = read(packet);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].value, ask(1).value);
  EXPECT_EQ(found[0].tag, 3U);
  EXPECT_EQ(found[0].failure, nullptr);
  EXPECT_EQ(found[1].kind, Message::Kind::Refuse);
  ASSERT_NE(found[1].failure, nullptr);
  EXPECT_EQ(found[1].failure->process, ProcessId(3));
  EXPECT_EQ(found[1].failure->position, 1ULL << 40);
  EXPECT_EQ(found[1].failure->what, "no pivot");
  EXPECT_TRUE(found[1].failure->known);
  EXPECT_EQ(found[2].value, ask(2).value);
}

TEST(Packet, AnAnnouncementHasTheBytesOfItsValue) {
  Packet packet;
  Message const announce{.kind = Message::Kind::Announce, .value = {DataKey(1), 2}, .bytes = Bytes{1} << 40};
  EXPECT_TRUE(packet.add(announce));
  EXPECT_TRUE(packet.add(ask(1)));
  auto const found = read(packet);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].bytes, Bytes{1} << 40);
  EXPECT_EQ(found[1].value, ask(1).value);
}

TEST(Packet, AFullOneStaysAsItIs) {
  Packet packet;
  std::uint32_t added = 0;
  while (packet.add(ask(added))) ++added;
  EXPECT_GT(added, 100U);
  EXPECT_LE(packet.bytes().size(), Packet::most_bytes);
  EXPECT_EQ(read(packet).size(), added);
  packet.clear();
  EXPECT_TRUE(packet.add(ask(0)));
}

TEST(Packet, LongTextsAreCutSoThatEveryMessageFits) {
  Packet packet;
  auto announce = ask(1);
  announce.failure = std::make_shared<FailureOrigin const>(FailureOrigin{ProcessId(0), 0, std::string(100'000, 'x')});
  EXPECT_TRUE(packet.add(announce));
  EXPECT_EQ(read(packet).at(0).failure->what, std::string(Packet::most_text, 'x'));
}

}  // namespace
}  // namespace granary
