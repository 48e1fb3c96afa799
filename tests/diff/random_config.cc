#include "tests/diff/random_config.h"

#include <algorithm>
#include <set>

#include "program/claim_field.h"
#include "program/mirror_share.h"

namespace edge::diff {
namespace {

using compiler::FieldMatch;
using compiler::LinkedConfig;
using compiler::LinkedRoute;
using compiler::MatchType;
using compiler::PathMatch;
using compiler::RuleMatch;
using Words = std::vector<std::string>;

const Words kHostPatterns = {"a.test",     "b.a.test", "*.a.test", "*.test",   "*.b.a.test", "c.b.a.test",
                             "evila.test", "x.org",    "*.org",    "10.0.0.9", "test"};
const Words kHosts = {"a.test",       "b.a.test", "c.b.a.test", "z.a.test", "y.z.b.a.test", "test", "evila.test",
                      "z.evila.test", "x.org",    "y.x.org",    "org",      "10.0.0.9",     "",     "nowhere"};
const Words kSegments = {"a",      "b",   "ab",   "api",   "apiv2",
                         "x",      "",    "v1",   "a%2Fb", "longer-segment-than-sixteen-bytes",
                         "..%2Fb", "x;y", "b%5Ca"};
const Words kRegexes = {"^/a",      "b$",     "^/[ab]+$",   "/x",        "a.*b",   "^/api/v[0-9]+", "(a|b)/x",
                        "^/a/b/?$", "v[12]$", "^/(a|ab)/b", "[^/]{4,6}", "^/+a?$", "i(v2)?$"};
const Words kHeaderNames = {"x-a", "x-b", "x-env", "cookie"};
const Words kHeaderValues = {"1", "2", "1, 2", "", "prod", "prod\"x\\", "a-value-that-is-longer-than-two-words"};
const Words kHeaderRegexes = {"^1", "2$", "^(1|2)$", "1, 2", "o", "^p.*d$", "^$"};
const Words kClaims = {"plan", "Plan", "a.roles"};
const Words kClaimValues = {"gold", "Gold", "1", "x y"};
const Words kMethods = {"GET", "POST", "PUT", "PURGE", "get"};
const Words kQueryKeys = {"q", "r", "a key"};
const Words kQueryValues = {"1", "2", "a b", "", "100%", "1+1"};
const Words kCidrs = {"10.0.0.0/8",    "10.0.0.0/24", "0.0.0.0/0",     "::/0",
                      "2001:db8::/32", "10.0.0.1/32", "192.168.0.0/17"};
const Words kSources = {"10.0.0.1", "10.0.1.1", "10.255.0.1", "192.168.127.255", "192.168.128.0", "2001:db8::1", "::1"};
const Words kContained = {"a", "/b", "api", "v1/", "//", "zzz", "longer-segment"};

std::string random_path(Chance& chance) {
  std::string path;
  const std::uint32_t depth = chance.one_in(200) ? 60 + chance.below(10) : 1 + chance.below(4);
  for (std::uint32_t i = 0; i < depth; ++i) path += "/" + chance.of(kSegments);
  return path;
}

/// Without a trailing slash, save `/` itself.
std::string random_prefix(Chance& chance) {
  std::string prefix = chance.one_in(6) ? "/" : random_path(chance);
  while (prefix.size() > 1 && prefix.ends_with('/')) prefix.pop_back();
  return prefix;
}

Located<std::string> located(std::string text) { return {std::move(text), {}}; }

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string random_case(Chance& chance, std::string word) {
  for (char& c : word) {
    if (chance.one_in(3) && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return word;
}

std::string random_expression(Chance& chance, int depth) {
  if (depth > 0 && !chance.one_in(3)) {
    const std::string left = random_expression(chance, depth - 1);
    switch (chance.below(4)) {
      case 0:
        return random_case(chance, "not") + " " + left;
      case 1:
        return "(" + left + ")";
      default:
        return left + " " + random_case(chance, chance.one_in(2) ? "and" : "or") + " " +
               random_expression(chance, depth - 1);
    }
  }
  const char* const comparison = chance.one_in(3) ? " != " : " == ";
  switch (chance.below(8)) {
    case 6:
      return random_case(chance, "claim:") + chance.of(kClaims) + (chance.one_in(2) ? " contains " : comparison) +
             quoted(chance.of(kClaimValues));
    case 0:
      return random_case(chance, "path exact ") + quoted(random_path(chance));
    case 1:
      return "path prefix " + quoted(random_prefix(chance));
    case 2:
      return "path contains " + quoted(chance.of(kContained));
    case 3:
      return "method" + std::string(comparison) + quoted(chance.of(kMethods));
    case 4:
      return "query:" + std::string(chance.one_in(2) ? "q" : "r") + comparison + quoted(chance.of(kQueryValues));
    case 5:
      return "source_ip in " + quoted(chance.of(kCidrs));
    default:
      return "header:" + random_case(chance, chance.of(kHeaderNames)) + comparison + quoted(chance.of(kHeaderValues));
  }
}

std::vector<FieldMatch> random_fields(Chance& chance, const Words& names, const Words& values, std::uint32_t none_of) {
  std::vector<FieldMatch> fields;
  std::set<std::string> used;
  while (fields.size() < 3 && !chance.one_in(none_of)) {
    FieldMatch field{located(chance.of(names)), located(chance.of(values)), MatchType::kExact};
    if (!used.insert(field.name.value).second) break;
    const std::uint32_t kind = chance.below(5);
    if (kind == 0) field = {field.name, {}, MatchType::kPresent};
    if (kind == 1) field = {field.name, located(chance.of(kHeaderRegexes)), MatchType::kRegex};
    fields.push_back(std::move(field));
    none_of = 2;
  }
  return fields;
}

/// Under the names that linking gives them.
void add_claims(Chance& chance, std::vector<FieldMatch>& fields) {
  for (FieldMatch& field : random_fields(chance, kClaims, kClaimValues, 2)) {
    if (chance.one_in(3)) {
      fields.push_back(
          {located(program::claim_item_field(field.name.value, chance.of(kClaimValues))), {}, MatchType::kPresent});
    } else {
      field.name.value = program::claim_field(field.name.value);
      fields.push_back(std::move(field));
    }
  }
}

RuleMatch random_match(Chance& chance) {
  RuleMatch match;
  switch (chance.below(7)) {
    case 0:
    case 1:
      match.path = {PathMatch::Type::kExact, located(random_path(chance))};
      break;
    case 2:
    case 3:
      match.path = {PathMatch::Type::kPrefix, located(random_prefix(chance))};
      break;
    case 4:
    case 5:
      match.path = {PathMatch::Type::kRegex, located(chance.of(kRegexes))};
      break;
    default:
      break;
  }
  // Mostly no further condition: else hardly anything would match.
  if (chance.one_in(2)) match.headers = random_fields(chance, kHeaderNames, kHeaderValues, 2);
  if (chance.one_in(6)) add_claims(chance, match.headers);
  if (chance.one_in(4)) match.method = located(chance.of(kMethods));
  if (chance.one_in(5)) match.query = random_fields(chance, kQueryKeys, kQueryValues, 2);
  return match;
}

std::vector<compiler::Filter> random_filters(Chance& chance, bool may_redirect) {
  using program::FilterOp;
  const std::vector<FilterOp> headers = {FilterOp::kRequestHeaderSet,    FilterOp::kRequestHeaderAdd,
                                         FilterOp::kRequestHeaderRemove, FilterOp::kResponseHeaderSet,
                                         FilterOp::kResponseHeaderAdd,   FilterOp::kResponseHeaderRemove};
  std::vector<compiler::Filter> filters;
  while (chance.one_in(3)) filters.push_back({chance.of(headers), chance.of(kHeaderNames), chance.of(kHeaderValues)});
  if (chance.one_in(8)) {
    const bool cookie = chance.one_in(2);
    filters.push_back({cookie ? FilterOp::kSessionCookie : FilterOp::kSessionHeader, "x-session", cookie ? "/" : ""});
    compiler::Filter idle{FilterOp::kSessionIdle, "", ""};
    idle.seconds = 60;
    if (chance.one_in(2)) filters.push_back(idle);
  }
  if (may_redirect && chance.one_in(4)) {
    if (chance.one_in(2)) filters.push_back({FilterOp::kRedirectHost, "", "elsewhere.test"});
    if (chance.one_in(2)) filters.push_back({FilterOp::kRedirectPrefix, "", random_prefix(chance)});
    filters.push_back({FilterOp::kRedirect, "", "", chance.one_in(2) ? 301U : 302U, chance.below(2) * 8443});
    return filters;
  }
  if (chance.one_in(6)) filters.push_back({FilterOp::kRewriteHost, "", "inside.test"});
  if (chance.one_in(6)) filters.push_back({FilterOp::kRewritePrefix, "", random_prefix(chance)});
  return filters;
}

std::optional<std::uint32_t> random_backend(Chance& chance) {
  if (chance.one_in(12)) return std::nullopt;
  return chance.below(2);
}

/// How the requests of a rule are treated. Few kinds, so that one host has several actions of the same.
void fill_treatment(Chance& chance, compiler::LinkedRule& rule) {
  const auto add_backend = [&] {
    rule.backends.push_back({random_backend(chance), chance.below(4)});
    if (chance.one_in(6)) rule.backends.back().filters = random_filters(chance, /*may_redirect=*/false);
  };
  if (!chance.one_in(8)) add_backend();
  while (!rule.backends.empty() && rule.backends.size() < 4 && chance.one_in(3)) add_backend();
  if (chance.one_in(3)) rule.filters = random_filters(chance, /*may_redirect=*/rule.backends.empty());
  while (rule.mirrors.size() < 2 && chance.one_in(5))
    rule.mirrors.push_back({random_backend(chance), program::reduced({chance.below(4), 1 + chance.below(400)}),
                            chance.one_in(3) ? "site.example.org" : std::string()});
  if (chance.one_in(8)) rule.max_request_body = chance.below(3);
  if (chance.one_in(8)) rule.request_timeout = std::chrono::seconds(chance.below(3));
  if (chance.one_in(8)) rule.idle_timeout = std::chrono::seconds(chance.below(3));
  if (chance.one_in(8)) rule.min_grpc_timeout = std::chrono::seconds(chance.below(3));
  if (chance.one_in(8)) rule.max_buffer = chance.below(3);
  if (chance.one_in(8)) {
    const auto retry_on = static_cast<std::uint16_t>(program::kRetry5xx << chance.below(3));
    rule.retry = {static_cast<std::uint16_t>(chance.below(3)), retry_on, std::chrono::seconds(chance.below(2))};
  }
  rule.buffer_request = chance.one_in(10);
  rule.buffer_response = chance.one_in(10);
}

/// At most one of each type, as they lie in the pool: ascending by type.
std::vector<std::uint32_t> random_policies(Chance& chance, const LinkedConfig& config) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < config.policies.size(); ++i) {
    if (!chance.one_in(8)) continue;
    if (!chosen.empty() && config.policies[chosen.back()].type == config.policies[i].type) continue;
    chosen.push_back(i);
  }
  return chosen;
}

/// The paths of a login, which nobody wrote (decision 47).
void add_login_rule(Chance& chance, const LinkedConfig& config, LinkedRoute& route) {
  const bool logs_in = std::ranges::any_of(
      route.policies, [&](std::uint32_t i) { return config.policies[i].type == compiler::PolicyType::kOidc; });
  if (!logs_in) return;
  compiler::LinkedRule rule;
  rule.implied = true;
  for (const std::string& path : {random_path(chance), std::string("/oauth2/logout")}) {
    rule.matches.emplace_back().path = {PathMatch::Type::kExact, located(path)};
  }
  rule.backends = route.rules[0].backends;
  for (auto& backend : rule.backends) backend.filters.reset();
  route.rules.push_back(std::move(rule));
}

void fill_route(Chance& chance, const LinkedConfig& config, LinkedRoute& route) {
  std::set<std::string> names;
  for (std::uint32_t i = chance.below(3); i > 0; --i) names.insert(chance.of(kHostPatterns));
  route.hostnames.clear();
  for (const auto& name : names) route.hostnames.push_back({*HostPattern::parse(name), {}});
  route.expression.reset();
  if (chance.one_in(4)) route.expression = located(random_expression(chance, 3));
  if (chance.one_in(100)) route.expression = located("method == ");
  route.rules.clear();
  for (std::uint32_t i = 1 + chance.below(3); i > 0; --i) {
    auto& rule = route.rules.emplace_back();
    for (std::uint32_t n = 1 + chance.below(3); n > 0; --n) rule.matches.push_back(random_match(chance));
    if (chance.one_in(200)) rule.matches.back().path = {PathMatch::Type::kRegex, located("^/(a")};
    fill_treatment(chance, rule);
    // Of rules only CORS: what protects is the route's.
    for (std::uint32_t p = 0; p < config.policies.size(); ++p) {
      const bool cors = config.policies[p].type == compiler::PolicyType::kCors;
      if (cors && chance.one_in(6)) rule.policies.push_back(p);
    }
  }
  route.policies.clear();
  if (chance.one_in(3)) route.policies = random_policies(chance, config);
  add_login_rule(chance, config, route);
  route.listeners.clear();
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
    if (!chance.one_in(4)) route.listeners.push_back(i);
  }
}

void add_policies(Chance& chance, LinkedConfig& config) {
  const auto add = [&](compiler::PolicyType type, compiler::PolicySettings settings) {
    compiler::LinkedPolicy& policy = config.policies.emplace_back();
    policy.identity = {"ProxyPolicy", "edge", "p" + std::to_string(config.policies.size()), 0, {}};
    policy.type = type;
    policy.enforced = type != compiler::PolicyType::kUnknown && !chance.one_in(6);
    if (policy.enforced) policy.settings = std::move(settings);
  };
  using compiler::PolicyType;
  add(PolicyType::kUnknown, {});
  add(PolicyType::kIpAccess, compiler::IpAccessSettings{.allow = {.networks = {*parse_cidr("10.0.0.0/8")}}});
  const auto limit = [](std::uint64_t requests) {
    return compiler::RateLimitSettings{.limits = {{.requests = requests, .burst = requests, .keys = {{}}}},
                                       .shared = requests == 9};
  };
  add(PolicyType::kRateLimit, limit(5));
  add(PolicyType::kRateLimit, limit(9));
  add(PolicyType::kConcurrencyLimit,
      compiler::ConcurrencySettings{.limits = {{.requests = 3, .keys = {{}}}}, .status = 503});
  add(PolicyType::kRequestFilter, compiler::RequestFilterSettings{.status = 403, .methods = {"GET"}});
  add(PolicyType::kClientCertificate,
      compiler::ClientCertificateSettings{.allows_all = false, .allow = {.uris = {"a:b"}}});
  add(PolicyType::kBasicAuth, compiler::BasicAuthSettings{.realm = "a"});
  add(PolicyType::kOidc, compiler::OidcSettings{.issuer = "https://id.test", .redirect_url = "https://a.test/back"});
  add(PolicyType::kForwardAuth, compiler::ForwardAuthSettings{.address = "http://auth.test"});
  add(PolicyType::kCors, compiler::CorsSettings{.allow_origins = {"*"}});
  add(PolicyType::kSecurityHeaders, compiler::SecurityHeadersSettings{.hsts = true});
  add(PolicyType::kSecurityHeaders, compiler::SecurityHeadersSettings{.no_sniff = true});
  add(PolicyType::kMaintenance, compiler::MaintenanceSettings{.retry_after = 60});
  add(PolicyType::kFixedResponse, compiler::FixedResponseSettings{.status = 410});
  add(PolicyType::kErrorPages, compiler::ErrorPagesSettings{.pages = {{404, 404, {"text/html", "gone"}}}});
}

void add_listeners(Chance& chance, LinkedConfig& config) {
  const std::vector<Words> addresses = {{}, {"10.0.0.1"}, {"10.0.0.1", "10.0.0.2"}};
  std::set<std::string> claimed;
  for (std::uint32_t g = 0; g < 1 + chance.below(2); ++g) {
    auto& gateway = config.gateways.emplace_back();
    gateway.identity = {"ProxyGateway", "edge", "g" + std::to_string(g), 0, {}};
    for (const auto& address : chance.of(addresses)) gateway.addresses.push_back(*parse_ip(address));
    if (chance.one_in(2)) {
      gateway.paths = {chance.one_in(2), static_cast<EscapedSlashes>(chance.below(3)), chance.one_in(3)};
    }
    gateway.canary_by_header = !chance.one_in(4);
    if (chance.one_in(2)) gateway.policies = random_policies(chance, config);
    for (std::uint32_t l = 0; l < 1 + chance.below(3); ++l) {
      compiler::LinkedListener listener;
      listener.gateway = g;
      listener.name = "l" + std::to_string(l);
      listener.port = chance.one_in(3) ? 8080 : 80;
      listener.max_request_body = chance.below(3);
      if (chance.one_in(4)) listener.claimed_headers = {{chance.of(kClaims), chance.of(kHeaderNames), true}};
      const std::string port = std::to_string(listener.port) + "/";
      std::set<std::string> names;
      for (std::uint32_t i = chance.below(3); i > 0; --i) names.insert(chance.of(kHostPatterns));
      // Two listeners never claim one name: linking refuses that.
      std::erase_if(names, [&](const std::string& name) { return !claimed.insert(port + name).second; });
      if (names.empty() && !claimed.insert(port).second) continue;
      for (const auto& name : names) listener.hostnames.push_back({*HostPattern::parse(name), {}});
      config.listeners.push_back(std::move(listener));
    }
  }
}

/// A request that the match would take, host and expression apart.
void fit(Chance& chance, const LinkedRoute& route, const RuleMatch& match, reference::OwnedRequest& request) {
  if (!route.hostnames.empty()) {
    const HostPattern& pattern = chance.of(route.hostnames).value;
    request.host = (pattern.wildcard() ? "y." : "") + std::string(pattern.domain());
  }
  if (match.path.type == PathMatch::Type::kExact) request.path = match.path.value.value;
  if (match.path.type == PathMatch::Type::kPrefix) {
    const std::string& prefix = match.path.value.value;
    const Words endings = {"", "/", "/a", "v2", "/x/b"};
    request.path = (prefix == "/" ? "" : prefix) + chance.of(endings);
    if (!request.path.starts_with('/')) request.path = "/" + request.path;
  }
  if (match.method) request.method = match.method->value;
  for (const FieldMatch& header : match.headers) {
    if (const auto claim = program::read_claim_field(header.name.value)) {
      request.claims.emplace_back(claim->claim, claim->item                        ? *claim->item
                                                : header.type == MatchType::kExact ? header.value.value
                                                                                   : chance.of(kClaimValues));
      continue;
    }
    const bool known = header.type == MatchType::kExact;
    request.headers.emplace_back(random_case(chance, header.name.value),
                                 known ? header.value.value : chance.of(kHeaderValues));
  }
  for (const FieldMatch& query : match.query) {
    if (query.type != MatchType::kExact || query.name.value.size() > 1) continue;
    std::string value;
    for (const char c : query.value.value)
      value += c == ' ' ? "+" : c == '%' ? "%25" : c == '+' ? "%2B" : std::string(1, c);
    request.query += (request.query.empty() ? "" : "&") + query.name.value + "=" + value;
  }
}

}  // namespace

LinkedConfig random_config(Chance& chance) {
  // Each API has an order of its own. Mostly a configuration has one API's routes.
  const Words all_kinds = {"ProxyRoute", "ProxyRoute", "HTTPRoute", "HTTPRoute", "GRPCRoute", "Ingress"};
  const Words kinds = chance.one_in(2) ? Words{"ProxyRoute"} : chance.one_in(3) ? Words{"HTTPRoute"} : all_kinds;
  LinkedConfig config;
  add_policies(chance, config);
  add_listeners(chance, config);
  for (const char* const name : {"b0", "b1"})
    config.backends.emplace_back().identity = {"ProxyBackend", "edge", name, 0, {}};
  const Words spaces = {"a", "a-b", "b"};
  const std::uint32_t routes = 1 + chance.below(chance.one_in(4) ? 40 : 12);
  for (std::uint32_t i = 0; i < routes; ++i) {
    LinkedRoute route;
    route.identity = {chance.of(kinds), chance.of(spaces), "r" + std::to_string(i), chance.below(3), {}};
    fill_route(chance, config, route);
    config.routes.push_back(std::move(route));
  }
  std::ranges::sort(config.routes, {},
                    [](const LinkedRoute& r) { return std::pair(r.identity.name_space, r.identity.name); });
  return config;
}

void replace_route(Chance& chance, LinkedConfig& config, std::uint32_t index) {
  fill_route(chance, config, config.routes[index]);
}

std::vector<reference::OwnedRequest> random_requests(Chance& chance, const LinkedConfig& config, std::size_t count) {
  std::vector<reference::OwnedRequest> requests(count);
  const Words queries = {"", "q=1", "q=%31&q=2", "r=a+b&q=2", "q", "q=&r=1", "a+key=1", "&&r=2", "q=1%2B1", "r=100%25"};
  for (auto& request : requests) {
    request.method = chance.of(kMethods);
    request.host = chance.of(kHosts);
    request.path = chance.one_in(100) ? "*" : random_path(chance);
    request.source = *parse_ip(chance.of(kSources));
    const LinkedRoute& route = chance.of(config.routes);
    if (chance.one_in(2)) fit(chance, route, chance.of(chance.of(route.rules).matches), request);
    if (request.query.empty()) request.query = chance.of(queries);
    while (chance.one_in(3)) {
      request.headers.emplace_back(random_case(chance, chance.of(kHeaderNames)), chance.of(kHeaderValues));
    }
    while (chance.one_in(4)) request.claims.emplace_back(chance.of(kClaims), chance.of(kClaimValues));
  }
  return requests;
}

}  // namespace edge::diff
