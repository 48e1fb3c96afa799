#include "net/netlink/socket.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/netlink/link.h"
#include "net/netlink/message.h"

namespace edge::net::netlink {
namespace {

/// What answers is written beforehand.
class NetlinkSocket : public testing::Test {
 protected:
  NetlinkSocket() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    kernel_ = Fd(ends[0]);
    socket_.emplace(Fd(ends[1]), "the kernel refuses");
  }

  void answer(Messages& messages) const {
    const std::vector<char>& bytes = messages.finish();
    ASSERT_EQ(::send(kernel_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  static void add_error(Messages& into, std::uint32_t number, int error) {
    into.begin(NLMSG_ERROR, 0, number);
    const nlmsgerr body{.error = -error, .msg = {}};
    into.add(&body, sizeof body);
  }
  Status ask(std::vector<std::uint16_t>* types = nullptr) {
    Messages request;
    request.begin(RTM_GETLINK, NLM_F_ACK, socket_->next());
    return socket_->ask(request.finish(), [&](const nlmsghdr& header, const char*, std::size_t) {
      if (types != nullptr) types->push_back(header.nlmsg_type);
    });
  }

  Fd kernel_;
  std::optional<Socket> socket_;
};

TEST_F(NetlinkSocket, AnAnswerOfSeveralDatagramsEndsWhereItSays) {
  Messages first;
  first.begin(RTM_NEWLINK, 0, 1);
  first.begin(RTM_NEWADDR, 0, 1);
  answer(first);
  Messages last;
  last.begin(RTM_NEWROUTE, 0, 1);
  last.begin(NLMSG_DONE, 0, 1);
  last.begin(RTM_NEWRULE, 0, 1);
  answer(last);
  std::vector<std::uint16_t> types;
  EXPECT_TRUE(ask(&types));
  EXPECT_EQ(types, (std::vector<std::uint16_t>{RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE}));
}

TEST_F(NetlinkSocket, AnswersToEarlierRequestsArePassedOver) {
  Messages late;
  add_error(late, 1, EPERM);
  Messages own;
  add_error(own, 2, 0);
  socket_->next();
  answer(late);
  answer(own);
  EXPECT_TRUE(ask());
}

TEST_F(NetlinkSocket, ErrorsHaveTheirCode) {
  constexpr std::pair<int, ErrorCode> kErrors[] = {
      {EPERM, ErrorCode::kPermissionDenied},   {ENODEV, ErrorCode::kNotFound},
      {ENETUNREACH, ErrorCode::kNotFound},     {EEXIST, ErrorCode::kAlreadyExists},
      {EOPNOTSUPP, ErrorCode::kUnimplemented}, {EAFNOSUPPORT, ErrorCode::kUnimplemented},
      {ENOBUFS, ErrorCode::kUnavailable},
  };
  std::uint32_t number = 0;
  for (const auto& [error, code] : kErrors) {
    Messages reply;
    add_error(reply, ++number, error);
    answer(reply);
    const Status status = ask();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, code) << status.error().text;
    EXPECT_TRUE(status.error().text.starts_with("the kernel refuses: "));
  }
}

TEST_F(NetlinkSocket, WhoIsAwayIsAnError) {
  kernel_ = Fd();
  EXPECT_FALSE(ask());
}

/// Attributes that end too early, or say that they are longer than the message, end the reading.
TEST(NetlinkMessages, AreReadWithinTheirBounds) {
  Messages messages;
  messages.begin(RTM_NEWLINK, 0, 1);
  messages.number(1, 17);
  messages.text(2, "name");
  messages.address(3, *parse_ip("10.1.2.3"));
  messages.address(4, *parse_ip("fd00::1"));
  const std::vector<char> bytes = messages.finish();
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    std::size_t seen = 0;
    each_message(bytes.data(), size, [&](const nlmsghdr&, const char* body, std::size_t length) {
      each_attribute(body, length, [&](std::uint16_t type, const char* value, std::size_t value_size) {
        ++seen;
        if (type == 1) EXPECT_EQ(value_of<std::uint32_t>(value, value_size), 17U);
        if (type == 2) EXPECT_STREQ(value, "name");
        if (type == 3) EXPECT_EQ(address_of(value, value_size), *parse_ip("10.1.2.3"));
        if (type == 4) EXPECT_EQ(address_of(value, value_size), *parse_ip("fd00::1"));
      });
      return true;
    });
    EXPECT_EQ(seen, size == bytes.size() ? 4U : 0U);
  }
  std::vector<char> cut = bytes;
  cut[sizeof(nlmsghdr)] = 127;  // the first attribute's length
  std::size_t seen = 0;
  each_attribute(cut.data() + sizeof(nlmsghdr), cut.size() - sizeof(nlmsghdr),
                 [&](std::uint16_t, const char*, std::size_t) { ++seen; });
  EXPECT_EQ(seen, 0U);
}

TEST_F(NetlinkSocket, AListThatChangedMeanwhileIsAskedForAgain) {
  const auto list = [&](std::uint32_t number, std::uint16_t flags, std::initializer_list<int> indexes) {
    Messages reply;
    for (const int index : indexes) {
      reply.begin(RTM_NEWLINK, static_cast<std::uint16_t>(NLM_F_MULTI | flags), number);
      ifinfomsg info{};
      info.ifi_index = index;
      reply.add(&info, sizeof info);
    }
    reply.begin(NLMSG_DONE, NLM_F_MULTI, number);
    answer(reply);
  };
  list(1, NLM_F_DUMP_INTR, {1});
  list(2, 0, {1, 2});
  const auto all = links(*socket_);
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_EQ(all->size(), 2U);
  for (std::uint32_t number = 3; number < 8; ++number) list(number, NLM_F_DUMP_INTR, {1});
  EXPECT_FALSE(links(*socket_));
  for (std::uint32_t number = 8; number < 13; ++number) list(number, NLM_F_DUMP_INTR, {static_cast<int>(number)});
  const auto torn = list_links(*socket_);
  ASSERT_TRUE(torn) << torn.error().text;
  EXPECT_TRUE(torn->torn);
  ASSERT_EQ(torn->links.size(), 1U);
  EXPECT_EQ(torn->links[0].index, 12) << "the last list";
}

TEST(NetlinkLinks, OnesThatATornListDoesNotShowStay) {
  const auto shown = [](const std::vector<Link>& known) {
    std::string text;
    for (const Link& link : known) text += link.name + std::to_string(link.index) + (link.up ? "+ " : " ");
    return text;
  };
  std::vector<Link> known;
  update_links(known, {.links = {{.index = 1, .name = "lo"}, {.index = 2, .name = "wg"}, {.index = 3, .name = "pod"}}});
  // One that changed, one that was made anew, a new one.
  update_links(
      known,
      {.links = {{.index = 1, .name = "lo", .up = true}, {.index = 5, .name = "pod"}, {.index = 6, .name = "new"}},
       .torn = true});
  EXPECT_EQ(shown(known), "lo1+ pod5 new6 wg2 ");
  update_links(known, {.links = {{.index = 1, .name = "lo"}}});
  EXPECT_EQ(shown(known), "lo1 ");
}

TEST(NetlinkLinks, AreThoseOfTheKernel) {
  auto kernel = Socket::open({});
  ASSERT_TRUE(kernel) << kernel.error().text;
  const auto all = links(*kernel);
  ASSERT_TRUE(all) << all.error().text;
  const auto loopback = std::ranges::find(*all, "lo", &Link::name);
  ASSERT_NE(loopback, all->end());
  EXPECT_EQ(loopback->index, 1);
  EXPECT_FALSE(loopback->ethernet);
  EXPECT_GT(loopback->mtu, 0U);
  // Without a link of that number nothing is changed.
  EXPECT_FALSE(change_address(*kernel, {.type = RTM_NEWADDR, .link = 1 << 30, .address = *parse_ip("10.255.255.1")}));
}

}  // namespace
}  // namespace edge::net::netlink
