#include "program/filters.h"

#include <algorithm>
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

bool is_reserved_field(std::string_view name) {
  return std::ranges::any_of(kReservedFields, [&](std::string_view one) { return same_field(one, name); });
}

bool is_reserved_from_policies(std::string_view name) {
  return is_reserved_field(name) ||
         std::ranges::any_of(kProxyFields, [&](std::string_view one) { return same_field(one, name); });
}

bool FieldEdits::drops(std::string_view name) const {
  for (const FilterRecord& filter : filters_) {
    const Edit what = edit(filter);
    if (what != Edit::kSet && what != Edit::kRemove) continue;
    const std::string_view edited = section_.string(filter.name);
    if (same_field(edited, name) && !is_reserved_field(edited)) return true;
  }
  return false;
}

bool FieldEdits::names(std::string_view name) const {
  for (const FilterRecord& filter : filters_) {
    if (edit(filter) != Edit::kNone && same_field(section_.string(filter.name), name)) return true;
  }
  return false;
}

bool FieldEdits::stays(std::size_t i) const {
  const Edit what = edit(filters_[i]);
  if (what != Edit::kSet && what != Edit::kAdd) return false;
  const std::string_view name = section_.string(filters_[i].name);
  if (is_reserved_field(name)) return false;
  return std::ranges::none_of(filters_.subspan(i + 1), [&](const FilterRecord& later) {
    const Edit next = edit(later);
    return (next == Edit::kSet || next == Edit::kRemove) && same_field(section_.string(later.name), name);
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
    if (filter.op == FilterOp::kRewriteHost) result.host = section.string(filter.value);
    if (filter.op == FilterOp::kRewriteFullPath) result.path = std::string(section.string(filter.value));
    if (filter.op == FilterOp::kRewritePrefix) {
      result.path = replace_prefix(path, filter.detail, section.string(filter.value));
    }
  }
  return result;
}

std::string_view host_of_copies(const SectionView& section, const MirrorRecord& mirror) {
  if (mirror.details == 0) return {};
  return section.string(section.array(section.header<HostHeader>().filters)[mirror.details - 1].value);
}

SessionSettings session_settings(const SectionView& section, std::span<const FilterRecord> filters) {
  SessionSettings settings;
  for (const FilterRecord& filter : filters) {
    if (keeps_sessions(filter.op)) {
      settings.name = section.string(filter.name);
      settings.path = section.string(filter.value);
      settings.by_header = filter.op == FilterOp::kSessionHeader;
    }
    if (filter.op == FilterOp::kSessionPermanent) settings.cookie_age_s = filter.detail;
    if (filter.op == FilterOp::kSessionTimeout) settings.timeout_s = filter.detail;
    if (filter.op == FilterOp::kSessionIdle) settings.idle_s = filter.detail;
  }
  return settings;
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
    const std::uint32_t port = redirect_port(filter);
    Redirect result;
    result.status = static_cast<int>(redirect_status(filter));
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
