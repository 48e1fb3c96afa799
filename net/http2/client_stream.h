// One stream of a ClientConnection, as the layer of a session's channel: a request is written to it as text of HTTP/1.1
// and the response read from it. Closing the channel ends the stream: what was not complete is cancelled.
//
// A request that asks for a WebSocket becomes an extended CONNECT (RFC 8441) where the backend takes those, and waits
// until the backend has said whether it does; else it goes as the plain request that it is without its Upgrade.
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

  // From the connection.
  void data_came(std::string_view data);
  void response_ended();
  /// So much of the request's body is on its way.
  void sent(std::size_t size);
  /// `refused`: the backend says, or it is known, that it did nothing with the request.
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
  /// DATA that no window was opened for yet.
  std::size_t owed_ = 0;
  /// DATA that its session has read, until the window is wide.
  std::size_t read_ = 0;
  bool wide_ = false;
  RequestReader reader_;
  /// The request as it was written, for a backend that does not look at it; until it answers, or this grows too large.
  Buffer kept_;
  bool keeps_ = true;
  /// Body of the request that waits for a window.
  OutgoingBody out_;
  /// Of a WebSocket that is asked for: what the answer has to prove (RFC 6455 §4.2.2).
  std::unique_ptr<const std::string> accept_;
  ClientStream* previous_ = nullptr;
  ClientStream* next_ = nullptr;
  /// 0: its head was not written yet.
  std::int32_t id_ = 0;
  http1::Method method_ = http1::Method::kOther;
  /// The final head is there; what follows are trailers.
  bool has_head_ = false;
  /// The request's head has left.
  bool head_sent_ = false;
  /// nghttp2 was told that there is nothing to send for now.
  bool deferred_ = false;
  /// Its head is in kept_, until it is known whether the backend takes WebSockets.
  bool waits_for_settings_ = false;
  bool untouched_ = false;
};

}  // namespace edge::net::http2
