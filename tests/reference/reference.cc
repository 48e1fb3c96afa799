#include "tests/reference/reference.h"

#include <algorithm>
#include <string_view>

#include "program/claim_field.h"

namespace edge::reference {

using compiler::LinkedListener;
using compiler::LinkedRoute;
using compiler::MatchType;
using compiler::PathMatch;

namespace {

bool replace_all(std::string& text, std::string_view what, std::string_view by) {
  bool found = false;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
    found = true;
  }
  return found;
}

/// As docs/matching.md words it, one segment after the other. False: refused.
bool apply(const PathRules& rules, std::string& path) {
  if (path == "*") return true;
  const auto has = [&](std::string_view text) { return path.find(text) != std::string::npos; };
  if (rules.reject_parameters && (has(";") || has("%3B"))) return false;
  if (rules.escaped_slashes != EscapedSlashes::kKeep && has("%5C")) return false;
  if (rules.escaped_slashes == EscapedSlashes::kReject && has("%2F")) return false;
  if (rules.escaped_slashes == EscapedSlashes::kUnescape && replace_all(path, "%2F", "/")) {
    std::vector<std::string> segments;
    bool closed = false;  // a slash stands at the end
    for (std::size_t begin = 1; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string segment = path.substr(begin, end - begin);
      const bool dots = segment == "." || segment == "..";
      if (segment == ".." && segments.empty()) return false;
      if (segment == "..") segments.pop_back();
      if (!dots) segments.push_back(segment);
      closed = dots;
      begin = end + 1;
    }
    path.clear();
    for (const std::string& segment : segments) path += "/" + segment;
    if (closed || path.empty()) path += "/";
  }
  while (rules.merge_slashes && replace_all(path, "//", "/")) {
  }
  return true;
}

}  // namespace

Reference::Reference(const compiler::LinkedConfig& config) : config_(config) {
  for (std::uint32_t index = 0; index < config.routes.size(); ++index) {
    const LinkedRoute& route = config.routes[index];
    RouteEntry entry{&route, nullptr, false, {}};
    if (route.expression) {
      entry.expression = Expression::parse(route.expression->value);
      entry.refused |= entry.expression == nullptr;
    }
    const auto field_tests = [&entry](const std::vector<compiler::FieldMatch>& fields) {
      std::vector<FieldTest> tests;
      for (const auto& field : fields) {
        FieldTest test{field.name.value, field.value.value, field.type, std::nullopt};
        if (field.type == MatchType::kRegex) entry.refused |= !test.pattern.emplace(test.value).valid();
        tests.push_back(std::move(test));
      }
      return tests;
    };
    for (std::size_t rule = 0; rule < route.rules.size(); ++rule) {
      for (std::size_t number = 0; number < route.rules[rule].matches.size(); ++number) {
        const compiler::RuleMatch& match = route.rules[rule].matches[number];
        MatchEntry one{&match,
                       {0, index, static_cast<std::uint16_t>(rule), static_cast<std::uint16_t>(number)},
                       std::nullopt,
                       field_tests(match.headers),
                       {}};
        one.query = field_tests(match.query);
        if (match.path.type == PathMatch::Type::kRegex) {
          entry.refused |= !one.path.emplace(match.path.value.value).valid();
        }
        if (match.path.type == PathMatch::Type::kPrefix) {
          entry.refused |= std::ranges::count(match.path.value.value, '/') > program::kMaxPathDepth;
        }
        entry.matches.push_back(std::move(one));
      }
    }
    routes_.push_back(std::move(entry));
  }
}

// "a request belongs to the one listener with the most specific hostname; routes of other listeners never see it"
std::optional<std::uint32_t> Reference::listener_of(const Bind& bind, const std::string& host) const {
  std::optional<std::uint32_t> best;
  HostPattern best_pattern;
  for (std::uint32_t index = 0; index < config_.listeners.size(); ++index) {
    const LinkedListener& listener = config_.listeners[index];
    const auto& addresses = config_.gateways[listener.gateway].addresses;
    const bool bound =
        addresses.empty() ? true : bind.address && std::ranges::find(addresses, *bind.address) != addresses.end();
    if (!bound || listener.port != bind.port) continue;
    std::vector<HostPattern> patterns;
    for (const auto& name : listener.hostnames) patterns.push_back(name.value);
    if (patterns.empty()) patterns.emplace_back();
    for (const HostPattern& pattern : patterns) {
      if (!pattern.any() && !pattern.matches(host)) continue;
      if (!best || HostPattern::more_specific(pattern, best_pattern)) {
        best = index;
        best_pattern = pattern;
      }
    }
  }
  return best;
}

/// The most specific name under which the route serves `host` on the listener; nullopt when it does not.
std::optional<HostPattern> Reference::host_level(const LinkedListener& listener, const LinkedRoute& route,
                                                 const std::string& host) const {
  // "a route without hostnames comes last"
  if (route.hostnames.empty()) return HostPattern();
  std::optional<HostPattern> best;
  const auto offer = [&best, &host](const HostPattern& pattern) {
    if (!pattern.any() && !pattern.matches(host)) return;
    if (!best || HostPattern::more_specific(pattern, *best)) best = pattern;
  };
  for (const auto& name : route.hostnames) {
    if (listener.hostnames.empty()) offer(name.value);
    for (const auto& own : listener.hostnames) {
      if (const auto shared = HostPattern::intersect(name.value, own.value)) offer(*shared);
    }
  }
  return best;
}

bool Reference::holds(const MatchEntry& entry, const Facts& facts) const {
  const auto field_holds = [&facts](const FieldTest& test, std::optional<std::string_view> value) {
    if (const auto claim = program::read_claim_field(test.name)) {
      if (claim->item) return facts.has_item(claim->claim, *claim->item);
      value = facts.claim(claim->claim);
    }
    if (!value) return false;
    switch (test.type) {
      case MatchType::kPresent:
        return true;
      case MatchType::kExact:
        return *value == test.value;
      case MatchType::kRegex:
        return test.pattern->found_in(*value);
    }
    return false;
  };
  const compiler::RuleMatch& match = *entry.match;
  switch (match.path.type) {
    case PathMatch::Type::kNone:
      break;
    case PathMatch::Type::kExact:
      if (!facts.path_is(match.path.value.value)) return false;
      break;
    case PathMatch::Type::kPrefix:
      if (!facts.path_below(match.path.value.value)) return false;
      break;
    case PathMatch::Type::kRegex:
      if (!entry.path->found_in(facts.request().path)) return false;
      break;
  }
  if (match.method && match.method->value != facts.request().method) return false;
  return std::ranges::all_of(entry.headers,
                             [&](const FieldTest& test) { return field_holds(test, facts.header(test.name)); }) &&
         std::ranges::all_of(entry.query,
                             [&](const FieldTest& test) { return field_holds(test, facts.query(test.name)); });
}

namespace {

using compiler::Identity;

bool older(const Identity& a, const Identity& b) {
  if (a.created != b.created) return a.created < b.created;
  return a.name_space + "/" + a.name < b.name_space + "/" + b.name;
}

enum class Api : std::uint8_t { kProxy, kGatewayApi, kIngress };

Api api_of(const Identity& route) {
  if (route.kind == "ProxyRoute") return Api::kProxy;
  return route.kind == "Ingress" ? Api::kIngress : Api::kGatewayApi;
}

/// "On a host where both meet: exact; Gateway API's and Ingress's expressions; prefixes by length; ProxyRoute's
/// expressions". GRPCRoutes have none in Gateway API's sense: their precedence is by the characters of the service, so
/// the pattern of a method alone comes behind the prefix that a service is.
int path_rank(const Identity& route, const PathMatch& path) {
  switch (path.type) {
    case PathMatch::Type::kExact:
      return 0;
    case PathMatch::Type::kRegex:
      return route.kind == "HTTPRoute" || route.kind == "Ingress" ? 1 : 3;
    case PathMatch::Type::kPrefix:
      return 2;
    case PathMatch::Type::kNone:
      return 4;
  }
  return 4;
}

}  // namespace

/// Whether the route has rules under exactly this host pattern of the listener.
bool Reference::serves(std::uint32_t listener, const RouteEntry& entry, const HostPattern& host) const {
  const LinkedRoute& route = *entry.route;
  if (entry.refused || std::ranges::find(route.listeners, listener) == route.listeners.end()) return false;
  if (route.hostnames.empty()) return host == HostPattern();
  const auto& own = config_.listeners[listener].hostnames;
  for (const auto& name : route.hostnames) {
    if (own.empty() && name.value == host) return true;
    for (const auto& pattern : own) {
      if (HostPattern::intersect(name.value, pattern.value) == host) return true;
    }
  }
  return false;
}

/// "at one path the rules of one API stand together, that of the oldest route first": the oldest route of the API of
/// `like` that has a rule at its path under this host pattern.
const Identity& Reference::oldest(std::uint32_t listener, const HostPattern& host, const MatchEntry& like) const {
  const Identity* found = &config_.routes[like.origin.route].identity;
  const Api api = api_of(*found);
  const int rank = path_rank(*found, like.match->path);
  const bool by_text = rank == 0 || rank == 2;
  for (const RouteEntry& entry : routes_) {
    const Identity& identity = entry.route->identity;
    if (api_of(identity) != api || !older(identity, *found) || !serves(listener, entry, host)) continue;
    for (const MatchEntry& match : entry.matches) {
      if (path_rank(identity, match.match->path) != rank) continue;
      if (by_text && match.match->path.value.value != like.match->path.value.value) continue;
      found = &identity;
    }
  }
  return *found;
}

/// D1's key: "host specificity; exact > longest prefix > regex > no path; more header matches first; method given
/// before not given; more query matches first; then older creationTimestamp, then namespace/name, then rule order".
/// Gateway API's and Ingress's: "exact, then regular expression, then longest prefix; then method, then more header
/// matches, then query".
bool Reference::before(std::uint32_t listener, const HostPattern& host_a, const MatchEntry& a,
                       const HostPattern& host_b, const MatchEntry& b) const {
  if (host_a != host_b) return HostPattern::more_specific(host_a, host_b);
  const Identity& id_a = config_.routes[a.origin.route].identity;
  const Identity& id_b = config_.routes[b.origin.route].identity;
  const int rank_a = path_rank(id_a, a.match->path);
  const int rank_b = path_rank(id_b, b.match->path);
  if (rank_a != rank_b) return rank_a < rank_b;
  if (a.match->path.type == PathMatch::Type::kPrefix) {
    const auto length = [](const MatchEntry& e) { return e.match->path.value.value.size(); };
    if (length(a) != length(b)) return length(a) > length(b);
  }
  const bool expressions = a.match->path.type == PathMatch::Type::kRegex && api_of(id_a) == Api::kIngress;
  if (expressions && api_of(id_b) == Api::kIngress) {
    const auto length = [](const MatchEntry& e) { return e.match->path.value.value.size(); };
    if (length(a) != length(b)) return length(a) > length(b);
  }
  const bool has_method = a.match->method.has_value();
  const bool same_method = has_method == b.match->method.has_value();
  if (api_of(id_a) != api_of(id_b)) return older(oldest(listener, host_a, a), oldest(listener, host_b, b));
  if (api_of(id_a) != Api::kProxy && !same_method) return has_method;
  if (a.headers.size() != b.headers.size()) return a.headers.size() > b.headers.size();
  if (!same_method) return has_method;
  if (a.query.size() != b.query.size()) return a.query.size() > b.query.size();
  if (&id_a != &id_b) return older(id_a, id_b);
  if (a.origin.rule != b.origin.rule) return a.origin.rule < b.origin.rule;
  return a.origin.match < b.origin.match;
}

std::optional<Answer> Reference::answer(const Bind& bind, const OwnedRequest& asked) const {
  const auto listener = listener_of(bind, asked.host);
  if (!listener) return std::nullopt;
  OwnedRequest request = asked;
  if (!apply(config_.gateways[config_.listeners[*listener].gateway].paths, request.path)) return std::nullopt;
  Facts::Claimed claimed;
  for (const auto& header : config_.listeners[*listener].claimed_headers) claimed[header.header] = header.claim;
  const Facts facts(request, std::move(claimed));
  const MatchEntry* best = nullptr;
  HostPattern best_host;
  for (const RouteEntry& entry : routes_) {
    if (entry.refused || std::ranges::find(entry.route->listeners, *listener) == entry.route->listeners.end()) continue;
    const auto host = host_level(config_.listeners[*listener], *entry.route, request.host);
    if (!host) continue;
    // "the expression is evaluated first; if it is false the route does not match" (D5), but for the paths of a login,
    // which nobody wrote
    const bool matches = !entry.expression || entry.expression->holds(facts);
    for (const MatchEntry& match : entry.matches) {
      if (!matches && !entry.route->rules[match.origin.rule].implied) continue;
      if (!holds(match, facts)) continue;
      if (best != nullptr && !before(*listener, *host, match, best_host, *best)) continue;
      best = &match;
      best_host = *host;
    }
  }
  if (best == nullptr) return std::nullopt;
  Answer answer = best->origin;
  answer.listener = *listener;
  return answer;
}

}  // namespace edge::reference
