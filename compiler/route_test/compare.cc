#include <algorithm>

#include "compiler/route_test/route_test.h"

namespace edge::compiler::route_test {
namespace {

using analyze::NameValues;
using analyze::Passage;

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// Repeated fields as one, the way a backend may read them (RFC 9110 §5.3); nullopt: absent.
std::optional<std::string> value_of(const NameValues& fields, const std::string& name) {
  std::optional<std::string> value;
  for (const auto& [field, text] : fields) {
    if (field == name) value = value ? *value + ", " + text : text;
  }
  return value;
}

std::string answer_text(const Passage& passage) {
  if (passage.status == 0) return "forwarded to " + joined(passage.backends);
  std::string text = std::to_string(passage.status) + " " + passage.reason;
  return passage.location.empty() ? text : text + " to " + passage.location;
}

class Comparison {
 public:
  Comparison(const Expectation& expect, const Passage& actual) : expect_(expect), actual_(actual) {}

  std::vector<Difference> run() {
    status();
    text("location", expect_.location, actual_.location);
    text("reason", expect_.reason, actual_.reason);
    text("listener", expect_.listener, actual_.listener);
    route();
    if (expect_.policies && *expect_.policies != actual_.policies) {
      add("policies", joined(*expect_.policies), joined(actual_.policies));
    }
    if (expect_.backends && *expect_.backends != actual_.backends) {
      add("backends", joined(*expect_.backends), actual_.status == 0 ? joined(actual_.backends) : answer_text(actual_));
    }
    text("path", expect_.path, actual_.path);
    text("host", expect_.host, actual_.host);
    fields("header ", expect_.headers, actual_.headers);
    for (const std::string& name : expect_.absent_headers) {
      if (const auto value = value_of(actual_.headers, name)) add("header " + name, "absent", quoted(*value));
    }
    fields("response header ", expect_.response_headers, actual_.response_headers);
    for (const std::string& name : expect_.removed_response_headers) {
      const bool removed = std::ranges::find(actual_.response_removed, name) != actual_.response_removed.end();
      if (!removed) add("response header " + name, "removed", "not touched");
    }
    return std::move(found_);
  }

 private:
  void add(std::string what, std::string expected, std::string actual) {
    found_.push_back({std::move(what), std::move(expected), std::move(actual)});
  }

  void status() {
    if (!expect_.status || *expect_.status == actual_.status) return;
    add("answer", *expect_.status == 0 ? "forwarded" : std::to_string(*expect_.status), answer_text(actual_));
  }

  void text(const char* what, const std::optional<std::string>& expected, const std::string& actual) {
    if (expected && *expected != actual) add(what, quoted(*expected), actual.empty() ? "none" : quoted(actual));
  }

  void route() {
    if (!expect_.route) return;
    const bool same = *expect_.route == actual_.route && expect_.rule.value_or(actual_.rule) == actual_.rule &&
                      expect_.match.value_or(actual_.match) == actual_.match;
    if (same) return;
    std::string wanted = *expect_.route;
    if (expect_.rule) wanted += " rules[" + std::to_string(*expect_.rule) + "]";
    if (expect_.match) wanted += ".matches[" + std::to_string(*expect_.match) + "]";
    add("route", wanted,
        actual_.route.empty() ? "none"
                              : actual_.route + " rules[" + std::to_string(actual_.rule) + "].matches[" +
                                    std::to_string(actual_.match) + "]");
  }

  void fields(const std::string& kind, const NameValues& expected, const NameValues& actual) {
    for (const auto& [name, value] : expected) {
      const auto got = value_of(actual, name);
      if (got != value_of(expected, name)) add(kind + name, quoted(value), got ? quoted(*got) : "absent");
    }
  }

  const Expectation& expect_;
  const Passage& actual_;
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> differences(const Expectation& expect, const Passage& actual) {
  return Comparison(expect, actual).run();
}

Expectation expectation_of(const Passage& passage) {
  Expectation expect;
  expect.status = passage.status;
  if (!passage.location.empty()) expect.location = passage.location;
  if (!passage.route.empty()) {
    expect.route = passage.route;
    expect.rule = passage.rule;
    expect.match = passage.match;
  }
  if (!passage.policies.empty()) expect.policies = passage.policies;
  if (passage.status != 0) return expect;
  expect.backends = passage.backends;
  expect.path = passage.path;
  expect.host = passage.host;
  expect.headers = passage.headers;
  expect.response_headers = passage.response_headers;
  expect.removed_response_headers = passage.response_removed;
  return expect;
}

}  // namespace edge::compiler::route_test
