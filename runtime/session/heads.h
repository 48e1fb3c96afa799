// Heads as they are sent on: what an intermediary removes, adds and rewrites (RFC 9110 §7.6, rule D11).
#pragma once

#include <string_view>

#include "net/http1/head.h"
#include "net/http1/write.h"
#include "program/filters.h"
#include "runtime/policy/added_fields.h"

namespace edge::runtime {

/// Our name in Via (RFC 9110 §7.6.3).
inline constexpr std::string_view kViaName = "1.1 edge";

struct ForwardedHead {
  const net::http1::RequestHead& head;
  std::string_view path;
  /// Written in place of the client's; empty: the client's stays.
  std::string_view host;
  std::string_view peer;
  /// The peer is a trusted proxy: what it says about the client stands.
  bool peer_trusted;
  std::string_view scheme;
  std::string_view request_id;
  const program::FieldEdits& edits;
};
void write_request_head(const ForwardedHead& from, net::http1::HeadWriter& out);

/// How a response's body goes to the client; may differ from how it came.
enum class BodyOut : std::uint8_t { kAsIs, kChunked, kUntilClose };

struct ReturnedHead {
  const net::http1::ResponseHead& head;
  BodyOut body;
  /// The Connection field: `close`, `keep-alive` for a client of HTTP/1.0, or none.
  std::string_view connection;
  /// For a response without one (RFC 9110 §6.6.1).
  std::string_view date;
  const program::FieldEdits& edits;
  const AddedFields& added;
};
void write_response_head(const ReturnedHead& from, net::http1::HeadWriter& out);
/// A 1xx response on its way to the client.
void write_interim_head(const net::http1::ResponseHead& head, net::http1::HeadWriter& out);

}  // namespace edge::runtime
