// A socket of one thread that datagrams of clients come to, and the sessions of the flows that it has: datagrams of one
// client's address and port to one address of ours. The kernel gives a flow to one socket of those that share the port,
// so a session never leaves its thread.
//
// What strangers may cost is bounded: a listener has ServerOptions::max_udp_sessions sessions, each of its sockets an
// equal share of them. A bound over all sockets would let those of one take all the room, and another socket can only
// end sessions of its own thread. Where there is no room, the oldest session ends that is no more than an exchange, a
// datagram with its answers; a flow that goes on keeps its session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ip.h"
#include "base/keyed_hash.h"
#include "net/datagrams.h"
#include "net/loop.h"
#include "runtime/session/udp/handed_flow.h"

namespace edge::runtime {

class UdpSession;
class Worker;

struct UdpFlow {
  net::SocketAddress client{};
  IpAddress local{};  ///< all zero: the one that the socket is bound to
  friend bool operator==(const UdpFlow&, const UdpFlow&) = default;
};

/// Sessions by when they last had a datagram, the oldest first.
struct UdpSessionList {
  UdpSession* first = nullptr;
  UdpSession* last = nullptr;

  void append(UdpSession& session);
  void remove(UdpSession& session);
};

class UdpListener final : public net::Channel, public std::enable_shared_from_this<UdpListener> {
 public:
  /// kHeld: another process receives on the socket until `resume`.
  enum class Receiving : std::uint8_t { kAtOnce, kHeld };

  /// `most_sessions`: of this socket; at least 1.
  UdpListener(Worker& worker, std::uint32_t slot, net::Fd socket, std::size_t most_sessions, Receiving receiving);
  ~UdpListener() override;

  std::uint32_t slot() const { return slot_; }
  const net::SocketAddress& bound() const { return bound_; }

  /// Takes all that waits.
  void receive_all();
  /// Receives no more; sessions go on to be answered.
  void stop();
  /// Receives no more, and gives away its flows, whose sessions end here.
  void give(std::vector<HandedFlow>& flows);
  /// Goes on with a flow of the process before, if it came to this socket. \returns whether it did.
  bool take(HandedFlow& flow);
  /// Receives from now on, if it was held.
  void resume();
  /// Ends its sessions, and closes the socket.
  void shut(std::string_view reason);
  /// Sends answers and counts them.
  void send(net::DatagramQueue& answers);
  int socket() const { return is_open() ? fd() : stopped_.get(); }

  // For its sessions.
  void touched(UdpSession& session);
  void ended(UdpSession& session);

 private:
  struct FlowHash {
    FlowHash() : key(HashKey::random()) {}
    std::size_t operator()(const UdpFlow& flow) const;
    HashKey key;
  };

  void unattended(std::uint8_t events) override;
  /// \returns whether more may be waiting.
  bool receive_some();
  UdpSession* session_of(const net::Datagrams& datagrams);
  /// `datagrams`: as many are lost where none can begin.
  UdpSession* begin(const UdpFlow& flow, std::size_t datagrams);
  /// Keeps a session that has an endpoint. Null: there is no room for it.
  UdpSession* keep(std::unique_ptr<UdpSession> session);
  bool evict();

  Worker& worker_;
  std::uint32_t slot_;
  net::SocketAddress bound_;
  std::size_t most_sessions_;
  /// While it does not receive: held, or after stop().
  net::Fd stopped_;
  bool held_;
  std::unordered_map<UdpFlow, UdpSession*, FlowHash> flows_;
  /// Those that are no more than an exchange so far, and the others.
  UdpSessionList exchanges_;
  UdpSessionList streams_;
};

}  // namespace edge::runtime
