// The datagrams of one flow: from one client to one endpoint and back. It begins with the first datagram, and ends when
// none has come for as long as the rule's idle timeout says.
//
// It is decided once which backend and which endpoint have it, and anew when another program has come that sends it
// elsewhere, or when the endpoint takes no more traffic or refuses what it is sent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/datagrams.h"
#include "net/loop.h"
#include "runtime/match/decide.h"
#include "runtime/phase/client_connection.h"
#include "runtime/session/client_session.h"
#include "runtime/session/counters.h"
#include "runtime/session/thread_program.h"
#include "runtime/session/udp/handed_flow.h"
#include "runtime/session/udp/udp_listener.h"

namespace edge::runtime {

class UdpSession final : public ClientSession, private net::TimerNode {
 public:
  UdpSession(Worker& worker, std::shared_ptr<UdpListener> listener, const UdpFlow& flow);
  ~UdpSession() override;

  /// Chooses its endpoint. \returns why it has none; it is not to be kept then.
  std::optional<UdpDrop> open();
  /// Goes on with a flow of another process, by its socket. False: its endpoint, or its backend, takes none of the
  /// route's traffic now; it is not to be kept then, and the flow begins anew with its next datagram.
  bool resume(HandedFlow flow);
  /// Gives the flow to another process; to be ended next. `listening`: of the listener. nullopt: it has no socket.
  std::optional<HandedFlow> give(std::uint64_t listening);
  /// Sends datagrams of the client's to the endpoint; what they are made of may go afterwards.
  void forward(std::span<const net::Datagrams> datagrams);
  void end(std::string_view reason);
  bool ended() const { return ended_; }
  const UdpFlow& flow() const { return flow_; }
  /// Whether the client has sent more after it was answered.
  bool goes_on() const { return goes_on_; }
  net::Time last() const { return last_; }

  void drain() override;
  void cancel() override { end("cancelled"); }

 private:
  friend struct UdpSessionList;
  friend class UdpListener;

  /// The socket that is connected to the endpoint.
  class Upstream final : public net::Channel {
   public:
    explicit Upstream(UdpSession& session) : session_(session) {}
    void again() { report_again(); }

   private:
    void unattended(std::uint8_t events) override;
    UdpSession& session_;
  };

  void expired() override { end("idle-timeout"); }
  /// The rule of the program that is served now. \returns why there is none.
  std::optional<UdpDrop> decide_route();
  /// Of the program that is pinned. False: it is none that takes datagrams.
  bool use_backend(std::uint64_t id);
  /// Whether a backend may have it that has had it so far.
  bool keeps_backend(std::uint64_t id);
  std::optional<UdpDrop> choose_backend();
  /// `avoid`: another endpoint than this, where there is one; null: any.
  std::optional<UdpDrop> connect(const net::SocketAddress* avoid);
  void use_socket(net::Fd socket);
  void leave_endpoint();
  /// Looks for the route of the program that is served now. False: it has ended.
  bool follow_program();
  bool move_from(const net::SocketAddress& endpoint);
  /// Before a datagram: follows another program, and leaves an endpoint that takes no traffic. False: it has ended.
  bool up_to_date();
  void receive_answers();
  void answered(const net::Datagrams& datagrams);
  /// Sends and empties the queue. False: it has ended.
  bool send(net::DatagramQueue& queue);
  /// The endpoint's host says that nobody receives there.
  void refused();
  void log(std::string_view reason);
  net::Duration idle_timeout() const;

  Worker& worker_;
  std::shared_ptr<UdpListener> listener_;
  UdpFlow flow_;
  ClientConnection connection_;
  ProgramPin program_;
  std::optional<Decision> decision_;
  const program::BackendRecord* backend_ = nullptr;
  std::shared_ptr<BackendPool> pool_;
  std::shared_ptr<UpstreamEndpoint> endpoint_;
  Upstream upstream_;
  std::string header_;
  std::uint32_t seen_ = 0;  ///< of the pool's endpoints
  std::uint32_t attempts_ = 0;
  /// It tries out an open circuit; it counts among what the endpoint has in flight; it has room of the backend.
  bool probe_ = false;
  bool counted_ = false;
  bool has_room_ = false;
  /// The endpoint has answered since it was chosen, or last refused.
  bool answered_ = false;
  bool refused_ = false;
  bool awaits_ = false;  ///< the last datagram was the client's
  bool goes_on_ = false;
  bool in_streams_ = false;  ///< which list of the listener has it
  bool draining_ = false;
  bool ended_ = false;
  net::Time began_;
  net::Time chosen_at_{};
  net::Time last_{};
  net::SocketAddress address_{};  ///< of the last endpoint
  std::uint64_t datagrams_up_ = 0;
  std::uint64_t datagrams_down_ = 0;
  std::uint64_t bytes_up_ = 0;
  std::uint64_t bytes_down_ = 0;
  UdpSession* previous_udp_ = nullptr;
  UdpSession* next_udp_ = nullptr;
};

}  // namespace edge::runtime
