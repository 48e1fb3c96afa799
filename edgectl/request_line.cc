#include "edgectl/request_line.h"

#include <algorithm>
#include <charconv>

#include "base/hostname.h"
#include "base/path.h"

namespace edge::edgectl {
namespace {

Error invalid(const std::string& text) { return {ErrorCode::kInvalidArgument, text}; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// RFC 9110 §5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

}  // namespace

Result<TypedRequest> TypedRequest::parse(const std::string& line, const std::vector<std::string>& fields,
                                         const std::string& source) {
  TypedRequest request;
  std::string_view rest = trimmed(line);
  if (const std::size_t space = rest.find(' '); space != std::string_view::npos) {
    request.method_ = rest.substr(0, space);
    rest = trimmed(rest.substr(space + 1));
  }
  if (!is_token(request.method_)) return invalid("`" + request.method_ + "` is no method");
  if (Status status = request.parse_url(rest); !status) return status.error();
  for (const std::string& field : fields) {
    const std::size_t colon = field.find(':');
    const std::string_view name = std::string_view(field).substr(0, colon);
    if (colon == std::string::npos || !is_token(name)) {
      return invalid("-H takes `name: value`, not `" + field + "`");
    }
    std::string value(trimmed(std::string_view(field).substr(colon + 1)));
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (lower == "host") {
      if (Status status = request.parse_authority(value); !status) return status.error();
      continue;
    }
    request.headers_.emplace_back(std::move(lower), std::move(value));
  }
  const auto address = parse_ip(source);
  if (!address) return invalid("--source takes an IP address, not `" + source + "`");
  request.source_ = *address;
  return request;
}

Status TypedRequest::parse_url(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) {
    return invalid("`" + std::string(url) + "` is no URL; write it as http://host/path");
  }
  const std::string_view scheme = url.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https")
    return invalid("the scheme is http or https, not `" + std::string(scheme) + "`");
  port_ = scheme == "https" ? 443 : 80;
  url.remove_prefix(scheme_end + 3);
  url = url.substr(0, url.find('#'));
  const std::size_t path_begin = std::min(url.find_first_of("/?"), url.size());
  if (Status status = parse_authority(url.substr(0, path_begin)); !status) return status;
  std::string_view target = url.substr(path_begin);
  if (const std::size_t question = target.find('?'); question != std::string_view::npos) {
    query_ = target.substr(question + 1);
    target = target.substr(0, question);
  }
  if (target.empty()) target = "/";
  std::string buffer(target.size() + 1, '\0');
  const auto path = normalise_path(target, buffer.data());
  if (!path) return invalid("the path `" + std::string(target) + "` would be answered 400");
  path_ = *path;
  return {};
}

Status TypedRequest::parse_authority(std::string_view authority) {
  char buffer[256];
  const auto host = canonical_host(authority, buffer);
  if (!host || host->empty()) return invalid("`" + std::string(authority) + "` is no host");
  host_ = *host;
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) return {};
  const std::string_view digits = authority.substr(colon + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), port_);
  port_written_ = !digits.empty();
  return {};
}

program::RequestView TypedRequest::view() const {
  fields_.clear();
  for (const auto& [name, value] : headers_) fields_.push_back({name, value});
  return {method_, host_, path_, query_, fields_, source_};
}

}  // namespace edge::edgectl
