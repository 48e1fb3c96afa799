#include "agent/vip/nftables.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_arp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <net/ethernet.h>
#include <unistd.h>

#include "net/netlink/message.h"

namespace edge::agent::vip {
namespace {

namespace netlink = net::netlink;

/// As many elements as there may be, in one batch.
constexpr int kSendBuffer = 8 << 20;
/// An attribute is shorter than 64 KiB.
constexpr std::size_t kElementsAMessage = 1000;
constexpr const char* kOwn = "own";    ///< connections of this node
constexpr const char* kFull = "full";  ///< has an element once `own` had no room
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kSynAck = 0x12;
/// Before every other rule of the link.
constexpr std::int32_t kPriority = -500;

Error nft_error(int number) {
  return {number == EPERM ? ErrorCode::kPermissionDenied : ErrorCode::kUnavailable,
          std::string("nftables: ") + std::strerror(number)};
}

std::string table_name(std::uint64_t id) { return "edge-" + std::to_string(::getpid()) + "-" + std::to_string(id); }

/// Builds a netlink batch for one table; rules are written expression by expression.
class Batch {
 public:
  Batch(std::uint8_t family, std::string table, std::uint32_t& sequence)
      : family_(family), table_(std::move(table)), sequence_(sequence) {
    batch(NFNL_MSG_BATCH_BEGIN);
    first_ = sequence_;
  }

  void message(std::uint16_t type, std::uint16_t flags) {
    out_.begin(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type), flags, ++sequence_);
    const nfgenmsg head{family_, NFNETLINK_V0, 0};
    out_.add(&head, sizeof head);
    last_ = sequence_;
  }
  void number(std::uint16_t type, std::uint32_t value) {
    const std::uint32_t big = htonl(value);
    out_.attribute(type, &big, sizeof big);
  }
  void text(std::uint16_t type, std::string_view value) { out_.text(type, value); }
  void data(std::uint16_t type, const void* bytes, std::size_t size) {
    out_.nest(type, [&] { out_.attribute(NFTA_DATA_VALUE, bytes, size); });
  }
  template <typename Inside>
  void nest(std::uint16_t type, Inside inside) {
    out_.nest(type, inside);
  }

  void table(std::uint16_t flags) {
    message(NFT_MSG_NEWTABLE, NLM_F_CREATE);
    text(NFTA_TABLE_NAME, table_);
    number(NFTA_TABLE_FLAGS, flags);
  }
  void chain(const char* name, std::uint32_t hook, std::int32_t priority, const std::string& device) {
    message(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    text(NFTA_CHAIN_TABLE, table_);
    text(NFTA_CHAIN_NAME, name);
    text(NFTA_CHAIN_TYPE, "filter");
    nest(NFTA_CHAIN_HOOK, [&] {
      number(NFTA_HOOK_HOOKNUM, hook);
      number(NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(priority));
      if (!device.empty()) text(NFTA_HOOK_DEV, device);
    });
  }
  void set(const char* name, std::uint32_t id, std::uint32_t key_size, std::uint32_t most) {
    message(NFT_MSG_NEWSET, NLM_F_CREATE);
    text(NFTA_SET_TABLE, table_);
    text(NFTA_SET_NAME, name);
    number(NFTA_SET_ID, id);
    number(NFTA_SET_FLAGS, NFT_SET_EVAL);
    number(NFTA_SET_KEY_TYPE, 0);
    number(NFTA_SET_KEY_LEN, key_size);
    nest(NFTA_SET_DESC, [&] { number(NFTA_SET_DESC_SIZE, most); });
  }
  template <typename Expressions>
  void rule(const char* chain, Expressions expressions) {
    message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    text(NFTA_RULE_TABLE, table_);
    text(NFTA_RULE_CHAIN, chain);
    nest(NFTA_RULE_EXPRESSIONS, expressions);
  }
  template <typename Inside>
  void expression(const char* name, Inside inside) {
    nest(NFTA_LIST_ELEM, [&] {
      text(NFTA_EXPR_NAME, name);
      nest(NFTA_EXPR_DATA, inside);
    });
  }
  void load_meta(nft_meta_keys key) {
    expression("meta", [&] {
      number(NFTA_META_DREG, NFT_REG32_00);
      number(NFTA_META_KEY, key);
    });
  }
  void load(nft_payload_bases base, std::uint32_t offset, std::uint32_t size, std::uint32_t into = NFT_REG32_00) {
    expression("payload", [&] {
      number(NFTA_PAYLOAD_DREG, into);
      number(NFTA_PAYLOAD_BASE, base);
      number(NFTA_PAYLOAD_OFFSET, offset);
      number(NFTA_PAYLOAD_LEN, size);
    });
  }
  void compare(nft_cmp_ops op, const void* bytes, std::size_t size) {
    expression("cmp", [&] {
      number(NFTA_CMP_SREG, NFT_REG32_00);
      number(NFTA_CMP_OP, op);
      data(NFTA_CMP_DATA, bytes, size);
    });
  }
  void write(nft_payload_bases base, std::uint32_t offset, const void* bytes, std::uint32_t size) {
    put(bytes, size);
    expression("payload", [&] {
      number(NFTA_PAYLOAD_SREG, NFT_REG32_00);
      number(NFTA_PAYLOAD_BASE, base);
      number(NFTA_PAYLOAD_OFFSET, offset);
      number(NFTA_PAYLOAD_LEN, size);
      number(NFTA_PAYLOAD_CSUM_TYPE, NFT_PAYLOAD_CSUM_NONE);
      number(NFTA_PAYLOAD_CSUM_OFFSET, 0);
    });
  }
  /// Into the first register.
  void put(const void* bytes, std::size_t size) {
    expression("immediate", [&] {
      number(NFTA_IMMEDIATE_DREG, NFT_REG32_00);
      data(NFTA_IMMEDIATE_DATA, bytes, size);
    });
  }
  void verdict(std::uint32_t code) {
    expression("immediate", [&] {
      number(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
      nest(NFTA_IMMEDIATE_DATA, [&] { nest(NFTA_DATA_VERDICT, [&] { number(NFTA_VERDICT_CODE, code); }); });
    });
  }
  void add_to(const char* set, std::uint32_t set_id) {
    expression("dynset", [&] {
      text(NFTA_DYNSET_SET_NAME, set);
      number(NFTA_DYNSET_SET_ID, set_id);
      number(NFTA_DYNSET_OP, NFT_DYNSET_OP_ADD);
      number(NFTA_DYNSET_SREG_KEY, NFT_REG32_00);
    });
  }
  void is_in(const char* set, std::uint32_t set_id) {
    expression("lookup", [&] {
      text(NFTA_LOOKUP_SET, set);
      number(NFTA_LOOKUP_SET_ID, set_id);
      number(NFTA_LOOKUP_SREG, NFT_REG32_00);
    });
  }
  const std::string& table_name() const { return table_; }
  /// Sequences of the first message, and of the last one, which is acknowledged.
  std::uint32_t first() const { return first_; }
  std::uint32_t last() const { return last_; }
  const std::vector<char>& finish() {
    batch(NFNL_MSG_BATCH_END);
    return out_.finish();
  }

 private:
  void batch(std::uint16_t type) {
    out_.begin(type, 0, ++sequence_);
    const nfgenmsg head{AF_UNSPEC, NFNETLINK_V0, htons(NFNL_SUBSYS_NFTABLES)};
    out_.add(&head, sizeof head);
  }

  netlink::Messages out_;
  const std::uint8_t family_;
  const std::string table_;
  std::uint32_t& sequence_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
};

constexpr std::uint32_t kOwnId = 1;
constexpr std::uint32_t kFullId = 2;
constexpr std::uint32_t kFullKey = 1;

/// Header offsets and sizes that differ between IPv4 and IPv6.
struct Layout {
  std::uint16_t protocol;
  std::uint32_t source;
  std::uint32_t destination;
  std::uint32_t size;
  const std::uint8_t* bytes(const IpAddress& address) const {
    return address.bytes.data() + (size == 4 ? netlink::kV4At : 0);
  }
};
Layout layout_of(const IpAddress& address) {
  return address.is_v4() ? Layout{ETHERTYPE_IP, 12, 16, 4} : Layout{ETHERTYPE_IPV6, 8, 24, 16};
}

/// The address of the peer, and both ports as they stand in the packet.
std::vector<std::uint8_t> key_of(const Flow& flow, const Layout& layout) {
  const std::uint8_t* const peer = layout.bytes(flow.peer);
  std::vector<std::uint8_t> key(peer, peer + layout.size);
  for (const std::uint16_t port : {flow.peer_port, flow.own_port}) {
    key.push_back(static_cast<std::uint8_t>(port >> 8));
    key.push_back(static_cast<std::uint8_t>(port));
  }
  return key;
}

void load_key(Batch& batch, const Layout& layout) {
  batch.load(NFT_PAYLOAD_NETWORK_HEADER, layout.source, layout.size);
  batch.load(NFT_PAYLOAD_TRANSPORT_HEADER, 0, 4, NFT_REG32_00 + layout.size / 4);
}

void when_syn(Batch& batch) {
  batch.load(NFT_PAYLOAD_TRANSPORT_HEADER, 13, 1);
  batch.expression("bitwise", [&] {
    const std::uint8_t nothing = 0;
    batch.number(NFTA_BITWISE_SREG, NFT_REG32_00);
    batch.number(NFTA_BITWISE_DREG, NFT_REG32_00);
    batch.number(NFTA_BITWISE_LEN, 1);
    batch.data(NFTA_BITWISE_MASK, &kSynAck, 1);
    batch.data(NFTA_BITWISE_XOR, &nothing, 1);
  });
  batch.compare(NFT_CMP_EQ, &kSyn, 1);
}

/// What is no TCP packet to the address stays, and what belongs to a connection of this node.
void write_what_stays(Batch& batch, const IpAddress& address) {
  const Layout layout = layout_of(address);
  const std::uint16_t protocol = htons(layout.protocol);
  const std::uint8_t tcp = IPPROTO_TCP;
  batch.rule("in", [&] {
    batch.load_meta(NFT_META_PROTOCOL);
    batch.compare(NFT_CMP_NEQ, &protocol, sizeof protocol);
    batch.verdict(NF_ACCEPT);
  });
  batch.rule("in", [&] {
    batch.load(NFT_PAYLOAD_NETWORK_HEADER, layout.destination, layout.size);
    batch.compare(NFT_CMP_NEQ, layout.bytes(address), layout.size);
    batch.verdict(NF_ACCEPT);
  });
  batch.rule("in", [&] {
    batch.load_meta(NFT_META_L4PROTO);
    batch.compare(NFT_CMP_NEQ, &tcp, sizeof tcp);
    batch.verdict(NF_ACCEPT);
  });
  batch.rule("in", [&] {
    when_syn(batch);
    load_key(batch, layout);
    batch.add_to(kOwn, kOwnId);
    batch.verdict(NF_ACCEPT);
  });
  // Reached where there was no room for it. From then on what is not known may be this node's.
  batch.rule("in", [&] {
    when_syn(batch);
    batch.put(&kFullKey, sizeof kFullKey);
    batch.add_to(kFull, kFullId);
    batch.verdict(NF_ACCEPT);
  });
  batch.rule("in", [&] {
    load_key(batch, layout);
    batch.is_in(kOwn, kOwnId);
    batch.verdict(NF_ACCEPT);
  });
  batch.rule("in", [&] {
    batch.put(&kFullKey, sizeof kFullKey);
    batch.is_in(kFull, kFullId);
    batch.verdict(NF_ACCEPT);
  });
}

void write_elements(Batch& batch, const Layout& layout, const std::vector<Flow>& flows) {
  for (std::size_t from = 0; from < flows.size(); from += kElementsAMessage) {
    batch.message(NFT_MSG_NEWSETELEM, NLM_F_CREATE);
    batch.text(NFTA_SET_ELEM_LIST_TABLE, batch.table_name());
    batch.text(NFTA_SET_ELEM_LIST_SET, kOwn);
    batch.number(NFTA_SET_ELEM_LIST_SET_ID, kOwnId);
    batch.nest(NFTA_SET_ELEM_LIST_ELEMENTS, [&] {
      for (std::size_t i = from; i < std::min(from + kElementsAMessage, flows.size()); ++i) {
        const std::vector<std::uint8_t> key = key_of(flows[i], layout);
        batch.nest(NFTA_LIST_ELEM, [&] { batch.data(NFTA_SET_ELEM_KEY, key.data(), key.size()); });
      }
    });
  }
}

}  // namespace

Result<Nftables> Nftables::open() {
  net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!fd.valid()) return nft_error(errno);
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return nft_error(errno);
  const timeval patience{.tv_sec = 0, .tv_usec = netlink::kPatience};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
  return Nftables(std::move(fd));
}

/// A batch is done whole or not at all. Its last message is answered in either case, its others where they failed.
Status Nftables::send(const std::vector<char>& messages, std::uint32_t first, std::uint32_t last) {
  if (::send(fd_.get(), messages.data(), messages.size(), 0) < 0) return nft_error(errno);
  std::vector<char> buffer(netlink::kDatagram);
  int fault = 0;
  bool answered = false;
  while (!answered) {
    const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return nft_error(fault != 0 ? fault : size < 0 ? errno : EIO);
    netlink::each_message(buffer.data(), static_cast<std::size_t>(size),
                          [&](const nlmsghdr& header, const char* body, std::size_t length) {
                            const bool ours = header.nlmsg_seq >= first && header.nlmsg_type == NLMSG_ERROR;
                            if (!ours || length < sizeof(int)) return true;
                            const int error = -netlink::value_of<int>(body, length);
                            if (fault == 0) fault = error;
                            // The first message is the batch: who refuses it answers no other.
                            answered = answered || header.nlmsg_seq == last || header.nlmsg_seq == first;
                            return true;
                          });
  }
  return fault == 0 ? Status() : Status(nft_error(fault));
}

void Nftables::remove(std::uint8_t family, const std::string& table) {
  Batch batch(family, table, sequence_);
  batch.message(NFT_MSG_DELTABLE, NLM_F_ACK);
  batch.text(NFTA_TABLE_NAME, table);
  // One that is not there, or went with its link, is as good as removed.
  [[maybe_unused]] const Status status = send(batch.finish(), batch.first(), batch.last());
}

Status Nftables::send_on(std::uint64_t id, const IpAddress& address, const Link& link,
                         const std::array<std::uint8_t, 6>& mac, const std::vector<Flow>& own) {
  Batch batch(NFPROTO_NETDEV, table_name(id), sequence_);
  const Layout layout = layout_of(address);
  batch.table(NFT_TABLE_F_OWNER);
  batch.set(kOwn, kOwnId, layout.size + 4, kMaxFlows);
  batch.set(kFull, kFullId, sizeof kFullKey, 1);
  write_elements(batch, layout, own);
  batch.chain("in", NF_NETDEV_INGRESS, kPriority, link.name);
  write_what_stays(batch, address);
  batch.message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK);
  batch.text(NFTA_RULE_TABLE, batch.table_name());
  batch.text(NFTA_RULE_CHAIN, "in");
  batch.nest(NFTA_RULE_EXPRESSIONS, [&] {
    const auto index = static_cast<std::uint32_t>(link.index);
    // Fragments have no ports; and what comes from that machine is not sent back.
    batch.load(NFT_PAYLOAD_TRANSPORT_HEADER, 0, 4);
    batch.load(NFT_PAYLOAD_LL_HEADER, ETH_ALEN, ETH_ALEN);
    batch.compare(NFT_CMP_NEQ, mac.data(), mac.size());
    batch.write(NFT_PAYLOAD_LL_HEADER, 0, mac.data(), ETH_ALEN);
    batch.write(NFT_PAYLOAD_LL_HEADER, ETH_ALEN, link.mac.data(), ETH_ALEN);
    batch.put(&index, sizeof index);
    batch.expression("fwd", [&] { batch.number(NFTA_FWD_SREG_DEV, NFT_REG32_00); });
  });
  return send(batch.finish(), batch.first(), batch.last());
}

bool Nftables::is_full(std::uint64_t id) {
  netlink::Messages request;
  request.begin(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETSETELEM), NLM_F_DUMP, ++sequence_);
  const nfgenmsg head{NFPROTO_NETDEV, NFNETLINK_V0, 0};
  request.add(&head, sizeof head);
  request.text(NFTA_SET_ELEM_LIST_TABLE, table_name(id));
  request.text(NFTA_SET_ELEM_LIST_SET, kFull);
  const std::vector<char>& bytes = request.finish();
  if (::send(fd_.get(), bytes.data(), bytes.size(), 0) < 0) return false;
  std::vector<char> buffer(netlink::kDatagram);
  bool full = false;
  bool over = false;
  while (!over) {
    const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    netlink::each_message(buffer.data(), static_cast<std::size_t>(size),
                          [&](const nlmsghdr& header, const char* body, std::size_t length) {
                            if (header.nlmsg_seq != sequence_) return true;
                            over = header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR;
                            if (over || length < sizeof(nfgenmsg)) return !over;
                            netlink::each_attribute(
                                body + sizeof(nfgenmsg), length - sizeof(nfgenmsg),
                                [&](std::uint16_t type, const char*, std::size_t size_of_elements) {
                                  full = full || (type == NFTA_SET_ELEM_LIST_ELEMENTS && size_of_elements > 0);
                                });
                            return true;
                          });
  }
  return full;
}

void Nftables::end_send_on(std::uint64_t id) { remove(NFPROTO_NETDEV, table_name(id)); }

Status Nftables::hush(std::uint64_t id, const IpAddress& address, const IpAddress& instead) {
  constexpr std::uint32_t kSenderAt = 14;
  constexpr std::uint32_t kTargetAt = 24;
  const std::uint8_t* const bytes = address.bytes.data() + netlink::kV4At;
  Batch batch(NFPROTO_ARP, table_name(id), sequence_);
  batch.table(NFT_TABLE_F_OWNER);
  batch.chain("in", NF_ARP_IN, kPriority, {});
  batch.chain("out", NF_ARP_OUT, kPriority, {});
  batch.rule("in", [&] {
    batch.load(NFT_PAYLOAD_NETWORK_HEADER, kTargetAt, 4);
    batch.compare(NFT_CMP_EQ, bytes, 4);
    batch.verdict(NF_DROP);
  });
  batch.message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK);
  batch.text(NFTA_RULE_TABLE, batch.table_name());
  batch.text(NFTA_RULE_CHAIN, "out");
  batch.nest(NFTA_RULE_EXPRESSIONS, [&] {
    batch.load(NFT_PAYLOAD_NETWORK_HEADER, kSenderAt, 4);
    batch.compare(NFT_CMP_EQ, bytes, 4);
    batch.write(NFT_PAYLOAD_NETWORK_HEADER, kSenderAt, instead.bytes.data() + netlink::kV4At, 4);
  });
  return send(batch.finish(), batch.first(), batch.last());
}

void Nftables::end_hush(std::uint64_t id) { remove(NFPROTO_ARP, table_name(id)); }

}  // namespace edge::agent::vip
