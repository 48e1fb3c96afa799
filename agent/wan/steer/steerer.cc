#include "agent/wan/steer/steerer.h"

#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include <chrono>

#include "agent/wan/tunnel/child.h"
#include "net/netlink/message.h"
#include "net/netlink/socket.h"

namespace edge::agent::wan {
namespace {

/// The number that counts changes of the kernel's rules, by whomever; 0: it cannot be read.
std::uint32_t generation() {
  namespace netlink = net::netlink;
  auto kernel = netlink::Socket::open({.protocol = NETLINK_NETFILTER, .patience = std::chrono::seconds(1)});
  if (!kernel) return 0;
  netlink::Messages request;
  request.begin(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN), NLM_F_ACK, kernel->next());
  const nfgenmsg head{AF_UNSPEC, NFNETLINK_V0, 0};
  request.add(&head, sizeof head);
  std::uint32_t found = 0;
  const Status status = kernel->ask(request.finish(), [&](const nlmsghdr&, const char* body, std::size_t size) {
    if (size < sizeof(nfgenmsg)) return;
    netlink::each_attribute(body + sizeof(nfgenmsg), size - sizeof(nfgenmsg),
                            [&](std::uint16_t type, const char* value, std::size_t length) {
                              if (type == NFTA_GEN_ID) found = ntohl(netlink::value_of<std::uint32_t>(value, length));
                            });
  });
  return status ? found : 0;
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
