// What a stored response is an answer to. Compared whole, byte for byte: a hash only finds where to compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http1/head.h"

namespace edge::runtime::cache {

/// The target URI as the client named it: what invalidation and purge go by.
struct Target {
  std::string_view scheme;
  std::string_view host;  ///< canonical
  std::string_view path;  ///< normalised
  std::string_view query;
  bool has_query = false;
};

/// The way that leads to the answer: another route, backend or rewrite may answer the same URI otherwise.
struct Way {
  std::string_view name_space;
  std::string_view route;
  std::uint16_t rule = 0;
  std::uint64_t backend = 0;
  std::string_view host;  ///< as forwarded
  std::string_view path;  ///< as forwarded
  /// Among the rule's backends, where each is sent another head; one may stand there twice.
  std::uint32_t position = 0;
  std::string_view origin{};  ///< see forwarded_origin
};

/// What else the backend is told of the URI that the client named, and may answer by (*safe*): by X-Forwarded-Host
/// where `host`, which is forwarded, is not what the client wrote; and by what a trusted proxy says of host, scheme and
/// port. Not the client's address.
std::string forwarded_origin(const net::http1::RequestHead& head, bool peer_trusted, std::string_view host);

/// As text, so that equal texts are equal keys. `target` is the part that all ways share.
struct Key {
  std::string target;
  std::string way;

  friend bool operator==(const Key&, const Key&) = default;
  std::size_t bytes() const { return target.size() + way.size(); }
};
std::string target_text(const Target& target);
Key make_key(const Target& target, const Way& way);
/// What a key was made of. Views of it.
Target target_of(const Key& key);
std::string_view route_of(const Key& key);  ///< `namespace/name`

/// The URI that a Location or Content-Location of `base` names, when it has the same origin (RFC 9111 §4.4); as
/// target_text gives it.
std::optional<std::string> same_origin_target(const Target& base, std::string_view reference);

/// The values by which a response was chosen (RFC 9111 §4.1), as text; nullopt when they are too many or too long to
/// keep, or no fields. Empty when the response does not vary.
std::optional<std::string> selection_of(const net::http1::HeadFields& response, const net::http1::HeadFields& request);
/// The same fields' values in another request.
std::string reselect(std::string_view selection, const net::http1::HeadFields& request);
/// Whether a request would have been given the response that has this selection.
bool selects(std::string_view selection, const net::http1::HeadFields& request);

}  // namespace edge::runtime::cache
