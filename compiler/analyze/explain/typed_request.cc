#include "compiler/analyze/explain/typed_request.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/path.h"
#include "base/text/ascii.h"

namespace edge::compiler::analyze {
namespace {

Error invalid(const std::string& text) { return {ErrorCode::kInvalidArgument, text}; }

}  // namespace

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

Status TypedRequest::set_method(std::string_view method) {
  if (!is_token(method)) return invalid("`" + std::string(method) + "` is no method");
  request.method = method;
  return {};
}

Status TypedRequest::set_url(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) {
    return invalid("`" + std::string(url) + "` is no URL; write it as http://host/path");
  }
  const std::string_view scheme = url.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https")
    return invalid("the scheme is http or https, not `" + std::string(scheme) + "`");
  request.port = scheme == "https" ? 443 : 80;
  url.remove_prefix(scheme_end + 3);
  url = url.substr(0, url.find('#'));
  const std::size_t path_begin = std::min(url.find_first_of("/?"), url.size());
  if (Status status = set_authority(url.substr(0, path_begin)); !status) return status;
  const std::string& host = request.host;
  if (!host.starts_with('[') && !parse_ip(host)) server_name = host;
  std::string_view target = url.substr(path_begin);
  if (const std::size_t question = target.find('?'); question != std::string_view::npos) {
    request.query = target.substr(question + 1);
    target = target.substr(0, question);
  }
  if (target.empty()) target = "/";
  std::string buffer(target.size() + 1, '\0');
  const auto path = normalise_path(target, buffer.data());
  if (!path) return invalid("the path `" + std::string(target) + "` would be answered 400");
  request.path = *path;
  return {};
}

Status TypedRequest::add_header(std::string_view name, std::string_view value) {
  if (!is_token(name)) return invalid("`" + std::string(name) + "` is no field name");
  std::string lower = ascii_lower(name);
  if (lower == "host") return set_authority(value);
  request.headers.emplace_back(std::move(lower), value);
  return {};
}

Status TypedRequest::set_authority(std::string_view authority) {
  char buffer[256];
  const auto host = canonical_host(authority, buffer);
  if (!host || host->empty()) return invalid("`" + std::string(authority) + "` is no host");
  request.host = *host;
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) return {};
  const std::string_view digits = authority.substr(colon + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), request.port);
  port_written = !digits.empty();
  return {};
}

}  // namespace edge::compiler::analyze
