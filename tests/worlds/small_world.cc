#include "tests/worlds/small_world.h"

#include <string>
#include <utility>

namespace edge::worlds {
namespace {

using compiler::FieldMatch;
using compiler::LinkedConfig;
using compiler::LinkedRoute;
using compiler::MatchType;
using compiler::PathMatch;
using compiler::RuleMatch;
using Words = std::vector<std::string>;

const Words kHostPatterns = {"a.test", "b.a.test", "*.a.test", "*.test"};
const Words kHosts = {"a.test", "b.a.test", "c.a.test", "d.test", "other"};
const Words kPaths = {"/", "/a", "/b", "/a/b", "/ab", "/a/", "/a/a"};
const Words kPatterns = {"^/a",    "b$",  "^/[ab]+$", "/b",          "a.*b",      "^/a/b?$", "^/(a|ab)/?",
                         "^/a/.*", "^/$", "^/[^/]*$", "(^|/)a(/|$)", "^/a[ab]*$", "\\ba\\b", "^/(?:a|b)(?:/|$)"};
const Words kMethods = {"GET", "POST"};
const Words kValues = {"1", "2"};
const Words kValuePatterns = {"^1", "2$", "^[12]$", "1|2"};
const Words kContained = {"a", "/b", "ab", "//"};
const Words kBlocks = {"10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "::/0"};

Located<std::string> located(std::string text) { return {std::move(text), {}}; }

FieldMatch small_field(Chance& chance, const char* name) {
  switch (chance.below(4)) {
    case 0:
      return {located(name), {}, MatchType::kPresent};
    case 1:
      return {located(name), located(chance.of(kValuePatterns)), MatchType::kRegex};
    default:
      return {located(name), located(chance.of(kValues)), MatchType::kExact};
  }
}

RuleMatch small_match(Chance& chance) {
  RuleMatch match;
  switch (chance.below(6)) {
    case 0:
      match.path = {PathMatch::Type::kExact, located(chance.of(kPaths))};
      break;
    case 1:
    case 2: {
      std::string prefix = chance.of(kPaths);
      if (prefix.size() > 1 && prefix.ends_with('/')) prefix.pop_back();
      match.path = {PathMatch::Type::kPrefix, located(std::move(prefix))};
      break;
    }
    case 3:
    case 4:
      match.path = {PathMatch::Type::kRegex, located(chance.of(kPatterns))};
      break;
    default:
      break;
  }
  if (chance.one_in(4)) match.headers.push_back(small_field(chance, "x"));
  if (chance.one_in(6)) match.query.push_back(small_field(chance, "q"));
  if (chance.one_in(4)) match.method = located(chance.of(kMethods));
  return match;
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

/// Every text over `alphabet` of at most `longest` bytes.
Words every_text(std::string_view alphabet, std::size_t longest) {
  Words texts = {""};
  for (std::size_t first = 0, size = 1; size <= longest; ++size) {
    const std::size_t end = texts.size();
    for (; first < end; ++first) {
      for (const char c : alphabet) texts.push_back(texts[first] + c);
    }
  }
  return texts;
}

}  // namespace

std::string small_expression(Chance& chance, int depth) {
  if (depth > 0 && !chance.one_in(3)) {
    const std::string left = small_expression(chance, depth - 1);
    if (chance.one_in(4)) return "NOT (" + left + ")";
    return "(" + left + ")" + (chance.one_in(2) ? " AND (" : " OR (") + small_expression(chance, depth - 1) + ")";
  }
  switch (chance.below(6)) {
    case 0:
      return "path exact " + quoted(chance.of(kPaths));
    case 1: {
      const std::string& prefix = chance.of(kPaths);
      return "path prefix " + quoted(prefix);
    }
    case 2:
      return "path contains " + quoted(chance.of(kContained));
    case 3:
      return "method " + std::string(chance.one_in(2) ? "== " : "!= ") + quoted(chance.of(kMethods));
    case 4:
      return "source_ip in " + quoted(chance.of(kBlocks));
    default:
      return (chance.one_in(3) ? "query:q " : "header:x ") + std::string(chance.one_in(2) ? "== " : "!= ") +
             quoted(chance.of(kValues));
  }
}

LinkedConfig small_config(Chance& chance) {
  LinkedConfig config;
  config.gateways.emplace_back().identity = {"ProxyGateway", "edge", "main", 0, {}};
  compiler::LinkedListener& listener = config.listeners.emplace_back();
  listener.name = "http";
  listener.port = 80;
  for (const char* const name : {"app", "next"}) {
    config.backends.emplace_back().identity = {"ProxyBackend", "edge", name, 0, {}};
  }
  for (std::uint32_t i = 0, routes = 3 + chance.below(5); i < routes; ++i) {
    LinkedRoute& route = config.routes.emplace_back();
    route.identity = {"ProxyRoute", "edge", "r" + std::to_string(i), chance.below(2), {}};
    if (chance.one_in(2)) route.hostnames.push_back({*HostPattern::parse(chance.of(kHostPatterns)), {}});
    if (chance.one_in(3)) route.expression = located(small_expression(chance, 2));
    compiler::LinkedRule& rule = route.rules.emplace_back();
    for (std::uint32_t n = 1 + chance.below(4); n > 0; --n) rule.matches.push_back(small_match(chance));
    rule.backends.push_back({chance.below(2), 1});
    if (chance.one_in(4)) rule.backends.push_back({chance.below(2), chance.below(2)});
    route.listeners = {0};
  }
  return config;
}

std::vector<reference::OwnedRequest> every_request() {
  const Words values = {"absent", "1", "2", "12"};
  const Words methods = {"GET", "POST", "PUT"};
  std::vector<reference::OwnedRequest> requests;
  for (const std::string& host : kHosts) {
    for (const std::string& rest : every_text("ab/", 3)) {
      for (const std::string& method : methods) {
        for (const std::string& header : values) {
          for (const char* const query : {"", "q=1", "q=12"}) {
            for (const char* const source : {"10.0.0.1", "10.200.0.1", "192.0.2.1"}) {
              reference::OwnedRequest request;
              request.host = host;
              request.path = "/" + rest;
              request.method = method;
              if (header != "absent") request.headers.emplace_back("x", header);
              request.query = query;
              request.source = *parse_ip(source);
              requests.push_back(std::move(request));
            }
          }
        }
      }
    }
  }
  return requests;
}

}  // namespace edge::worlds
