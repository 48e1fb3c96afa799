#include "net/datagrams.h"

#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

namespace edge::net {
namespace {

IpAddress loopback() { return *parse_ip("127.0.0.1"); }

Fd socket_of(Result<Fd> opened) { return std::move(*opened); }

/// A socket that is bound, and one that is connected to it.
struct Ends {
  Fd bound = socket_of(listen_udp(loopback(), 0));
  SocketAddress at = local_address(bound.get());
  Fd connected = socket_of(connect_udp(at));
};

/// All that comes, until so many datagrams have.
std::vector<std::string> received(int fd, std::size_t count, bool* joined = nullptr) {
  DatagramBuffers buffers(4);
  std::vector<std::string> all;
  while (all.size() < count) {
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, 5000) != 1) break;
    int error = 0;
    const std::size_t got = buffers.receive(fd, 0, buffers.slots(), error);
    for (std::size_t i = 0; i < got; ++i) {
      const Datagrams one = buffers.at(i);
      if (joined != nullptr) *joined |= one.segment != 0;
      const std::size_t size = one.segment == 0 ? std::max<std::size_t>(one.bytes.size(), 1) : one.segment;
      if (one.bytes.empty()) all.emplace_back();
      for (std::size_t at = 0; at < one.bytes.size(); at += size) all.emplace_back(one.bytes.substr(at, size));
    }
  }
  return all;
}

TEST(Datagrams, KeepTheirBoundsAndOrderWhetherJoinedOrNot) {
  for (const bool joins : {false, true}) {
    Ends ends;
    if (joins) receive_joined(ends.bound.get());
    const std::vector<std::string> sent = {
        std::string(1000, 'a'), std::string(1000, 'b'), std::string(10, 'c'), std::string(1000, 'd'), "",
        std::string(3000, 'e'), std::string(3000, 'f')};
    DatagramQueue queue;
    for (const std::string& one : sent) queue.add({}, {.bytes = one});
    const DatagramQueue::Outcome outcome = queue.flush(ends.connected.get());
    EXPECT_EQ(outcome.sent, sent.size());
    EXPECT_EQ(outcome.bytes, 9010U);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(received(ends.bound.get(), sent.size()), sent);
  }
}

TEST(Datagrams, StandBehindTheirHeaderEach) {
  Ends ends;
  DatagramQueue queue;
  queue.add({}, {.bytes = "112233", .segment = 2}, "H");
  EXPECT_EQ(queue.flush(ends.connected.get()).sent, 3U);
  EXPECT_EQ(received(ends.bound.get(), 3), (std::vector<std::string>{"H11", "H22", "H33"}));
}

TEST(Datagrams, TooLargeOnesAreLeftOutAndOthersSent) {
  Ends ends;
  const std::string large(kMaxDatagram, 'x');
  DatagramQueue queue;
  queue.add({}, {.bytes = "before"});
  queue.add({}, {.bytes = large}, "header");
  queue.add({}, {.bytes = "after"});
  const DatagramQueue::Outcome outcome = queue.flush(ends.connected.get());
  EXPECT_EQ(outcome.sent, 2U);
  EXPECT_EQ(outcome.oversized, 1U);
  EXPECT_EQ(received(ends.bound.get(), 2), (std::vector<std::string>{"before", "after"}));
  queue.add({}, {.bytes = large});
  EXPECT_EQ(queue.flush(ends.connected.get()).sent, 1U);
  EXPECT_EQ(received(ends.bound.get(), 1), std::vector<std::string>{large});
}

TEST(Datagrams, ARefusalIsToldByTheNextSendAndLosesNothing) {
  Ends ends;
  ends.bound.reset();
  DatagramQueue queue;
  queue.add({}, {.bytes = "refused"});
  EXPECT_EQ(queue.flush(ends.connected.get()).sent, 1U);
  ends.bound = socket_of(listen_udp(ends.at.address, ends.at.port));
  queue.add({}, {.bytes = "one"});
  queue.add({}, {.bytes = "longer than one"});
  const DatagramQueue::Outcome outcome = queue.flush(ends.connected.get());
  EXPECT_TRUE(outcome.refused);
  EXPECT_EQ(outcome.sent, 0U);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.flush(ends.connected.get()).sent, 2U);
  EXPECT_EQ(received(ends.bound.get(), 2), (std::vector<std::string>{"one", "longer than one"}));
}

TEST(Datagrams, ARefusalBetweenThoseOfOneEntryLeavesTheRestOfIt) {
  Ends ends;
  // Without checksums the kernel does not take them joined.
  const int on = 1;
  ASSERT_EQ(::setsockopt(ends.connected.get(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  ends.bound.reset();
  DatagramQueue queue;
  queue.add({}, {.bytes = "112233", .segment = 2}, "H");
  const DatagramQueue::Outcome outcome = queue.flush(ends.connected.get());
  EXPECT_TRUE(outcome.refused);
  EXPECT_EQ(outcome.sent, 1U);
  EXPECT_EQ(outcome.bytes, 3U);
  EXPECT_EQ(queue.count(), 2U);
  ends.bound = socket_of(listen_udp(ends.at.address, ends.at.port));
  queue.add({}, {.bytes = "44"}, "H");
  EXPECT_EQ(queue.flush(ends.connected.get()).sent, 3U);
  EXPECT_TRUE(queue.empty());
  queue.add({}, {.bytes = "end"});
  EXPECT_EQ(queue.flush(ends.connected.get()).sent, 1U);
  EXPECT_EQ(received(ends.bound.get(), 4), (std::vector<std::string>{"H22", "H33", "H44", "end"}));
}

TEST(Datagrams, AnswersComeFromTheAddressThatWasAsked) {
  Fd any = socket_of(listen_udp(std::nullopt, 0));
  tell_local_address(any.get());
  const std::uint16_t port = local_address(any.get()).port;
  for (const char* asked : {"127.0.0.1", "127.0.0.9", "::1"}) {
    // Connected: what comes from elsewhere is not received.
    Result<Fd> client = connect_udp({*parse_ip(asked), port});
    if (!client.ok() || ::send(client->get(), "ask", 3, 0) != 3) continue;
    pollfd wait{any.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, 5000), 1);
    DatagramBuffers buffers(1);
    int error = 0;
    ASSERT_EQ(buffers.receive(any.get(), 0, 1, error), 1U);
    const Datagrams question = buffers.at(0);
    EXPECT_EQ(to_string(question.local), asked);
    DatagramQueue queue;
    queue.add({question.peer, question.local}, {.bytes = "1122334", .segment = 2});
    EXPECT_EQ(queue.flush(any.get()).sent, 4U);
    EXPECT_EQ(received(client->get(), 4), (std::vector<std::string>{"11", "22", "33", "4"})) << asked;
  }
}

TEST(Datagrams, APortIsTakenByWhoeverHasIt) {
  Ends ends;
  EXPECT_TRUE(udp_port_taken(loopback(), ends.at.port));
  // The kernel lets processes of one user share it all the same.
  EXPECT_TRUE(listen_udp(loopback(), ends.at.port).ok());
  ends.bound.reset();
  EXPECT_FALSE(udp_port_taken(loopback(), ends.at.port));
}

}  // namespace
}  // namespace edge::net
