// The cache key of a stored response. Compared byte for byte: a hash only finds candidates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http1/head.h"

namespace edge::runtime::cache {

/// The target URI as the client sent it, by which invalidation and purging select.
struct Target {
  std::string_view scheme;
  std::string_view host;  ///< canonical
  std::string_view path;  ///< normalised
  std::string_view query;
  bool has_query = false;
};

/// The route, rule, backend and rewrite that lead to the response: the same URI may have another response by another
/// way.
struct Way {
  std::string_view name_space;
  std::string_view route;
  std::uint16_t rule = 0;
  std::uint64_t backend = 0;
  std::string_view host;  ///< as forwarded
  std::string_view path;  ///< as forwarded
  /// Index among the rule's backends, where each is sent a different head; a backend may occur twice.
  std::uint32_t position = 0;
  std::string_view origin{};  ///< see forwarded_origin
};

/// Returns what else the backend learns of the URI that the client sent, and may answer by (*safe*): X-Forwarded-Host
/// where the forwarded `host` is not what the client wrote, and what a trusted proxy states of host, scheme, port and
/// path. Not the client's address.
std::string forwarded_origin(const net::http1::RequestHead& head, bool peer_trusted, std::string_view host);

/// As text, so that equal texts are equal keys. All ways share the part `target`.
struct Key {
  std::string target;
  std::string way;

  friend bool operator==(const Key&, const Key&) = default;
  std::size_t bytes() const { return target.size() + way.size(); }
};
std::string target_text(const Target& target);
Key make_key(const Target& target, const Way& way);
/// Returns the target that a key was made from. Views of the key.
Target target_of(const Key& key);
std::string_view route_of(const Key& key);  ///< `namespace/name`

/// Returns the URI in a Location or Content-Location of `base` when it has the same origin (RFC 9111 §4.4); in the form
/// of target_text.
std::optional<std::string> same_origin_target(const Target& base, std::string_view reference);

/// Returns the request's values of the fields that Vary names (RFC 9111 §4.1), as text; nullopt when they are too many
/// or too long to store, or not valid field names. Empty when the response has no Vary.
std::optional<std::string> selection_of(const net::http1::HeadFields& response, const net::http1::HeadFields& request);
/// Returns the values of the same fields in another request.
std::string reselect(std::string_view selection, const net::http1::HeadFields& request);
/// Returns whether the stored response with this selection matches a request.
bool selects(std::string_view selection, const net::http1::HeadFields& request);

}  // namespace edge::runtime::cache
