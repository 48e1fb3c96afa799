// Forwarded message heads: what an intermediary removes, adds and rewrites (RFC 9110 §7.6, rule D11).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http1/head.h"
#include "net/http1/write.h"
#include "program/filters.h"
#include "runtime/observe/trace/tracer.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime {

/// Returns this proxy's name in Via, with the version of HTTP that the message was received in (RFC 9110 §7.6.3).
constexpr std::string_view via_name(std::uint8_t http, std::uint8_t minor) {
  return http == 2 ? "2 edge" : minor == 0 ? "1.0 edge" : "1.1 edge";
}
/// Returns Max-Forwards of an OPTIONS request (RFC 9110 §7.6.2); nullopt: absent, or not a number.
std::optional<std::uint64_t> max_forwards(const net::http1::RequestHead& head);

struct ForwardedHead {
  const net::http1::RequestHead& head;
  std::string_view path;
  /// Replaces the client's Host; empty: the client's is kept.
  std::string_view host;
  std::string_view peer;
  /// The peer is a trusted proxy: the forwarding headers that it sent are kept.
  bool peer_trusted;
  std::string_view scheme;
  /// Major version of HTTP of the client's connection.
  std::uint8_t http;
  std::string_view request_id;
  const program::FieldEdits& edits;
  /// The body is buffered before it is sent: finish_request_head writes the framing fields once they are known.
  bool unframed = false;
  /// The client requests WebSocket, and may use it.
  bool websocket = false;
  /// Edits from authentication, such as identity headers; null: none.
  const RequestEdits* identity = nullptr;
  /// Null: trace context headers are forwarded unchanged.
  const trace::RequestTrace* trace = nullptr;
};
void write_request_head(const ForwardedHead& from, net::http1::HeadWriter& out);
/// Ends a head that was written unframed. No length: the body is chunked.
void finish_request_head(std::optional<std::uint64_t> length, net::http1::HeadWriter& out);

/// Returns whether a request asks to upgrade to WebSocket (RFC 6455 §4.1), the only upgrade that is supported. A
/// request with a body, or that offers other protocols too, is served without the upgrade (RFC 9110 §7.8).
bool asks_for_websocket(const net::http1::RequestHead& head);
/// Returns whether a 101 response accepts the WebSocket upgrade (RFC 6455 §4.2.2).
bool switches_to_websocket(const net::http1::ResponseHead& head);

/// How a response body is framed for the client; may differ from the upstream's framing.
enum class BodyOut : std::uint8_t { kAsIs, kChunked, kUntilClose };

/// X-Edge-Reason of a response that is truncated on purpose (rule D7).
inline constexpr std::string_view kResponseCut = "response-cut";

/// X-Edge-Reason of a backend's error whose body a page replaces.
inline constexpr std::string_view kErrorPage = "error-page";

/// What changes in a response head because the body is not the upstream's, or not sent by the upstream.
struct BodyChange {
  /// Content-Encoding; empty: the proxy does not encode.
  std::string_view coding;
  /// The body depends on the client's Accept-Encoding (rule D6): Vary says so.
  bool varies = false;
  /// The validator is made weak, because the bytes differ from the upstream's (RFC 9110 §8.8.1).
  bool weak_validator = false;
  /// The body is truncated.
  bool cut = false;
  /// The upstream's Content-Length is removed; `length` is written instead, if there is one.
  bool reframed = false;
  std::optional<std::uint64_t> length;
  /// Further fields, as lines.
  std::string_view extra;
};

struct ReturnedHead {
  const net::http1::ResponseHead& head;
  BodyOut body;
  /// The Connection field: `close`, `keep-alive` for a client of HTTP/1.0, or none.
  std::string_view connection;
  /// For a response without Date (RFC 9110 §6.6.1).
  std::string_view date;
  /// Major version of HTTP of the backend's connection.
  std::uint8_t http;
  const program::FieldEdits& edits;
  const AddedFields& added;
  /// Null: the body is forwarded unchanged.
  const BodyChange* change = nullptr;
  /// The body depends on the client's Accept: Vary says so (RFC 9110 §12.5.5).
  bool varies_by_accept = false;
};
/// Writes the head; for status 101 with the upgrade to WebSocket.
void write_response_head(const ReturnedHead& from, net::http1::HeadWriter& out);
/// Writes the head of a 1xx response for the client.
void write_interim_head(const net::http1::ResponseHead& head, net::http1::HeadWriter& out);

}  // namespace edge::runtime
