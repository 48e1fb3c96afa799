// Messages of an older format, and of a later one: what is not understood costs what it is about, and nothing else.
#include "controller/federation/wire.h"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "controller/federation/test_clusters.h"

namespace edge::federation {
namespace {

using namespace std::string_literals;

const ObjectKey kCart{"ProxyRoute", "shop", "cart"};
const ObjectKey kSearch{"ProxyRoute", "shop", "search"};

v1::Version message_of(const Version& version) {
  v1::Version bytes;
  write(version, bytes);
  return bytes;
}

/// As the first format had it: the author signed the statement alone, and its dot apart, in field 4.
v1::Version of_the_first_format(const TestCluster& author, const Version& version) {
  v1::Version message = message_of(version);
  message.set_signature(*author.key.sign_message("edge federation version", version.statement));
  const std::string proof = *author.key.sign_message("edge federation entry", "object and dot");
  std::string bytes = message.SerializeAsString() + "\x22\x40"s + proof;
  EXPECT_TRUE(message.ParseFromString(bytes));
  for (v1::Proof& one : *message.mutable_proofs()) one.clear_statement();
  return message;
}

/// The versions that come out of a frame on the wire.
std::vector<VersionPtr> received(const std::vector<v1::Version>& versions) {
  v1::Frame frame;
  frame.set_number(3);
  for (const v1::Version& version : versions) *frame.mutable_delta()->add_versions() = version;
  const auto decoded = decode_frame(frame.SerializeAsString());
  EXPECT_TRUE(decoded.ok());
  return decoded.ok() ? std::get<Delta>(decoded->body).versions : std::vector<VersionPtr>();
}

TEST(OlderMessages, AVersionIsRefusedAndNoOtherOfItsFrame) {
  TestCluster east("east", {});
  TestCluster west("west", {});
  east.meet(west);
  west.meet(east);
  const VersionPtr cart = *east.replica.write(kCart, "1", kTestTime);
  const VersionPtr search = *east.replica.write(kSearch, "2", kTestTime);
  const auto versions = received({of_the_first_format(east, *cart), message_of(*search)});
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(west.replica.receive(versions[0], "east").refusal, Refusal::kSignature);
  EXPECT_EQ(west.replica.receive(versions[1], "east").refusal, Refusal::kNone);
  EXPECT_EQ(west.replica.winner(kCart), nullptr);
  EXPECT_EQ(west.replica.winner(kSearch)->content, "2");
  // Sent as it is now, it is taken.
  EXPECT_EQ(west.replica.receive(received({message_of(*cart)}).front(), "east").refusal, Refusal::kNone);
}

TEST(OlderMessages, AProofWithoutAStatementProvesNothing) {
  TestCluster east("east", {});
  TestCluster west("west", {});
  east.meet(west);
  west.meet(east);
  ASSERT_EQ(west.replica.receive(*east.replica.write(kCart, "1", kTestTime), "east").refusal, Refusal::kNone);
  const VersionPtr over = *west.replica.write(kCart, "2", kTestTime + 1);
  ASSERT_EQ(over->proofs.size(), 1U);
  v1::Version old = message_of(*over);
  old.mutable_proofs(0)->clear_statement();
  EXPECT_EQ(east.replica.receive(received({old}).front(), "west").refusal, Refusal::kSignature);
  EXPECT_EQ(east.replica.receive(received({message_of(*over)}).front(), "west").refusal, Refusal::kNone);
  EXPECT_EQ(east.replica.winner(kCart)->content, "2");
}

TEST(OlderMessages, AGreetingWithoutLaterFieldsIsUnderstood) {
  // Number 1; protocol 1, replica `peer` in its life 1, one life, and scopes of everything.
  const auto decoded = decode_frame(
      "\x08\x01\x12\x24\x08\x01\x12\x0f\x0a\x04peer\x11\x01\0\0\0\0\0\0\0\x1a\x0b\x09\x01\0\0\0\0\0\0\0\x10\x01\x2a\0\x32\0"s);
  ASSERT_TRUE(decoded.ok());
  const Hello& hello = std::get<Hello>(decoded->body);
  EXPECT_EQ(hello.protocol, 1U);
  EXPECT_EQ(hello.replica, (ReplicaId{"peer", 1}));
  EXPECT_EQ(hello.policy, 0U);
  EXPECT_EQ(hello.public_key, "");
  EXPECT_TRUE(hello.offers.covers(kCart));
}

TEST(LaterMessages, WhatIsNotKnownGoesOnToAThirdClusterWithItsSignature) {
  TestCluster east("east", {});
  TestCluster hub("hub", {});
  TestCluster west("west", {});
  for (TestCluster* spoke : {&east, &west}) {
    hub.meet(*spoke);
    spoke->meet(hub, {.hub = true});
  }
  east.know(west);
  west.know(east);
  // A later author: a field in its statement, one beside it, one of the frame, and one of the object.
  Version later = **east.replica.write(kCart, R"({"spec":{"later":[1,{"than":"this"}]}})", kTestTime);
  later.statement += "\x98\x06\x01"s;
  later.signature = *east.key.sign_message("edge federation version", signed_text(later));
  v1::Version message;
  ASSERT_TRUE(message.ParseFromString(message_of(later).SerializeAsString() + "\x92\x06\x05later"s));
  const auto versions = received({message});
  ASSERT_EQ(versions.size(), 1U);
  ASSERT_EQ(hub.replica.receive(versions.front(), "east").refusal, Refusal::kNone);
  TestLink(hub, west).run();
  ASSERT_NE(west.replica.winner(kCart), nullptr);
  EXPECT_EQ(west.replica.winner(kCart)->statement, later.statement);
  EXPECT_EQ(west.replica.winner(kCart)->content, later.content);
  // Who writes over it proves what it has seen, and the later author believes that.
  const VersionPtr over = *west.replica.write(kCart, "{}", kTestTime + 1);
  EXPECT_EQ(hub.replica.receive(received({message_of(*over)}).front(), "west").refusal, Refusal::kNone);
}

TEST(LaterMessages, AFrameOfAnotherKindIsAnError) {
  const auto decoded = decode_frame("\x08\x04\xf2\x05\x05later"s);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().text, "federation: a frame of a kind that is not known");
}

}  // namespace
}  // namespace edge::federation
