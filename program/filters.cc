#include "program/filters.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/field_name.h"

namespace edge::program {
namespace {

constexpr std::string_view kRequestIdToken = "%REQ_ID%";

std::string expand(std::string_view value, std::string_view request_id) {
  std::string result;
  for (;;) {
    const std::size_t at = value.find(kRequestIdToken);
    result += value.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += request_id;
    value.remove_prefix(at + kRequestIdToken.size());
  }
}

// Host and port of an authority; the port with its colon, empty without one.
std::pair<std::string_view, std::string_view> split_authority(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) return {authority, {}};
  return {authority.substr(0, colon), authority.substr(colon)};
}

}  // namespace

bool frames_message(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "connection",          "content-length",   "host", "http2-settings",    "keep-alive", "proxy-authenticate",
      "proxy-authorization", "proxy-connection", "te",   "transfer-encoding", "upgrade"};
  return std::ranges::any_of(kNames, [&](std::string_view one) { return same_field(one, name); });
}

FieldEdits::Kind FieldEdits::kind(const FilterRecord& filter) const {
  const auto of = [&](FilterOp set, FilterOp add, FilterOp remove) {
    if (filter.op == set) return Kind::kSet;
    if (filter.op == add) return Kind::kAdd;
    return filter.op == remove ? Kind::kRemove : Kind::kOther;
  };
  return side_ == Side::kRequest
             ? of(FilterOp::kRequestHeaderSet, FilterOp::kRequestHeaderAdd, FilterOp::kRequestHeaderRemove)
             : of(FilterOp::kResponseHeaderSet, FilterOp::kResponseHeaderAdd, FilterOp::kResponseHeaderRemove);
}

bool FieldEdits::drops(std::string_view name) const {
  for (const FilterRecord& filter : filters_) {
    const Kind what = kind(filter);
    if (what != Kind::kSet && what != Kind::kRemove) continue;
    const std::string_view edited = section_.string(filter.name);
    if (same_field(edited, name) && !frames_message(edited)) return true;
  }
  return false;
}

bool FieldEdits::names(std::string_view name) const {
  for (const FilterRecord& filter : filters_) {
    if (kind(filter) != Kind::kOther && same_field(section_.string(filter.name), name)) return true;
  }
  return false;
}

bool FieldEdits::stays(std::size_t i) const {
  const Kind what = kind(filters_[i]);
  if (what != Kind::kSet && what != Kind::kAdd) return false;
  const std::string_view name = section_.string(filters_[i].name);
  if (frames_message(name)) return false;
  return std::ranges::none_of(filters_.subspan(i + 1), [&](const FilterRecord& later) {
    const Kind next = kind(later);
    return (next == Kind::kSet || next == Kind::kRemove) && same_field(section_.string(later.name), name);
  });
}

std::string_view FieldEdits::value(std::size_t i, std::string& storage) const {
  const std::string_view value = section_.string(filters_[i].value);
  if (value.find(kRequestIdToken) == std::string_view::npos) return value;
  storage = expand(value, request_id_);
  return storage;
}

std::string replace_prefix(std::string_view path, std::size_t prefix, std::string_view value) {
  const std::string_view rest = path.substr(std::min(prefix, path.size()));
  std::string result(value);
  if (!rest.empty()) {
    while (!result.empty() && result.back() == '/') result.pop_back();
    if (rest.front() != '/') result += '/';
    result += rest;
  }
  if (result.empty() || result.front() != '/') result.insert(result.begin(), '/');
  return result;
}

Rewrite rewrite(const program::SectionView& section, std::span<const FilterRecord> filters, std::string_view path) {
  Rewrite result;
  for (const FilterRecord& filter : filters) {
    const std::string_view value = section.string(filter.value);
    if (filter.op == FilterOp::kRewriteHost) result.host = value;
    if (filter.op == FilterOp::kRewriteFullPath) result.path = std::string(value);
    if (filter.op == FilterOp::kRewritePrefix) result.path = replace_prefix(path, filter.detail, value);
  }
  return result;
}

std::optional<Redirect> redirect(const program::SectionView& section, std::span<const FilterRecord> filters,
                                 const RedirectRequest& request) {
  std::string_view scheme;
  std::string_view host;
  std::string path(request.path);
  for (const FilterRecord& filter : filters) {
    const std::string_view value = section.string(filter.value);
    if (filter.op == FilterOp::kRedirectScheme) scheme = value;
    if (filter.op == FilterOp::kRedirectHost) host = value;
    if (filter.op == FilterOp::kRedirectFullPath) path = value;
    if (filter.op == FilterOp::kRedirectPrefix) path = replace_prefix(request.path, filter.detail, value);
    if (filter.op != FilterOp::kRedirect) continue;

    const std::string_view to = scheme.empty() ? request.scheme : scheme;
    const auto [own_host, own_port] = split_authority(request.authority);
    const std::uint32_t port = filter.detail >> 16;
    Redirect result;
    result.status = static_cast<int>(filter.detail & 0xffff);
    result.location.append(to).append("://").append(host.empty() ? own_host : host);
    if (port != 0) {
      const bool usual = (to == "http" && port == 80) || (to == "https" && port == 443);
      if (!usual) result.location.append(":").append(std::to_string(port));
    } else if (scheme.empty() || scheme == request.scheme) {
      // The port that the client used reaches us; another scheme has its own.
      result.location.append(own_port);
    }
    result.location.append(path);
    if (request.has_query) result.location.append("?").append(request.query);
    return result;
  }
  return std::nullopt;
}

}  // namespace edge::program
