#include "tests/diff/shrink.h"

#include <vector>

#include "program/claim_field.h"
#include "tests/reference/treatment.h"

namespace edge::diff {
namespace {

using compiler::FieldMatch;
using compiler::LinkedConfig;
using compiler::LinkedRoute;
using compiler::MatchType;
using compiler::PathMatch;
using compiler::RuleMatch;

class Shrinker {
 public:
  Shrinker(Case failing, const std::function<bool(const Case&)>& fails) : best_(std::move(failing)), fails_(fails) {}

  Case run() {
    do {
      progress_ = false;
      shrink_routes();
      for (std::size_t r = 0; r < best_.config.routes.size(); ++r) shrink_route(r);
      shrink_request();
    } while (progress_);
    return best_;
  }

 private:
  /// Keeps the edit when the case still fails.
  bool attempt(const std::function<void(Case&)>& edit) {
    Case smaller = best_;
    edit(smaller);
    if (!fails_(smaller)) return false;
    best_ = std::move(smaller);
    return progress_ = true;
  }

  /// Tries to drop each element of a vector, the last one first; `keep` of them have to stay.
  template <typename Pick>
  void drop_each(Pick pick, std::size_t keep) {
    for (std::size_t i = pick(best_).size(); i-- > 0;) {
      if (pick(best_).size() <= keep) return;
      attempt([&](Case& c) {
        auto& vector = pick(c);
        vector.erase(vector.begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
  }

  void shrink_routes() {
    // Halves first: most routes have nothing to do with it.
    for (std::size_t size = best_.config.routes.size() / 2; size > 0; size /= 2) {
      for (std::size_t at = 0; at + size <= best_.config.routes.size();) {
        const bool gone = attempt([&](Case& c) {
          const auto first = c.config.routes.begin() + static_cast<std::ptrdiff_t>(at);
          c.config.routes.erase(first, first + static_cast<std::ptrdiff_t>(size));
        });
        if (!gone) at += size;
      }
    }
  }

  void shrink_route(std::size_t r) {
    const auto route = [r](Case& c) -> LinkedRoute& { return c.config.routes[r]; };
    if (route(best_).expression) attempt([&](Case& c) { route(c).expression.reset(); });
    drop_each([&](Case& c) -> auto& { return route(c).rules; }, 1);
    drop_each([&](Case& c) -> auto& { return route(c).hostnames; }, 0);
    drop_each([&](Case& c) -> auto& { return route(c).listeners; }, 1);
    drop_each([&](Case& c) -> auto& { return route(c).policies; }, 0);
    for (std::size_t n = 0; n < route(best_).rules.size(); ++n) {
      drop_each([&](Case& c) -> auto& { return route(c).rules[n].matches; }, 1);
      drop_each([&](Case& c) -> auto& { return route(c).rules[n].backends; }, 0);
      drop_each([&](Case& c) -> auto& { return route(c).rules[n].filters; }, 0);
      drop_each([&](Case& c) -> auto& { return route(c).rules[n].mirrors; }, 0);
      drop_each([&](Case& c) -> auto& { return route(c).rules[n].policies; }, 0);
      for (std::size_t m = 0; m < route(best_).rules[n].matches.size(); ++m) {
        const auto match = [&route, n, m](Case& c) -> RuleMatch& { return route(c).rules[n].matches[m]; };
        drop_each([&](Case& c) -> auto& { return match(c).headers; }, 0);
        drop_each([&](Case& c) -> auto& { return match(c).query; }, 0);
        if (match(best_).method) attempt([&](Case& c) { match(c).method.reset(); });
        if (match(best_).path.type != PathMatch::Type::kNone) attempt([&](Case& c) { match(c).path = {}; });
      }
    }
    if (route(best_).identity.created != 0) attempt([&](Case& c) { route(c).identity.created = 0; });
  }

  void shrink_request() {
    drop_each([](Case& c) -> auto& { return c.request.headers; }, 0);
    drop_each([](Case& c) -> auto& { return c.request.claims; }, 0);
    if (!best_.request.query.empty()) attempt([](Case& c) { c.request.query.clear(); });
    if (best_.request.path != "/") attempt([](Case& c) { c.request.path = "/"; });
    if (best_.request.method != "GET") attempt([](Case& c) { c.request.method = "GET"; });
    while (best_.request.path.size() > 1 && attempt([](Case& c) { c.request.path.pop_back(); })) {
    }
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
  bool progress_ = false;
};

std::string scalar(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

template <typename Names>
std::string host_list(const Names& names) {
  std::string text = "[";
  for (const auto& name : names) text += (text.size() > 1 ? ", " : "") + scalar(name.value.text());
  return text + "]";
}

std::string field_list(const std::vector<FieldMatch>& fields) {
  std::string text;
  for (const FieldMatch& field : fields) {
    const char* const type = field.type == MatchType::kExact     ? "Exact"
                             : field.type == MatchType::kPresent ? "Present"
                                                                 : "RegularExpression";
    text +=
        std::string(text.empty() ? "" : ", ") + "{name: " +
        scalar(program::is_claim_field(field.name.value) ? program::field_text(field.name.value) : field.name.value) +
        ", type: " + type;
    if (field.type != MatchType::kPresent) text += ", value: " + scalar(field.value.value);
    text += "}";
  }
  return "[" + text + "]";
}

std::string match_text(const RuleMatch& match) {
  std::vector<std::string> parts;
  const char* const types[] = {"", "Exact", "PathPrefix", "RegularExpression"};
  if (match.path.type != PathMatch::Type::kNone) {
    parts.push_back(std::string("path: {type: ") + types[static_cast<int>(match.path.type)] +
                    ", value: " + scalar(match.path.value.value) + "}");
  }
  if (!match.headers.empty()) parts.push_back("headers: " + field_list(match.headers));
  if (match.method) parts.push_back("method: " + scalar(match.method->value));
  if (!match.query.empty()) parts.push_back("queryParams: " + field_list(match.query));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "{" + text + "}";
}

std::string header_text(const compiler::Identity& identity) {
  std::string text =
      "---\nkind: " + identity.kind + "\nmetadata: {namespace: " + identity.name_space + ", name: " + identity.name;
  if (identity.created != 0) text += ", created: " + std::to_string(identity.created);
  return text + "}\nspec:\n";
}

/// In the words that a disagreement about it is told in.
std::string treatment_text(const LinkedConfig& config, const LinkedRoute& route, const compiler::LinkedRule& rule) {
  if (route.listeners.empty()) return {};
  const auto index = [](const auto& all, const auto& one) { return static_cast<std::size_t>(&one - all.data()); };
  const std::string text =
      reference::treatment_of(config, {route.listeners[0], static_cast<std::uint32_t>(index(config.routes, route)),
                                       static_cast<std::uint16_t>(index(route.rules, rule)), 0});
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines += "    # " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

}  // namespace

Case shrink(Case failing, const std::function<bool(const Case&)>& fails) {
  return Shrinker(std::move(failing), fails).run();
}

std::string case_text(const Case& small) {
  const LinkedConfig& config = small.config;
  std::string text;
  for (std::uint32_t g = 0; g < config.gateways.size(); ++g) {
    text += header_text(config.gateways[g].identity) + "  addresses: [";
    for (const IpAddress& address : config.gateways[g].addresses) text += to_string(address) + " ";
    text += "]\n  listeners:\n";
    for (const auto& listener : config.listeners) {
      if (listener.gateway != g) continue;
      text += "  - {name: " + listener.name + ", port: " + std::to_string(listener.port) +
              ", hostnames: " + host_list(listener.hostnames) + "}\n";
    }
  }
  for (const LinkedRoute& route : config.routes) {
    text += header_text(route.identity) + "  listeners: [";
    for (const std::uint32_t index : route.listeners) {
      const auto& listener = config.listeners[index];
      text += config.gateways[listener.gateway].identity.name + "/" + listener.name + " ";
    }
    text += "]\n  hostnames: " + host_list(route.hostnames) + "\n";
    if (route.expression) text += "  expression: " + scalar(route.expression->value) + "\n";
    text += "  rules:\n";
    for (const auto& rule : route.rules) {
      text += "  - matches:\n";
      for (const auto& match : rule.matches) text += "    - " + match_text(match) + "\n";
      text += treatment_text(config, route, rule);
    }
  }
  return text + request_line(small.request) + "\n";
}

}  // namespace edge::diff
