// One stream of a ServerConnection: the request is read, and the response written, as HTTP/1.1 text.
//
// Has two owners: nghttp2 while the stream is open, and the session by its channel's layer. Destroyed with the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "net/frame_pool.h"
#include "net/http2/incoming_text.h"
#include "net/http2/outgoing_body.h"
#include "net/http2/request_text.h"
#include "net/http2/response_reader.h"
#include "net/layer.h"
#include "net/loop.h"

namespace edge::net::http2 {

class ServerConnection;

class ServerStream {
 public:
  ServerStream(ServerConnection& connection, std::size_t& outgoing, std::int32_t id)
      : connection_(&connection), out_(outgoing), id_(id) {}
  ServerStream(const ServerStream&) = delete;
  ServerStream& operator=(const ServerStream&) = delete;
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) { free_frame(memory, size); }

  /// Returns the layer for a session's channel. To be called once.
  std::unique_ptr<Layer> attach();

  // Called by the session through its layer.
  Transfer receive(Channel& channel, std::span<char> into);
  Transfer send(Channel& channel, std::span<const iovec> pieces);
  std::size_t appetite();
  bool finish();
  void reset();
  void detach();

 private:
  friend class ServerConnection;
  friend struct ServerCallbacks;
  class SessionLayer;

  // Called by the connection.
  void request_came(BodyForm form, http1::Method method);
  void data_came(std::string_view data);
  void request_ended();
  /// `size` bytes of the body have been sent.
  void sent(std::size_t size);
  /// nghttp2 has closed the stream; `whole`: the response was sent completely.
  void closed(bool whole);

  void credit(std::size_t taken);
  bool take_response(std::string_view text);
  bool output_done() const { return reader_.ended() && out_.empty(); }

  /// Null once the stream is closed.
  ServerConnection* connection_;
  Channel* channel_ = nullptr;
  IncomingText in_;
  /// Bytes of DATA for which the window was not opened again yet.
  std::size_t owed_ = 0;
  ResponseReader reader_{http1::Method::kGet, false};
  /// Body of the response that waits for the window.
  OutgoingBody out_;
  ServerStream* previous_ = nullptr;
  ServerStream* next_ = nullptr;
  ServerStream* next_opened_ = nullptr;
  std::int32_t id_;
  bool attached_ = false;
  bool opened_ = false;
  /// The response's end was sent.
  bool response_sent_ = false;
  /// nghttp2 was told to defer DATA.
  bool deferred_ = false;
  bool was_reset_ = false;
  bool counted_left_ = false;
  bool counted_given_ = false;
};

}  // namespace edge::net::http2
