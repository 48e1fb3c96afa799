// One stream of a ClientConnection, as the layer of a session's channel: the session writes a request and reads the
// response as HTTP/1.1 text. Closing the channel ends the stream: what was incomplete is cancelled.
//
// A request for WebSocket becomes an extended CONNECT (RFC 8441) where the backend supports it, and waits for the
// backend's SETTINGS; else it is sent as a plain request without its Upgrade. One for a tunnel of TCP (tcp_tunnel.h)
// becomes a CONNECT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/buffer.h"
#include "net/frame_pool.h"
#include "net/http1/head.h"
#include "net/http2/incoming_text.h"
#include "net/http2/outgoing_body.h"
#include "net/http2/request_reader.h"
#include "net/layer.h"
#include "net/loop.h"

namespace edge::net::http2 {

class ClientConnection;

class ClientStream final : public Layer {
 public:
  ClientStream(ClientConnection& connection, std::size_t& outgoing) : connection_(&connection), out_(outgoing) {}
  ~ClientStream() override;
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) { free_frame(memory, size); }

  Transfer receive(Channel& channel, std::span<char> into) override;
  Transfer send(Channel& channel, std::span<const iovec> pieces) override;
  std::size_t appetite() override;
  bool finish(Channel& channel) override;
  void reset(Channel& channel) override;
  bool untouched() const override { return untouched_; }
  std::string_view sent_in_vain() const override { return untouched_ ? kept_.view() : std::string_view{}; }

 private:
  friend class ClientConnection;
  friend struct ClientCallbacks;

  // Called by the connection.
  void data_came(std::string_view data);
  void response_ended();
  /// `size` bytes of the request's body have been sent.
  void sent(std::size_t size);
  /// `refused`: the backend is known not to have processed the request.
  void closed(bool refused);
  void head_came();
  void settings_came();

  void keep(std::span<const iovec> pieces);
  bool take_request(std::string_view text);
  bool begin(const http1::RequestHead& head);

  /// Null once the stream is closed.
  ClientConnection* connection_;
  Channel* channel_ = nullptr;
  IncomingText in_;
  /// Bytes of DATA for which the window was not opened again yet.
  std::size_t owed_ = 0;
  /// Bytes of DATA that the session has read, until the window is widened.
  std::size_t read_ = 0;
  bool wide_ = false;
  RequestReader reader_;
  /// The request as written, for a retry when the backend refuses it; until it answers, or this grows too large.
  Buffer kept_;
  bool keeps_ = true;
  /// Body of the request that waits for the window.
  OutgoingBody out_;
  /// For a WebSocket request: the expected Sec-WebSocket-Accept (RFC 6455 §4.2.2). Empty: a tunnel of TCP.
  std::unique_ptr<const std::string> accept_;
  ClientStream* previous_ = nullptr;
  ClientStream* next_ = nullptr;
  /// 0: the request's head was not submitted yet.
  std::int32_t id_ = 0;
  http1::Method method_ = http1::Method::kOther;
  /// The final head was received; what follows are trailers.
  bool has_head_ = false;
  /// The request's head was sent.
  bool head_sent_ = false;
  /// nghttp2 was told to defer DATA.
  bool deferred_ = false;
  /// Its head is in kept_, until it is known whether the backend supports WebSocket.
  bool waits_for_settings_ = false;
  bool untouched_ = false;
};

}  // namespace edge::net::http2
