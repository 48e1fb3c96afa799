#include "tests/support/http2_bridge.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <unistd.h>

#include "base/text/ascii.h"
#include "tests/support/connection.h"

namespace edge::test {
namespace {

/// Held for a side that takes nothing, before the other side is not read from any more.
constexpr std::size_t kEnough = 64 * 1024;

/// Removes and returns what stands before `end`.
std::string cut(std::string& text, std::string_view end) {
  const std::size_t at = text.find(end);
  std::string result = text.substr(0, at);
  text.erase(0, at == std::string::npos ? at : at + end.size());
  return result;
}

bool shake_hands(TlsEnd& tls, int fd) {
  for (int waits = 0; waits < 1000; ++waits) {
    const int done = tls.handshake();
    if (done >= 0) return done == 1;
    pollfd ready{fd, POLLIN, 0};
    ::poll(&ready, 1, 20);
  }
  return false;
}

}  // namespace

struct Http2Bridge::Impl {
  enum class Body { kNone, kLength, kChunked };

  // ---- Request: from the script's text to a stream ------------------------------------------------------------------

  /// Takes what it can of `from_script`.
  void read_requests() {
    for (;;) {
      if (stream == 0) {
        const std::size_t end = from_script.find("\r\n\r\n");
        if (end == std::string::npos) return;
        std::string head = cut(from_script, "\r\n\r\n");
        begin_request(head);
      }
      if (body_ended || !read_body()) return;
    }
  }

  void begin_request(std::string& head) {
    std::string line = cut(head, "\r\n");
    std::vector<std::pair<std::string, std::string>> fields = {
        {":method", cut(line, " ")}, {":path", cut(line, " ")}, {":scheme", tls != nullptr ? "https" : "http"}};
    body = Body::kNone;
    left = 0;
    chunk_left = 0;
    while (!head.empty()) {
      std::string field = cut(head, "\r\n");
      std::string name = cut(field, ":");
      field.erase(0, std::min(field.find_first_not_of(' '), field.size()));
      if (equals_ignoring_case(name, "Host")) {
        fields.insert(fields.begin() + 3, {":authority", field});
      } else if (equals_ignoring_case(name, "Transfer-Encoding")) {
        body = Body::kChunked;
      } else if (!equals_ignoring_case(name, "Connection") && !equals_ignoring_case(name, "Keep-Alive")) {
        if (equals_ignoring_case(name, "Content-Length")) {
          body = Body::kLength;
          left = std::stoul(field);
        }
        fields.emplace_back(ascii_lower(name), field);
      }
    }
    head_only = fields[0].second == "HEAD";
    body_ended = body == Body::kNone || (body == Body::kLength && left == 0);
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : fields) pairs.push_back(pair_of(name, value));
    nghttp2_data_provider provider{{0}, read_data};
    head_sent = chunked = false;
    answer.clear();
    stream =
        nghttp2_submit_request(session, nullptr, pairs.data(), pairs.size(), body_ended ? nullptr : &provider, this);
  }

  /// \returns whether it got anywhere.
  bool read_body() {
    const std::size_t before = from_script.size();
    if (body == Body::kLength) {
      const std::size_t size = std::min(left, from_script.size());
      data += from_script.substr(0, size);
      from_script.erase(0, size);
      left -= size;
      body_ended = left == 0;
    } else if (chunk_left == 0) {
      if (from_script.find("\r\n") == std::string::npos) return false;
      const std::size_t size = std::stoul(from_script, nullptr, 16);
      if (size == 0) {
        // The trailer section, up to its empty line.
        const std::size_t end = from_script.find("\r\n\r\n");
        if (end == std::string::npos) return false;
        trailers = from_script.substr(from_script.find("\r\n") + 2, end - from_script.find("\r\n"));
        from_script.erase(0, end + 4);
        body_ended = true;
      } else {
        cut(from_script, "\r\n");
        chunk_left = size + 2;
      }
    } else {
      const std::size_t size = std::min(chunk_left, from_script.size());
      const std::size_t content = std::min(size, chunk_left > 2 ? chunk_left - 2 : 0);
      data += from_script.substr(0, content);
      from_script.erase(0, size);
      chunk_left -= size;
    }
    nghttp2_session_resume_data(session, stream);
    return from_script.size() != before && !body_ended;
  }

  static nghttp2_nv pair_of(std::string& name, std::string& value) {
    return {reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()), name.size(),
            value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  static ssize_t read_data(nghttp2_session* session, std::int32_t id, std::uint8_t* into, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source*, void* self) {
    Impl& bridge = *static_cast<Impl*>(self);
    const std::size_t taken = bridge.data.copy(reinterpret_cast<char*>(into), size);
    bridge.data.erase(0, taken);
    if (bridge.data.empty() && bridge.body_ended) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      std::string lines = std::move(bridge.trailers);
      bridge.trailers.clear();
      std::vector<std::pair<std::string, std::string>> fields;
      while (!lines.empty()) {
        std::string line = cut(lines, "\r\n");
        const std::string name = ascii_lower(cut(line, ":"));
        if (!name.empty()) fields.emplace_back(name, line.substr(std::min(line.find_first_not_of(' '), line.size())));
      }
      if (!fields.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        std::vector<nghttp2_nv> pairs;
        for (auto& [field, value] : fields) pairs.push_back(pair_of(field, value));
        nghttp2_submit_trailer(session, id, pairs.data(), pairs.size());
      }
    } else if (taken == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(taken);
  }

  // ---- Response: from the stream to text ----------------------------------------------------------------------------

  static int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self) {
    Impl& bridge = *static_cast<Impl*>(self);
    const std::string field(reinterpret_cast<const char*>(name), name_size);
    const std::string content(reinterpret_cast<const char*>(value), value_size);
    if (field == ":status") {
      bridge.answer = "HTTP/1.1 " + content + (content == "200" ? " OK" : " ") + "\r\n";
      bridge.interim = content[0] == '1';
      bridge.bodiless = bridge.head_only || content == "204" || content == "304";
      bridge.sized = false;
    } else {
      bridge.answer += field + ": " + content + "\r\n";
      bridge.sized |= field == "content-length";
    }
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Impl& bridge = *static_cast<Impl*>(self);
    const bool ended = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_GOAWAY) bridge.going = true;
    if (frame->hd.type == NGHTTP2_HEADERS) {
      if (bridge.head_sent) {
        bridge.to_script += "0\r\n" + bridge.answer + "\r\n";
        bridge.answer.clear();
        return 0;
      }
      bridge.head_sent = !bridge.interim;
      bridge.chunked = bridge.head_sent && !bridge.sized && !bridge.bodiless;
      if (bridge.chunked) bridge.answer += ended ? "Content-Length: 0\r\n" : "Transfer-Encoding: chunked\r\n";
      bridge.to_script += bridge.answer + "\r\n";
      bridge.answer.clear();
      return 0;
    }
    if (frame->hd.type == NGHTTP2_DATA && ended && bridge.chunked) bridge.to_script += "0\r\n\r\n";
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* bytes, std::size_t size,
                     void* self) {
    Impl& bridge = *static_cast<Impl*>(self);
    std::array<char, 20> head{};
    if (bridge.chunked)
      bridge.to_script.append(head.data(),
                              static_cast<std::size_t>(std::snprintf(head.data(), head.size(), "%zx\r\n", size)));
    bridge.to_script.append(reinterpret_cast<const char*>(bytes), size);
    if (bridge.chunked) bridge.to_script += "\r\n";
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t, std::uint32_t error, void* self) {
    Impl& bridge = *static_cast<Impl*>(self);
    bridge.stream = 0;
    // An answer that was cut off ends the connection, as it does in HTTP/1.1.
    if (error != NGHTTP2_NO_ERROR) bridge.broken = true;
    return 0;
  }

  // ---- Both ---------------------------------------------------------------------------------------------------------

  void run() {
    while (!stopped) {
      std::array<pollfd, 2> fds = {{{script, 0, 0}, {proxy, 0, 0}}};
      const bool last_word = (going || broken || proxy_ended) && stream == 0;
      if (!script_ended && data.size() < kEnough && !last_word) fds[0].events |= POLLIN;
      if (!to_script.empty()) fds[0].events |= POLLOUT;
      if (!proxy_ended && to_script.size() < kEnough) fds[1].events |= POLLIN;
      if (!to_proxy.empty() || nghttp2_session_want_write(session) != 0) fds[1].events |= POLLOUT;
      const bool held = tls != nullptr && tls->holds_bytes() && (fds[1].events & POLLIN) != 0;
      ::poll(fds.data(), fds.size(), held ? 0 : 20);
      if (held) fds[1].revents |= POLLIN;
      if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) return;
      if ((fds[0].revents & POLLIN) != 0) script_ended = !receive(script, nullptr, from_script);
      read_requests();
      std::string bytes;
      if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !proxy_ended)
        proxy_ended = !receive(proxy, tls.get(), bytes);
      if (nghttp2_session_mem_recv(session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) < 0)
        return;
      read_requests();
      if (!send_to_proxy()) proxy_ended = true;
      if (!send(script, nullptr, to_script)) return;
      if (to_script.empty() && (last_word || proxy_ended || (script_ended && stream == 0))) return;
    }
  }

  bool send_to_proxy() {
    for (;;) {
      if (!send(proxy, tls.get(), to_proxy)) return false;
      if (!to_proxy.empty()) return true;
      const std::uint8_t* bytes = nullptr;
      const auto size = nghttp2_session_mem_send(session, &bytes);
      if (size <= 0) return size == 0;
      to_proxy.assign(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
  }

  /// \returns false at the end.
  static bool receive(int fd, TlsEnd* over, std::string& into) {
    std::array<char, 16 * 1024> bytes;
    const ssize_t got = over != nullptr ? over->receive(bytes.data(), bytes.size())
                                        : ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) into.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EAGAIN);
  }
  static bool send(int fd, TlsEnd* over, std::string& bytes) {
    if (bytes.empty()) return true;
    const ssize_t sent = over != nullptr ? over->send(bytes.data(), bytes.size())
                                         : ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) bytes.erase(0, static_cast<std::size_t>(sent));
    return sent >= 0 || errno == EAGAIN;
  }

  int script = -1;
  int proxy = -1;
  std::unique_ptr<TlsEnd> tls;
  nghttp2_session* session = nullptr;
  std::atomic<bool> stopped = false;
  std::thread thread;
  std::string from_script, to_script, to_proxy, data, trailers, answer;
  std::int32_t stream = 0;
  Body body = Body::kNone;
  std::size_t left = 0, chunk_left = 0;
  bool body_ended = false, head_only = false, head_sent = false, chunked = false, interim = false, sized = false;
  bool bodiless = false, going = false, broken = false, script_ended = false, proxy_ended = false;
};

Http2Bridge::Http2Bridge(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Http2Bridge>> Http2Bridge::open(std::uint16_t port, int& script, const TlsSide* tls) {
  const Result<int> proxy = Connection::dial(port);
  if (!proxy) return proxy.error();
  std::unique_ptr<TlsEnd> end = tls != nullptr ? tls->over(*proxy) : nullptr;
  const bool refused = end != nullptr && !shake_hands(*end, *proxy);
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    ::close(*proxy);
    return Error{ErrorCode::kUnavailable, "socketpair"};
  }
  script = pair[0];
  auto impl = std::make_unique<Impl>();
  impl->script = pair[1];
  impl->proxy = *proxy;
  impl->tls = std::move(end);
  // The script sees its connection closed.
  impl->stopped = refused;
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Impl::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Impl::on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Impl::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Impl::on_close);
  nghttp2_session_client_new(&impl->session, callbacks, impl.get());
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(impl->session, NGHTTP2_FLAG_NONE, nullptr, 0);
  Impl* self = impl.get();
  impl->thread = std::thread([self] {
    self->run();
    // Both ends see it at once.
    ::shutdown(self->script, SHUT_RDWR);
    ::shutdown(self->proxy, SHUT_RDWR);
  });
  return std::unique_ptr<Http2Bridge>(new Http2Bridge(std::move(impl)));
}

Http2Bridge::~Http2Bridge() {
  impl_->stopped = true;
  impl_->thread.join();
  nghttp2_session_del(impl_->session);
  ::close(impl_->script);
  ::close(impl_->proxy);
}

}  // namespace edge::test
