// Heads as they are sent on: what an intermediary removes, adds and rewrites (RFC 9110 §7.6, rule D11).
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

/// Our name in Via, behind the version of HTTP in which a message came (RFC 9110 §7.6.3).
constexpr std::string_view via_name(std::uint8_t http, std::uint8_t minor) {
  return http == 2 ? "2 edge" : minor == 0 ? "1.0 edge" : "1.1 edge";
}
/// How many more may forward a request of OPTIONS (RFC 9110 §7.6.2); nullopt: it does not say, or not as a number.
std::optional<std::uint64_t> max_forwards(const net::http1::RequestHead& head);

struct ForwardedHead {
  const net::http1::RequestHead& head;
  std::string_view path;
  /// Written in place of the client's; empty: the client's stays.
  std::string_view host;
  std::string_view peer;
  /// The peer is a trusted proxy: what it says about the client stands.
  bool peer_trusted;
  std::string_view scheme;
  /// Major version of HTTP that the client speaks.
  std::uint8_t http;
  std::string_view request_id;
  const program::FieldEdits& edits;
  /// The body is read before it is sent: what tells of its framing is written when it is known, see
  /// finish_request_head.
  bool unframed = false;
  /// The client asks to speak WebSocket, and may.
  bool websocket = false;
  /// What authentication says of the client; null: nothing.
  const RequestEdits* identity = nullptr;
  /// Null: what tells of a trace is a field like any other.
  const trace::RequestTrace* trace = nullptr;
};
void write_request_head(const ForwardedHead& from, net::http1::HeadWriter& out);
/// Ends a head that was written unframed. No length: the body goes in chunks.
void finish_request_head(std::optional<std::uint64_t> length, net::http1::HeadWriter& out);

/// Whether a request asks to go on with WebSocket (RFC 6455 §4.1): the one protocol that is let through. One with a
/// body, or that offers others too, is served as a request like any other (RFC 9110 §7.8).
bool asks_for_websocket(const net::http1::RequestHead& head);
/// Whether a response of status 101 does what was asked for (RFC 6455 §4.2.2).
bool switches_to_websocket(const net::http1::ResponseHead& head);

/// How a response's body goes to the client; may differ from how it came.
enum class BodyOut : std::uint8_t { kAsIs, kChunked, kUntilClose };

/// X-Edge-Reason of a response whose end is missing on purpose (rule D7).
inline constexpr std::string_view kResponseCut = "response-cut";

/// What a response's head says otherwise than its upstream did, because its body is not what came or does not come from
/// there.
struct BodyChange {
  /// Content-Encoding; empty: not coded by us.
  std::string_view coding;
  /// Clients with another Accept-Encoding get another body (rule D6).
  bool varies = false;
  /// A strong validator would promise the bytes that came (RFC 9110 §8.8.1).
  bool weak_validator = false;
  /// The end of the body is missing.
  bool cut = false;
  /// The body's length as it came is not to be told; `length` is, if there is one.
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
  /// For a response without one (RFC 9110 §6.6.1).
  std::string_view date;
  /// Major version of HTTP that the backend speaks.
  std::uint8_t http;
  const program::FieldEdits& edits;
  const AddedFields& added;
  /// Null: the body goes as it came.
  const BodyChange* change = nullptr;
};
/// Of a status 101 it says that WebSocket is what is spoken from there on.
void write_response_head(const ReturnedHead& from, net::http1::HeadWriter& out);
/// A 1xx response on its way to the client.
void write_interim_head(const net::http1::ResponseHead& head, net::http1::HeadWriter& out);

}  // namespace edge::runtime
