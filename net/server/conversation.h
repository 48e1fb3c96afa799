// One HTTP/1.1 connection, or one HTTP/2 stream as HTTP/1.1 text: requests one after the other, each read completely,
// passed to the handler, and answered at once or in pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/http1/parse.h"
#include "net/server/host.h"
#include "net/server/http1_conversation.h"

namespace edge::net::server {

class Conversation final : public Session, private Http1Conversation<Conversation> {
 public:
  using Kind = ConversationKind;

  Conversation(Host& host, std::shared_ptr<const Peer> peer, Transport transport, Kind kind)
      : Http1Conversation(host.loop(), std::move(transport), kind), host_(host), peer_(std::move(peer)) {}

  /// Runs until the connection ends, then has the host free it.
  void start() { run(); }
  void drain() override;
  void cancel() override { waiter_.cancel(); }

 private:
  friend class Http1Conversation<Conversation>;
  using Next = AfterRequest;
  /// Framing of the message, which is not part of the request.
  struct Framing {
    http1::Body body;
    bool keep_alive = true;
    bool old = false;  ///< HTTP/1.0: no chunks
    bool head_only = false;
    bool expects_continue = false;
  };
  class HeldBody;

  // Hooks of Http1Conversation.
  static constexpr bool kDrainsAtOnce = true;
  Loop& loop() { return host_.loop(); }
  std::span<char> room() { return host_.scratch_in(); }
  const http1::HeadLimits& head_limits() const { return host_.head_limits(); }
  http1::RequestHead& head() { return host_.head(); }
  bool draining() const { return host_.draining(); }
  Duration head_time() const { return host_.options().head_time; }
  Duration rest_time() const { return host_.options().idle_time; }
  Task<Next> serve();
  Task<Next> refuse_head();
  Task<bool> flush();
  void become_http2();
  void forget() { host_.forget(*this); }

  /// \returns the status to reject the request with; 0: the body was read; -1: the client disconnected.
  Task<int> read_body(const Framing& framing, HeldBody& held, std::string& body);
  Task<Next> answer(Reply reply, Framing framing, Next then);
  /// `announced`: the Content-Length of the head.
  Task<bool> send_stream(BodySource& source, bool chunked, std::optional<std::size_t> announced);
  /// Waits until the source has data. \returns false when the client disconnected.
  Task<bool> await_source();
  /// Sends all of it, as fast as the client accepts it. \returns false when the connection is broken.
  Task<bool> put(std::string_view bytes);

  Host& host_;
  std::shared_ptr<const Peer> peer_;
  bool awaits_source_ = false;
  bool source_ready_ = false;
};

}  // namespace edge::net::server
