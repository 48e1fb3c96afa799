// Who runs WireGuard for a link: a kernel that has it, has none, fails, or has it later. What answers RTM_NEWLINK here
// is a thread of the test; wireguard-go is the real one.
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/wan/tunnel/device.h"
#include "net/netlink/message.h"
#include "tests/net/bridge.h"

namespace edge::test {
namespace {

using agent::wan::Engine;
using agent::wan::PlannedDevice;
using agent::wan::Rtnetlink;
using agent::wan::TunnelDevice;
using net::netlink::Link;
using net::netlink::value_of;

/// The other end of a netlink socket: acknowledges all it is asked, new links with `answer`, and their aliases with
/// `answer_to_alias`.
class FakeKernel {
 public:
  FakeKernel() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    own_ = net::Fd(ends[0]);
    asker_ = net::Fd(ends[1]);
    thread_ = std::thread([this] { run(); });
  }
  ~FakeKernel() {
    ::shutdown(own_.get(), SHUT_RDWR);
    thread_.join();
  }
  /// Once.
  Rtnetlink asker() { return Rtnetlink(net::netlink::Socket(std::move(asker_), "the kernel refuses")); }

  std::atomic<int> answer = 0;  ///< errno of a new link of WireGuard
  std::atomic<int> answer_to_alias = 0;
  std::atomic<int> made = 0;     ///< how often one was asked for
  std::atomic<int> changed = 0;  ///< links that are there
  std::atomic<int> removed = 0;
  /// The one link of lists that are all torn; empty: there are no lists. Set before they are asked for.
  std::string torn;

 private:
  void run() {
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t size = ::recv(own_.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) return;
      const auto asked = value_of<nlmsghdr>(buffer.data(), static_cast<std::size_t>(size));
      const bool makes = asked.nlmsg_type == RTM_NEWLINK && (asked.nlmsg_flags & NLM_F_CREATE) != 0;
      if (makes) ++made;
      const bool changes = asked.nlmsg_type == RTM_NEWLINK && !makes;
      if (changes) ++changed;
      if (asked.nlmsg_type == RTM_DELLINK) ++removed;
      net::netlink::Messages reply;
      if (asked.nlmsg_type == RTM_GETLINK && !torn.empty()) {
        reply.begin(RTM_NEWLINK, NLM_F_MULTI | NLM_F_DUMP_INTR, asked.nlmsg_seq);
        ifinfomsg info{};
        info.ifi_index = 7;
        reply.add(&info, sizeof info);
        reply.text(IFLA_IFNAME, torn);
        reply.text(IFLA_IFALIAS, "edge-agent tunnel test");
        reply.begin(NLMSG_DONE, NLM_F_MULTI, asked.nlmsg_seq);
      } else {
        reply.begin(NLMSG_ERROR, 0, asked.nlmsg_seq);
        const nlmsgerr body{.error = makes ? -answer : changes ? -answer_to_alias : 0, .msg = asked};
        reply.add(&body, sizeof body);
      }
      const auto& bytes = reply.finish();
      ::send(own_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  }

  net::Fd own_;
  net::Fd asker_;
  std::thread thread_;
};

class WanEngine : public Bridge {
 protected:
  void SetUp() override {
    Bridge::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!run("test -x /usr/bin/wireguard-go")) GTEST_SKIP() << "needs wireguard-go";
    node("n");
  }

  /// A name that no link of another process has.
  static std::string name_of(char last) { return "ewg" + std::to_string(::getpid()) + last; }
  static TunnelDevice device(char last) {
    PlannedDevice plan{.name = name_of(last), .alias = "edge-agent tunnel test"};
    plan.settings.private_key.fill(1);
    plan.settings.peer_key.fill(2);
    return TunnelDevice(std::move(plan));
  }
  void work(TunnelDevice& device, Rtnetlink& kernel, const std::vector<Link>& links) {
    device.work(kernel, links, engine_, *parse_ip("100.64.0.1"), 1420, now_);
  }
  /// Until a wireguard-go has made its link and it is set up.
  bool runs(TunnelDevice& device, Rtnetlink& kernel) {
    auto real = Rtnetlink::open();
    if (!real) return false;
    return await([&] {
      const auto links = real->links();
      if (links) work(device, kernel, links->links);
      return device.by_program() && device.link() != 0;
    });
  }
  /// The kernel's own link, as it is before the agent has set it up.
  static std::vector<Link> made(char last) { return {{.index = 7, .name = name_of(last)}}; }

  Engine engine_;
  agent::wan::SteadyTime now_ = std::chrono::steady_clock::now();
};

TEST_F(WanEngine, AKernelWithoutWireGuardIsAskedOnceAMinute) {
  in("n", [&] {
    FakeKernel fake;
    Rtnetlink kernel = fake.asker();
    fake.answer = EOPNOTSUPP;
    TunnelDevice first = device('1');
    work(first, kernel, {});
    EXPECT_TRUE(first.by_program()) << "at once: " << first.fault();
    EXPECT_TRUE(runs(first, kernel)) << first.fault();
    TunnelDevice second = device('2');
    now_ += std::chrono::seconds(59);
    work(second, kernel, {});
    EXPECT_TRUE(second.by_program()) << second.fault();
    EXPECT_EQ(fake.made, 1);
    // Its module has been loaded meanwhile.
    fake.answer = 0;
    now_ += std::chrono::seconds(2);
    TunnelDevice third = device('3');
    work(third, kernel, {});
    EXPECT_EQ(fake.made, 2);
    EXPECT_FALSE(third.by_program());
    EXPECT_EQ(third.fault(), "");
    // Links that are there stay with their program.
    EXPECT_TRUE(runs(first, kernel)) << first.fault();
    EXPECT_EQ(fake.made, 2);
    first.remove(kernel);
    second.remove(kernel);
  });
}

TEST_F(WanEngine, AModuleThatMakesLinksAndCannotBeAskedIsLeft) {
  in("n", [&] {
    FakeKernel fake;
    Rtnetlink kernel = fake.asker();
    TunnelDevice only = device('1');
    work(only, kernel, {});
    EXPECT_FALSE(only.by_program());
    EXPECT_EQ(fake.made, 1);
    // The real kernel knows no such link.
    work(only, kernel, made('1'));
    EXPECT_TRUE(has(only.fault(), "the kernel's WireGuard")) << only.fault();
    EXPECT_EQ(fake.removed, 1);
    work(only, kernel, {});
    EXPECT_FALSE(only.by_program()) << "it waits a moment";
    now_ += std::chrono::seconds(1);
    EXPECT_TRUE(runs(only, kernel)) << only.fault();
    EXPECT_EQ(fake.made, 1);
    only.remove(kernel);
  });
}

TEST_F(WanEngine, AFaultOfAnotherKindIsToldAndTriedAgain) {
  in("n", [&] {
    FakeKernel fake;
    Rtnetlink kernel = fake.asker();
    fake.answer = EPERM;
    TunnelDevice only = device('1');
    work(only, kernel, {});
    EXPECT_FALSE(only.by_program());
    EXPECT_TRUE(has(only.fault(), "Operation not permitted")) << only.fault();
    work(only, kernel, {});
    EXPECT_EQ(fake.made, 1) << "not at once";
    fake.answer = 0;
    now_ += std::chrono::seconds(1);
    work(only, kernel, {});
    EXPECT_EQ(fake.made, 2);
    EXPECT_EQ(only.fault(), "");
    // A module that answers nonsense is left at once.
    TunnelDevice other = device('2');
    fake.answer = EINVAL;
    work(other, kernel, {});
    EXPECT_TRUE(other.by_program()) << other.fault();
    other.remove(kernel);
  });
}

TEST_F(WanEngine, ALinkOfThatNameThatIsNotTheAgentsIsLeftAlone) {
  in("n", [&] {
    FakeKernel fake;
    Rtnetlink kernel = fake.asker();
    TunnelDevice only = device('1');
    work(only, kernel, made('1'));
    EXPECT_TRUE(has(only.fault(), "that is not the agent's")) << only.fault();
    EXPECT_EQ(fake.made, 0);
    EXPECT_EQ(fake.removed, 0);
  });
}

TEST_F(WanEngine, ALinkHasItsAliasBeforeItHasKeys) {
  in("n", [&] {
    FakeKernel fake;
    Rtnetlink kernel = fake.asker();
    TunnelDevice only = device('1');
    work(only, kernel, {});
    EXPECT_EQ(fake.made, 1);
    EXPECT_EQ(fake.changed, 1) << "a process that is killed now is followed by one that knows it";
    // One that cannot be had is not left without.
    TunnelDevice other = device('2');
    fake.answer_to_alias = EPERM;
    work(other, kernel, {});
    EXPECT_EQ(fake.made, 2);
    EXPECT_EQ(fake.removed, 1);
    EXPECT_TRUE(has(other.fault(), "Operation not permitted")) << other.fault();
    fake.answer_to_alias = 0;
    now_ += std::chrono::seconds(1);
    work(other, kernel, {});
    EXPECT_EQ(fake.made, 3);
    EXPECT_EQ(other.fault(), "");
  });
}

TEST_F(WanEngine, ALinkIsRemovedWhileOthersChangeWithoutEnd) {
  in("n", [&] {
    FakeKernel fake;
    fake.torn = name_of('1');
    Rtnetlink kernel = fake.asker();
    TunnelDevice only = device('1');
    work(only, kernel, {});
    EXPECT_EQ(fake.made, 1);
    only.remove(kernel);
    EXPECT_EQ(fake.removed, 1);
  });
}

TEST_F(WanEngine, ALinkThatWasNeverSetUpIsRemovedWithItsTunnel) {
  in("n", [&] {
    FakeKernel fake;
    Rtnetlink kernel = fake.asker();
    auto real = Rtnetlink::open();
    ASSERT_TRUE(real) << real.error().text;
    const auto is_there = [&](char last) { return run("ip -n " + space("n") + " link show " + name_of(last)); };
    // Bridges are what every kernel has, in place of links of WireGuard.
    for (const char last : {'1', '2', '3'}) {
      ASSERT_TRUE(run("ip -n " + space("n") + " link add " + name_of(last) + " type bridge"));
    }
    ASSERT_TRUE(real->set_alias(name_of('1'), "edge-agent tunnel test").ok());
    EXPECT_TRUE(has(output("ip -n " + space("n") + " link show " + name_of('1')), "alias edge-agent tunnel test"));
    TunnelDevice own = device('1');
    TunnelDevice replaced = device('2');
    for (TunnelDevice* const one : {&own, &replaced}) work(*one, kernel, {});
    EXPECT_EQ(own.link(), 0);
    own.remove(*real);
    EXPECT_FALSE(is_there('1'));
    replaced.remove(*real);
    EXPECT_TRUE(is_there('2')) << "somebody else's by its alias";
    EXPECT_TRUE(real->remove_link(name_of('3')).ok());
    EXPECT_FALSE(is_there('3'));
  });
}

}  // namespace
}  // namespace edge::test
