#include "agent/wan/steer/steerer.h"

#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include <vector>

#include "agent/vip/netlink_message.h"
#include "agent/wan/tunnel/child.h"
#include "net/socket.h"

namespace edge::agent::wan {
namespace {

/// The number that counts changes of the kernel's rules, by whomever; 0: it cannot be read.
std::uint32_t generation() {
  const net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  vip::NetlinkMessages request;
  request.begin(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN), 0, 1);
  const nfgenmsg head{AF_UNSPEC, NFNETLINK_V0, 0};
  request.add(&head, sizeof head);
  const std::vector<char>& bytes = request.finish();
  std::vector<char> buffer(vip::kNetlinkDatagram);
  if (::send(fd.get(), bytes.data(), bytes.size(), 0) < 0) return 0;
  const ssize_t size = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  std::uint32_t found = 0;
  if (size <= 0) return found;
  vip::netlink_messages(
      buffer.data(), static_cast<std::size_t>(size), [&](const nlmsghdr& header, const char* body, std::size_t length) {
        if (header.nlmsg_type == NLMSG_ERROR || length < sizeof(nfgenmsg)) return false;
        vip::netlink_attributes(body + sizeof(nfgenmsg), length - sizeof(nfgenmsg),
                                [&](std::uint16_t type, const char* value, std::size_t value_size) {
                                  if (type == NFTA_GEN_ID) {
                                    found = ntohl(vip::netlink_value<std::uint32_t>(value, value_size));
                                  }
                                });
        return false;
      });
  return found;
}

}  // namespace

Status Steerer::load(const std::string& text) {
  const std::string nft = find_system_program("nft");
  if (nft.empty()) return Error{ErrorCode::kNotFound, "traffic is not steered: there is no nft (package nftables)"};
  const auto output = run_program(nft, {"-f", "-"}, text);
  if (!output) return Error{output.error().code, "traffic is not steered: " + output.error().text};
  generation_ = generation();
  return {};
}

Status Steerer::apply(const Steering& steering) {
  std::string text = rules_text(steering);
  if (text == text_) return {};
  if (Status status = load(text); !status) return status;
  text_ = std::move(text);
  return {};
}

Status Steerer::keep() {
  if (text_.empty() || generation() == generation_) return {};
  return load(text_);
}

Status Steerer::remove() {
  text_.clear();
  return load(no_rules_text());
}

}  // namespace edge::agent::wan
