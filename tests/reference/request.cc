#include "tests/reference/request.h"

#include <charconv>

#include "base/hostname.h"
#include "base/path.h"
#include "program/claim_field.h"

namespace edge::reference {
namespace {

/// The next word of `rest`; a word in single quotes may hold blanks.
std::string_view next_word(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const bool quoted = rest.starts_with('\'');
  if (quoted) rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find(quoted ? '\'' : ' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

/// Sets host and port from an authority. False when the host is no valid one.
bool take_authority(std::string_view authority, OwnedRequest& request) {
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), request.port);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return false;
  }
  if (authority.empty()) return true;
  char buffer[256];
  const auto host = canonical_host(authority, buffer);
  if (host) request.host = *host;
  return host.has_value();
}

/// Sets path and query from the target that follows the authority. False when the path is refused.
bool take_target(std::string_view target, OwnedRequest& request) {
  const std::size_t question = target.find('?');
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  const std::string_view raw = target.substr(0, question);
  if (raw == "*") {
    request.path = "*";
    return true;
  }
  std::string buffer(raw.size() + 1, '\0');
  const auto path = normalise_path(raw.empty() ? "/" : raw, buffer.data());
  if (path) request.path = std::string(*path);
  return path.has_value();
}

ParsedRequest refused(std::string_view why) { return {std::nullopt, std::string(why)}; }

}  // namespace

RequestViewOf::RequestViewOf(const OwnedRequest& request) {
  for (const auto& [name, value] : request.headers) fields_.push_back({name, value});
  claims_ = program::claim_fields(request.claims);
  for (const auto& [name, value] : claims_) fields_.push_back({name, value});
  view_ = {request.method, request.host, request.path, request.query, fields_, request.source};
}

ParsedRequest parse_request_line(std::string_view line) {
  constexpr std::string_view kScheme = "http://";
  OwnedRequest request;
  request.method = next_word(line);
  std::string_view url = next_word(line);
  if (!url.starts_with(kScheme)) return refused("a request line is METHOD http://host/path");
  url.remove_prefix(kScheme.size());
  const std::size_t end = std::min(url.find_first_of("/?*"), url.size());
  if (!take_authority(url.substr(0, end), request)) return refused("host");
  if (!take_target(url.substr(end), request)) return refused("path");
  request.source = *parse_ip("192.0.2.1");
  while (!line.empty()) {
    const std::string_view word = next_word(line);
    if (word.empty()) continue;
    const std::string_view value = next_word(line);
    if (word == "-H") {
      const std::size_t colon = value.find(':');
      if (colon == std::string_view::npos) return refused("a header is 'name: value'");
      std::string_view text = value.substr(colon + 1);
      while (text.starts_with(' ')) text.remove_prefix(1);
      request.headers.emplace_back(value.substr(0, colon), text);
    } else if (word == "--claim") {
      const std::size_t equals = value.find('=');
      if (equals == std::string_view::npos) return refused("a claim is 'name=value'");
      request.claims.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else if (const auto address = parse_ip(value); address && word == "from") {
      request.source = *address;
    } else if (address && word == "to") {
      request.destination = *address;
    } else {
      return refused("unknown word: " + std::string(word));
    }
  }
  return {std::move(request), {}};
}

std::string request_line(const OwnedRequest& request) {
  std::string line = request.method + " http://" + request.host;
  if (request.port != 80) line += ":" + std::to_string(request.port);
  line += request.path;
  if (!request.query.empty()) line += "?" + request.query;
  for (const auto& [name, value] : request.headers) line.append(" -H '").append(name).append(": ").append(value) += "'";
  for (const auto& [name, value] : request.claims) {
    line.append(" --claim '").append(name).append("=").append(value) += "'";
  }
  line += " from " + to_string(request.source);
  if (request.destination) line += " to " + to_string(*request.destination);
  return line;
}

}  // namespace edge::reference
