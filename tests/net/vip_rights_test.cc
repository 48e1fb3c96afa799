// A holder without the rights that addresses take: it says of each address which right is missing.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/vip/holder.h"
#include "tests/net/vip_bridge.h"

namespace edge::agent::vip {
namespace {

class VipRights : public VipBridge {
 protected:
  /// What a process without the capability says of the first address: `NotPermitted REASON`.
  std::string said_without(unsigned capability) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::string line = say(capability);
      [[maybe_unused]] const ssize_t written = ::write(ends[1], line.data(), line.size());
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string line;
    std::array<char, 512> buffer{};
    for (ssize_t size = 0; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
      line.append(buffer.data(), static_cast<std::size_t>(size));
    }
    ::close(ends[0]);
    ::waitpid(pid, nullptr, 0);
    return line;
  }

 private:
  static bool drop(unsigned capability) {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    if (::syscall(SYS_capget, &head, data.data()) != 0) return false;
    data[0].effective &= ~(1U << capability);
    data[0].permitted &= ~(1U << capability);
    return ::syscall(SYS_capset, &head, data.data()) == 0;
  }

  std::string say(unsigned capability) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!enter("a") || !drop(capability)) return "cannot begin";
    auto started = Holder::start(options("a"));
    if (!started) return started.error().text;
    (*started)->set_addresses(addresses());
    if (!await([&] { return (*started)->states()[0].unfit != Unfit::kNo; })) return "it says nothing";
    const AddressState state = (*started)->states()[0];
    return std::string(to_string(state.unfit)) + " " + state.reason + (state.held ? ", and holds it" : "");
  }
};

TEST_F(VipRights, WhatIsMissingIsSaidOfEachAddress) {
  EXPECT_EQ(said_without(CAP_NET_ADMIN), "NotPermitted the agent lacks CAP_NET_ADMIN, which holding an address takes");
  EXPECT_EQ(said_without(CAP_NET_RAW), "NotPermitted the agent lacks CAP_NET_RAW, which holding an address takes");
}

}  // namespace
}  // namespace edge::agent::vip
