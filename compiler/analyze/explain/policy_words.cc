#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "base/units.h"
#include "compiler/analyze/explain/explain_words.h"
#include "program/claim_field.h"
#include "program/dump/policy_type_text.h"
#include "program/dump/route_tree.h"
#include "program/dump/settings_tree.h"
#include "program/evaluate/request_filter.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

using program::PolicyRecord;
using program::PolicyType;

std::string_view field_of(const program::RequestView& request, std::string_view name) {
  const auto found = std::ranges::find(request.headers, name, &Field::name);
  return found == request.headers.end() ? std::string_view() : found->value;
}

bool begins_with_scheme(std::string_view value, std::string_view scheme) {
  return value.size() > scheme.size() && value[scheme.size()] == ' ' &&
         std::ranges::equal(value.substr(0, scheme.size()), scheme, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

std::string key_words(const program::SectionView& view, const program::RateKeyRecord& part) {
  const std::string name(view.string(part.name));
  switch (part.key) {
    case program::RateKey::kSourceIp:
      return "the client's address";
    case program::RateKey::kHeader:
      return "header " + name;
    case program::RateKey::kCookie:
      return "cookie " + name;
    case program::RateKey::kQuery:
      return "query " + name;
    case program::RateKey::kJwtClaim:
      return "claim " + name;
    case program::RateKey::kHost:
      return "host";
    case program::RateKey::kPath:
      return "path";
    case program::RateKey::kIdentity:
      return "who is logged in";
  }
  return "?";
}

std::string keys_words(const program::SectionView& view, program::ArrayRef<program::RateKeyRecord> keys) {
  std::string text;
  for (const program::RateKeyRecord& part : view.array(keys)) {
    if (!text.empty()) text += " and ";
    text += key_words(view, part);
  }
  return text;
}

/// `a second`, `an hour`
std::string period_words(std::uint64_t nanoseconds) {
  switch (nanoseconds / 1'000'000'000) {
    case 1:
      return "a second";
    case 60:
      return "a minute";
    case 3'600:
      return "an hour";
    case 86'400:
      return "a day";
    default:
      return "in " + duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
  }
}

std::string limit_words(const program::SectionView& view, const program::RateLimitRecord& record) {
  std::string text = "at most ";
  bool first = true;
  for (const program::RateRecord& limit : view.array(record.limits)) {
    if (!first) text += ", ";
    first = false;
    text +=
        std::to_string(limit.requests) + " " + period_words(limit.period_ns) + " by " + keys_words(view, limit.keys);
  }
  if (record.shared != 0) text += ", on all agents together";
  return text + ", else 429";
}

/// What only an agent can look up.
std::string sources_words(const program::SectionView& view, const program::IpAccessRecord& access) {
  std::string words;
  const auto add = [&words](const std::string& name) { words += (words.empty() ? "" : ", ") + name; };
  for (const program::AddressSourcesRecord* sources : {&access.deny, &access.allow}) {
    const char* const side = sources == &access.deny ? "denied " : "allowed ";
    for (const program::SecretRecord& list : view.array(sources->lists)) {
      add(side + ("list " + program::secret_text(view, list)));
    }
    for (const program::StringRef& file : view.array(sources->files)) {
      add(side + ("file " + std::string(view.string(file))));
    }
    for (const program::StringRef& country : view.array(sources->countries)) {
      add(side + ("country " + std::string(view.string(country))));
    }
    for (const std::uint32_t system : view.array(sources->systems)) add(side + ("AS" + std::to_string(system)));
  }
  return words;
}

std::string concurrency_words(const program::SectionView& view, const program::ConcurrencyLimitRecord& record) {
  std::string text = "at most ";
  bool first = true;
  for (const program::ConcurrencyRecord& limit : view.array(record.limits)) {
    if (!first) text += ", ";
    first = false;
    text += std::to_string(limit.requests) + " at once by " + keys_words(view, limit.keys);
  }
  return text + ", else " + std::to_string(record.status);
}

std::string access_words(const program::SectionView& view, const program::IpAccessRecord& access,
                         const program::RequestView& request) {
  const std::optional<bool> passes = program::lets_pass(view, access, request.source);
  if (!passes) return "looks up " + to_string(request.source) + " in " + sources_words(view, access) + ", else 403";
  return (*passes ? "lets " : "answers 403: not for ") + to_string(request.source) + (*passes ? " pass" : "");
}

std::string basic_words(const program::RequestView& request) {
  if (begins_with_scheme(field_of(request, "authorization"), "basic"))
    return "asks whether the password fits, else 401";
  return "answers 401: the request has no `Authorization: Basic`";
}

std::string jwt_words(const program::SectionView& view, const program::JwtRecord& jwt,
                      const program::RequestView& request) {
  const std::string header(view.string(jwt.header));
  const std::string_view value = field_of(request, header);
  // Who names claims of a token means one that comes with it.
  const bool has_claims =
      std::ranges::any_of(request.headers, [](const Field& field) { return program::is_claim_field(field.name); });
  if (!has_claims && value.empty()) return "answers 401: the request has no header " + header;
  if (!has_claims && !value.starts_with(view.string(jwt.prefix))) {
    return "answers 401: header " + header + " does not begin with `" + std::string(view.string(jwt.prefix)) + "`";
  }
  std::string issuers;
  for (const program::JwtIssuerRecord& issuer : view.array(jwt.issuers)) {
    issuers += (issuers.empty() ? "" : " or ") + std::string(view.string(issuer.issuer));
  }
  return "asks whether the token is of " + issuers + ", else 401";
}

std::string api_key_words(const program::SectionView& view, const program::ApiKeyRecord& key,
                          const program::RequestView& request) {
  const std::string_view header = view.string(key.header);
  const std::string cookie(view.string(key.cookie));
  const bool sent = (!header.empty() && !field_of(request, header).empty()) ||
                    (!cookie.empty() && field_of(request, "cookie").find(cookie + "=") != std::string_view::npos);
  if (sent) return "asks whose key it is, else 401";
  return "answers 401: the request has no key" + (header.empty() ? "" : " in header " + std::string(header)) +
         (cookie.empty() ? "" : (header.empty() ? " in cookie " : " or cookie ") + cookie);
}

std::string fault_words(program::FilterFault fault, std::uint32_t status) {
  using program::FilterFault;
  const std::string of_pattern = " (" + std::to_string(status) + ")";
  switch (fault) {
    case FilterFault::kMethod:
      return "its method is not among those allowed (405)";
    case FilterFault::kTooManyFields:
      return "it has too many headers (431)";
    case FilterFault::kFieldTooLarge:
      return "a header is too large (431)";
    case FilterFault::kFieldsTooLarge:
      return "its headers are too large (431)";
    case FilterFault::kQueryParameters:
      return "its query has too many parameters (400)";
    case FilterFault::kMediaType:
      return "its body's media type is not among those accepted (415)";
    case FilterFault::kBodyTooLarge:
      return "its body is too large (413)";
    case FilterFault::kFieldPattern:
      return "a header contains a pattern" + of_pattern;
    case FilterFault::kPathPattern:
      return "its path contains a pattern" + of_pattern;
    case FilterFault::kQueryPattern:
      break;
  }
  return "its query contains a pattern" + of_pattern;
}

/// The head as an agent gets it: with the host, which is no header of a request as it is typed.
program::FilteredHead filtered_head(const program::RequestView& request, std::vector<Field>& fields) {
  std::ranges::copy_if(request.headers, std::back_inserter(fields),
                       [](const Field& field) { return !program::is_claim_field(field.name); });
  if (!request.host.empty() && std::ranges::find(fields, "host", &Field::name) == fields.end()) {
    fields.push_back({"host", request.host});
  }
  program::FilteredHead head{.method = request.method, .path = request.path, .query = request.query, .fields = fields};
  const std::string_view length = field_of(request, "content-length");
  std::from_chars(length.data(), length.data() + length.size(), head.body_length);
  head.has_body = head.body_length != 0 || !field_of(request, "transfer-encoding").empty();
  return head;
}

/// What the request decides here, by the tests of the agent. A body that is not told an agent looks into.
std::string filter_words(const program::SectionView& view, const program::RequestFilterRecord& record,
                         const program::RequestView& request, std::optional<std::string_view> body) {
  const program::HeadFilter filter(view, record);
  std::vector<Field> fields;
  const std::string refuses = record.shadow != 0 ? "counts the request: " : "refuses the request: ";
  if (const auto fault = filter.fault_of(filtered_head(request, fields))) {
    return refuses + fault_words(*fault, record.status);
  }
  if (record.bodies.count == 0) return "finds no fault in the request's head";
  const std::string first = "the first " + std::to_string(record.inspected_body_size) + " bytes of its body";
  if (!body) return "finds no fault in the request's head, and looks at " + first;
  const program::PatternSet patterns(program::texts_of(view, record.bodies));
  // Where there is no body an agent looks for nothing, which patterns that match nothing would find.
  if (!body->empty() && patterns.finds_any(body->substr(0, record.inspected_body_size))) {
    return refuses + "its body contains a pattern (" + std::to_string(record.status) + ")";
  }
  return "finds no fault in the request's head, and none in " + first;
}

/// What only an agent sees, of the handshake.
std::string certificate_words(const program::SectionView& view, const program::ClientCertificateRecord& record) {
  std::string words;
  const auto add = [&](std::string_view kind, std::string_view name) {
    words += (words.empty() ? "" : ", ") + std::string(kind) + " " + std::string(name);
  };
  const auto names = [&](const program::CertificateNamesRecord& from) {
    words.clear();
    const auto texts = [&](std::string_view kind, program::ArrayRef<program::StringRef> list) {
      for (const program::StringRef& ref : view.array(list)) add(kind, view.string(ref));
    };
    texts("DNS", from.dns_names);
    texts("URI", from.uris);
    texts("URIs below", from.uri_prefixes);
    texts("email", from.emails);
    for (const program::CidrRecord& block : view.array(from.networks)) add("IP", to_string(program::cidr_of(block)));
    texts("CN", from.common_names);
    texts("SHA-256", from.fingerprints);
    return words;
  };
  const std::string denied = names(record.deny);
  return "asks for a client certificate that verifies" + (record.allows_all != 0 ? "" : ", of " + names(record.allow)) +
         (denied.empty() ? "" : ", not of " + denied) + ", else 403";
}

std::string oidc_words(const program::SectionView& view, const program::OidcRecord& oidc,
                       const program::RequestView& request) {
  if (field_of(request, "cookie").find("edge_session") != std::string_view::npos) {
    return "asks whether the session holds, else a login at " + std::string(view.string(oidc.issuer));
  }
  return "answers with a login at " + std::string(view.string(oidc.issuer)) + ": the request has no session";
}

constexpr std::string_view kRefusedByMaintenance = "answers 503";

std::string maintenance_words(const program::SectionView& view, const program::MaintenanceRecord& maintenance,
                              const program::RequestView& request) {
  if (maintenance.enabled == 0) return "is off";
  const bool excepted = std::ranges::any_of(
      view.array(maintenance.except_addresses),
      [&](const program::CidrRecord& record) { return program::cidr_of(record).contains(request.source); });
  if (excepted) return "lets " + to_string(request.source) + " pass";
  for (const program::FieldRecord& field : view.array(maintenance.except_fields)) {
    const std::string name(view.string(field.name));
    if (field_of(request, name) == view.string(field.value)) return "lets it pass by its header " + name;
  }
  return std::string(kRefusedByMaintenance);
}

/// `has pages for 404, 5xx of backends too`, in the order in which they are looked at.
std::string pages_words(const program::SectionView& view, const program::ErrorPagesRecord& record) {
  std::string words;
  for (const program::ErrorPageRecord& page : view.array(record.pages)) {
    words += words.empty() ? "has pages for " : ", ";
    words += page.first == page.last ? std::to_string(page.first) : std::to_string(page.first / 100) + "xx";
    if (page.backend_errors != 0) words += " of backends too";
  }
  return words;
}

std::string security_words(const program::SectionView& view, const program::SecurityHeadersRecord& record) {
  std::string words;
  const auto add = [&words](const char* name, bool sent) {
    if (sent) words += (words.empty() ? "sends " : ", ") + std::string(name);
  };
  add("Strict-Transport-Security over TLS", (record.flags & program::kHsts) != 0);
  add("X-Frame-Options", !view.string(record.x_frame_options).empty());
  add("X-Content-Type-Options", (record.flags & program::kNoSniff) != 0);
  add("Referrer-Policy", !view.string(record.referrer_policy).empty());
  return words;
}

std::string words_of(const program::SectionView& view, const PolicyRecord& policy, const program::RequestView& request,
                     std::optional<std::string_view> body) {
  const auto& header = view.header<program::PoliciesHeader>();
  switch (policy.type) {
    case PolicyType::kIpAccess:
      return access_words(view, view.array(header.ip_accesses)[policy.settings], request);
    case PolicyType::kRateLimit:
      return limit_words(view, view.array(header.rate_limits)[policy.settings]);
    case PolicyType::kConcurrencyLimit:
      return concurrency_words(view, view.array(header.concurrency_limits)[policy.settings]);
    case PolicyType::kRequestFilter:
      return filter_words(view, view.array(header.request_filters)[policy.settings], request, body);
    case PolicyType::kClientCertificate:
      return certificate_words(view, view.array(header.client_certificates)[policy.settings]);
    case PolicyType::kBasicAuth:
      return basic_words(request);
    case PolicyType::kApiKey:
      return api_key_words(view, view.array(header.api_keys)[policy.settings], request);
    case PolicyType::kJwt:
      return jwt_words(view, view.array(header.jwts)[policy.settings], request);
    case PolicyType::kOidc:
      return oidc_words(view, view.array(header.oidcs)[policy.settings], request);
    case PolicyType::kForwardAuth:
      return "asks " + std::string(view.string(view.array(header.forward_auths)[policy.settings].address));
    case PolicyType::kCors:
      if (!field_of(request, "origin").empty()) return "asks whether the origin may read the answer";
      return {};
    case PolicyType::kMaintenance:
      return maintenance_words(view, view.array(header.maintenances)[policy.settings], request);
    case PolicyType::kFixedResponse:
      return "answers " + std::to_string(view.array(header.fixed_responses)[policy.settings].status) +
             " in place of a backend";
    case PolicyType::kSecurityHeaders:
      return security_words(view, view.array(header.security_headers)[policy.settings]);
    case PolicyType::kErrorPages:
      return pages_words(view, view.array(header.error_pages)[policy.settings]);
    case PolicyType::kUnknown:
      break;
  }
  return {};
}

/// With the method that filters judge: of a preflight that a policy of type CORS answers, the one that it asks about.
program::RequestView judged(const program::SectionView& view, std::span<const std::uint64_t> ids,
                            program::RequestView request) {
  const std::string_view asked_for = field_of(request, "access-control-request-method");
  const bool preflight =
      request.method == "OPTIONS" && !asked_for.empty() && !field_of(request, "origin").empty() &&
      std::ranges::any_of(ids, [&](std::uint64_t id) {
        const PolicyRecord* const policy = program::find_policy(view, id);
        return policy != nullptr && policy->type == PolicyType::kCors && policy->settings != program::kNone;
      });
  if (preflight) request.method = asked_for;
  return request;
}

std::vector<std::string> verdicts_of(const program::SectionView& view, std::span<const std::uint64_t> ids,
                                     const program::RequestView& asked, std::optional<std::string_view> body) {
  const program::RequestView request = judged(view, ids, asked);
  std::vector<std::string> out;
  for (const std::uint64_t id : ids) {
    const PolicyRecord* const policy = program::find_policy(view, id);
    if (policy == nullptr) continue;
    std::string text = std::string(program::policy_type_text(policy->type)) + " " +
                       std::string(view.string(policy->name_space)) + "/" + std::string(view.string(policy->name));
    if (policy->settings != program::kNone) {
      const std::string words = words_of(view, *policy, request, body);
      if (!words.empty()) text += ": " + words;
    }
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

std::vector<std::string> policy_verdicts(const program::ProgramView& program, const program::SectionView& host,
                                         const program::TreatmentRecord& treatment, const program::RequestView& request,
                                         std::optional<std::string_view> body) {
  return verdicts_of(program.policies().view, host.array(treatment.policies), request, body);
}

std::vector<std::string> policy_verdicts_without_route(const program::ProgramView& program, std::uint32_t listener,
                                                       const program::RequestView& request,
                                                       std::optional<std::string_view> body) {
  const program::SectionView& view = program.policies().view;
  const program::NoRouteRecord* const found = program::find_no_route(view, listener);
  return found == nullptr ? std::vector<std::string>() : verdicts_of(view, view.array(found->policies), request, body);
}

int status_without_route(const program::ProgramView& program, std::uint32_t listener,
                         const program::RequestView* request) {
  constexpr int kNotFound = 404;
  const program::SectionView& view = program.policies().view;
  const program::NoRouteRecord* const found = program::find_no_route(view, listener);
  if (found == nullptr) return kNotFound;
  if (found->denied != 0) return 503;
  const int status = status_of_policies(program, view.array(found->policies), request);
  return status == 0 ? kNotFound : status;
}

int status_of_policies(const program::ProgramView& program, std::span<const std::uint64_t> policies,
                       const program::RequestView* request) {
  const program::SectionView& view = program.policies().view;
  const auto& header = view.header<program::PoliciesHeader>();
  for (const std::uint64_t id : policies) {
    const PolicyRecord* const policy = program::find_policy(view, id);
    if (policy == nullptr || policy->settings == program::kNone) continue;
    if (policy->type == PolicyType::kFixedResponse) {
      return static_cast<int>(view.array(header.fixed_responses)[policy->settings].status);
    }
    if (policy->type != PolicyType::kMaintenance) continue;
    const program::MaintenanceRecord& maintenance = view.array(header.maintenances)[policy->settings];
    const bool for_all = maintenance.except_addresses.count == 0 && maintenance.except_fields.count == 0;
    const bool refused = request != nullptr && maintenance_words(view, maintenance, *request) == kRefusedByMaintenance;
    if (maintenance.enabled != 0 && (for_all || refused)) return 503;
  }
  return 0;
}

}  // namespace edge::compiler::analyze
