#include "runtime/policy/cors.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

using net::http1::HeadFields;
using net::http1::KnownField;
using net::http1::Method;

constexpr std::string_view kRequestMethod = "access-control-request-method";
constexpr std::string_view kRequestHeaders = "access-control-request-headers";
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

std::string_view field(const HeadFields& fields, std::string_view name) {
  for (const Field& field : fields.all()) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return {};
}

std::string joined(const program::SectionView& section, program::ArrayRef<program::StringRef> texts) {
  std::string out;
  for (const program::StringRef text : section.array(texts)) {
    out.append(out.empty() ? "" : ", ").append(section.string(text));
  }
  return out;
}

/// Labels of a host name: nothing in it can end the host and begin a port, a path or a user.
bool labels(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

/// `scheme://host` with or without a port, as RFC 6454 §6.2 has it; not `null`, which is any sandboxed page.
bool is_origin(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == 0 || end == std::string_view::npos) return false;
  const auto all = [](std::string_view of, std::string_view more) {
    return std::ranges::all_of(of, [&](char c) { return (c >= 'a' && c <= 'z') || more.find(c) != more.npos; });
  };
  if (!all(text.substr(0, end), "0123456789+-.")) return false;
  const std::string_view host = text.substr(end + 3);
  const std::size_t colon = host.find(':');
  if (!labels(host.substr(0, colon))) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = host.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
}

/// Names and commas alone: what a browser asks for may be said back to it.
bool list_of_tokens(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || std::string_view("!#$%&'*+-.^_`|~, ").find(c) != std::string_view::npos;
  });
}

bool is_token(std::string_view text) {
  return list_of_tokens(text) && text.find_first_of(", ") == std::string_view::npos;
}

/// One Origin, or none that counts: a browser sends one.
std::string_view origin_of(const HeadFields& fields) {
  return fields.repeated(KnownField::kOrigin) ? std::string_view() : fields.value(KnownField::kOrigin);
}

void line(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view preflight_method(const net::http1::RequestHead& head) {
  if (head.method != Method::kOptions || !head.fields.has(KnownField::kOrigin)) return {};
  return field(head.fields, kRequestMethod);
}

Cors::Cors(const program::SectionView& policies, const program::CorsRecord& settings)
    : credentials_(settings.allow_credentials != 0),
      everyone_(settings.allow_credentials == static_cast<std::uint32_t>(program::CorsCredentials::kEveryone)),
      methods_(joined(policies, settings.allow_methods)),
      headers_(joined(policies, settings.allow_headers)),
      exposed_(joined(policies, settings.expose_headers)) {
  for (const program::StringRef text : policies.array(settings.allow_origins)) {
    const std::string origin = ascii_lower(policies.string(text));
    const std::size_t star = origin.find('*');
    if (origin == "*") {
      any_ = true;
    } else if (star == std::string::npos) {
      exact_.push_back(origin);
    } else {
      patterns_.push_back({origin.substr(0, star), origin.substr(star + 1)});
    }
  }
  for (const program::StringRef text : policies.array(settings.expose_headers)) {
    // `*` means itself where credentials are sent (Fetch §3.2.5).
    const std::string_view name = policies.string(text);
    if (name != "*") exposed_by_name_.append(exposed_by_name_.empty() ? "" : ", ").append(name);
  }
  for (const program::StringRef text : policies.array(settings.allow_methods)) {
    any_method_ = any_method_ || policies.string(text) == "*";
  }
  for (const program::StringRef text : policies.array(settings.allow_headers)) {
    any_header_ = any_header_ || policies.string(text) == "*";
  }
  const std::uint64_t age = settings.max_age_ns / kNanosecondsPerSecond;
  if (age != 0) max_age_ = std::to_string(age);
  for (const std::string& origin : exact_) of_exact_.push_back(block(origin, credentials_));
  of_pattern_ = block({}, credentials_);
  // Whoever may be anybody never acts as the user who is logged in (*safe*); where an HTTPRoute asks for it `find` has
  // taken those that can be named.
  of_any_ = block("*", /*credentials=*/false);
  if (!alike()) of_none_.add("Vary", "Origin", FieldBlock::Manner::kJoins);
}

FieldBlock Cors::block(std::string_view origin, bool credentials) const {
  FieldBlock block;
  block.add("Access-Control-Allow-Origin", origin);
  if (credentials) block.add("Access-Control-Allow-Credentials", "true");
  block.add("Access-Control-Expose-Headers", credentials ? exposed_by_name_ : exposed_);
  // A cache must not give one origin's answer to another.
  if (!alike()) block.add("Vary", "Origin", FieldBlock::Manner::kJoins);
  return block;
}

Cors::Found Cors::find(std::string_view origin) const {
  if (origin.empty()) return {};
  const auto exact = std::ranges::find(exact_, origin);
  if (exact != exact_.end()) return {Match::kExact, static_cast<std::size_t>(exact - exact_.begin())};
  for (const Pattern& pattern : patterns_) {
    if (origin.size() <= pattern.before.size() + pattern.after.size()) continue;
    if (!origin.starts_with(pattern.before) || !origin.ends_with(pattern.after)) continue;
    const std::size_t size = origin.size() - pattern.before.size() - pattern.after.size();
    if (labels(origin.substr(pattern.before.size(), size))) return {Match::kPattern, 0};
  }
  if (everyone_ && any_ && is_origin(origin)) return {Match::kPattern, 0};
  return {any_ ? Match::kAny : Match::kNone, 0};
}

void Cors::decorate(const PolicyRequest& policy_request, AddedFields& added) const {
  added.take_over_cors();
  const std::string_view origin = origin_of(policy_request.head.fields);
  const Found found = find(origin);
  switch (found.match) {
    case Match::kExact:
      return added.add(of_exact_[found.index]);
    case Match::kPattern:
      added.allow_origin(origin);
      return added.add(of_pattern_);
    case Match::kAny:
      return added.add(of_any_);
    case Match::kNone:
      return added.add(of_none_);
  }
}

std::optional<PolicyAnswer> Cors::pass(const PolicyRequest& policy_request) const {
  const std::string_view method = preflight_method(policy_request.head);
  if (method.empty()) return std::nullopt;
  if (find(origin_of(policy_request.head.fields)).match == Match::kNone) {
    return PolicyAnswer{403, "cors-origin", "This origin may not ask.", {}};
  }
  PolicyAnswer answer{204, "cors-preflight", {}, {}};
  // `*` means itself where credentials are sent (Fetch §3.2.5), and no method is called so.
  line(answer.fields, "Access-Control-Allow-Methods", any_method_ && is_token(method) ? method : methods_);
  const std::string_view wanted = field(policy_request.head.fields, kRequestHeaders);
  // `*` would leave out Authorization, and mean itself where credentials are sent (Fetch §3.2.5).
  line(answer.fields, "Access-Control-Allow-Headers", any_header_ && list_of_tokens(wanted) ? wanted : headers_);
  line(answer.fields, "Access-Control-Max-Age", max_age_);
  line(answer.fields, "Vary", "Access-Control-Request-Method, Access-Control-Request-Headers");
  return answer;
}

}  // namespace edge::runtime
