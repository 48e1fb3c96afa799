#include <algorithm>
#include <string>
#include <utility>

#include "compiler/link/defaults.h"
#include "compiler/link/path_value.h"
#include "compiler/link/retry_on.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

using program::FilterOp;

void make_lower(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
}

std::string lower(std::string text) {
  make_lower(text);
  return text;
}

std::string rule_field(std::size_t rule, std::string_view field = {}) {
  std::string text = "spec.rules[" + std::to_string(rule) + "]";
  if (!field.empty()) text.append(".").append(field);
  return text;
}

std::string match_field(std::size_t rule, std::size_t match, std::string_view field) {
  return rule_field(rule, "matches[" + std::to_string(match) + "]." + std::string(field));
}

MatchType match_type(model::ValueType type) {
  switch (type) {
    case model::ValueType::kExact:
      return MatchType::kExact;
    case model::ValueType::kPresent:
      return MatchType::kPresent;
    case model::ValueType::kRegex:
      break;
  }
  return MatchType::kRegex;
}

/// Which listeners each gateway has; by gateway index.
std::vector<std::vector<std::uint32_t>> listeners_by_gateway(const LinkedConfig& config) {
  std::vector<std::vector<std::uint32_t>> lists(config.gateways.size());
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) lists[config.listeners[i].gateway].push_back(i);
  return lists;
}

/// Whether a route's names and a listener's share any.
bool share_names(const std::vector<Located<HostPattern>>& route, const std::vector<Located<HostPattern>>& listener) {
  if (route.empty() || listener.empty()) return true;
  for (const Located<HostPattern>& a : route) {
    for (const Located<HostPattern>& b : listener) {
      if (HostPattern::intersect(a.value, b.value)) return true;
    }
  }
  return false;
}

class RouteLinker {
 public:
  RouteLinker(const RouteTargets& targets, LinkedConfig& config, Diagnostics& diagnostics)
      : targets_(targets), config_(config), diagnostics_(diagnostics), listeners_(listeners_by_gateway(config)) {}

  void link(model::ProxyRoute& route) {
    metadata_ = &route.metadata;
    ok_ = true;
    LinkedRoute linked;
    linked.identity = identity_of(route.metadata);
    linked.rules.reserve(route.rules.size());
    for (std::size_t i = 0; i < route.rules.size(); ++i) linked.rules.push_back(rule(route.rules[i], i));
    if (!ok_) return;
    attach(route, linked);
    linked.hostnames = std::move(route.hostnames);
    linked.expression = std::move(route.expression);
    config_.routes.push_back(std::move(linked));
  }

 private:
  void fault(DiagnosticCode code, Span span, std::string field, std::string message, std::string fix = {}) {
    ok_ = false;
    diagnostics_.add({.code = code,
                      .resource = metadata_->text(),
                      .field = std::move(field),
                      .span = span,
                      .message = std::move(message),
                      .fix = std::move(fix)});
  }

  void warn(DiagnosticCode code, Span span, std::string field, std::string message, std::string fix = {}) {
    diagnostics_.add({.code = code,
                      .severity = Severity::kWarning,
                      .resource = metadata_->text(),
                      .field = std::move(field),
                      .span = span,
                      .message = std::move(message),
                      .fix = std::move(fix)});
  }

  void attach(const model::ProxyRoute& route, LinkedRoute& linked) {
    for (std::size_t i = 0; i < route.parents.size(); ++i) {
      const model::ParentRef& parent = route.parents[i];
      const auto field = [&] { return "spec.parentRefs[" + std::to_string(i) + "].name"; };
      const auto gateway = targets_.gateways.resolve(route.metadata, parent.gateway, field);
      if (!gateway) continue;
      attach_to(route, parent, i, *gateway, linked);
    }
    std::sort(linked.listeners.begin(), linked.listeners.end());
    linked.listeners.erase(std::unique(linked.listeners.begin(), linked.listeners.end()), linked.listeners.end());
  }

  void attach_to(const model::ProxyRoute& route, const model::ParentRef& parent, std::size_t index,
                 std::uint32_t gateway, LinkedRoute& linked) {
    const std::vector<std::uint32_t>& all = listeners_[gateway];
    if (all.empty()) return;  // reported where the gateway was linked
    bool meant = false;
    bool served = false;
    for (const std::uint32_t position : all) {
      const LinkedListener& listener = config_.listeners[position];
      if (parent.section_name && parent.section_name->value != listener.name) continue;
      if (parent.port && parent.port->value != listener.port) continue;
      meant = true;
      if (!share_names(route.hostnames, listener.hostnames)) continue;
      served = true;
      linked.listeners.push_back(position);
    }
    const std::string field = "spec.parentRefs[" + std::to_string(index) + "]";
    if (!meant) {
      const Span span = parent.section_name ? parent.section_name->span
                        : parent.port       ? parent.port->span
                                            : parent.gateway.name.span;
      warn(DiagnosticCode::kNotAttached, span, field + (parent.section_name ? ".sectionName" : ".port"),
           config_.gateways[gateway].identity.text() + " serves no such listener; the route does not attach there",
           listener_names(all));
    } else if (!served) {
      warn(DiagnosticCode::kNotAttached, route.hostnames[0].span, "spec.hostnames",
           "no listener of " + config_.gateways[gateway].identity.text() + " serves any of the route's hostnames");
    }
  }

  std::string listener_names(const std::vector<std::uint32_t>& all) const {
    std::string text = "its listeners are ";
    for (std::size_t i = 0; i < all.size() && i < 8; ++i) {
      const LinkedListener& listener = config_.listeners[all[i]];
      text += (i == 0 ? "`" : ", `") + listener.name + "` on port " + std::to_string(listener.port);
    }
    return text;
  }

  LinkedRule rule(model::Rule& rule, std::size_t index) {
    LinkedRule linked;
    linked.span = rule.span;
    linked.matches.reserve(std::max<std::size_t>(rule.matches.size(), 1));
    for (std::size_t i = 0; i < rule.matches.size(); ++i) linked.matches.push_back(match(rule.matches[i], index, i));
    if (linked.matches.empty()) {
      linked.matches.emplace_back();
      linked.matches.back().span = rule.span;
    }
    for (std::size_t i = 0; i < rule.filters.size(); ++i) filter(rule, i, index, linked);
    // A redirect answers by itself: the runtime ends with it.
    std::stable_partition(linked.filters.begin(), linked.filters.end(),
                          [](const Filter& f) { return f.op < FilterOp::kRedirect; });
    const auto last = std::find_if(linked.filters.begin(), linked.filters.end(),
                                   [](const Filter& f) { return f.op == FilterOp::kRedirect; });
    if (last != linked.filters.end()) std::rotate(last, last + 1, linked.filters.end());
    backends(rule, index, linked);
    limits(rule, index, linked);
    return linked;
  }

  RuleMatch match(model::Match& match, std::size_t rule, std::size_t index) {
    RuleMatch linked;
    linked.span = match.span;
    if (match.path) linked.path = path(*match.path, rule, index);
    const auto conditions = [](std::vector<model::ValueCondition>& from, std::vector<FieldMatch>& to, bool header) {
      to.reserve(from.size());
      for (model::ValueCondition& condition : from) {
        if (header) make_lower(condition.name.value);
        to.push_back({.name = std::move(condition.name),
                      .value = std::move(condition.value),
                      .type = match_type(condition.type)});
      }
    };
    conditions(match.headers, linked.headers, true);
    conditions(match.query, linked.query, false);
    linked.method = std::move(match.method);
    return linked;
  }

  PathMatch path(model::PathCondition& condition, std::size_t rule, std::size_t match) {
    PathMatch linked;
    linked.value.span = condition.value.span;
    if (condition.type == model::PathType::kRegex) {
      linked.type = PathMatch::Type::kRegex;
      linked.value = std::move(condition.value);
      return linked;
    }
    const bool exact = condition.type == model::PathType::kExact;
    linked.type = exact ? PathMatch::Type::kExact : PathMatch::Type::kPrefix;
    auto value = exact ? path_value(condition.value.value) : prefix_value(condition.value.value);
    if (value) {
      linked.value.value = *std::move(value);
      return linked;
    }
    const bool query = condition.value.value.find('?') != std::string::npos;
    fault(DiagnosticCode::kInvalidValue, condition.value.span, match_field(rule, match, "path.value"),
          "`" + condition.value.value.substr(0, 60) + "` is no path that a request can have",
          query ? "match the query by `queryParams`" : "");
    return linked;
  }

  void filter(model::Rule& rule, std::size_t index, std::size_t rule_index, LinkedRule& linked) {
    model::Filter& filter = rule.filters[index];
    switch (filter.type) {
      case model::FilterType::kRequestHeaders:
        return headers(filter.headers, FilterOp::kRequestHeaderSet, FilterOp::kRequestHeaderAdd,
                       FilterOp::kRequestHeaderRemove, linked);
      case model::FilterType::kResponseHeaders:
        return headers(filter.headers, FilterOp::kResponseHeaderSet, FilterOp::kResponseHeaderAdd,
                       FilterOp::kResponseHeaderRemove, linked);
      case model::FilterType::kRewrite:
        if (filter.hostname)
          linked.filters.push_back(value_filter(FilterOp::kRewriteHost, filter.hostname->value.text()));
        path_change(rule, filter, rule_index, FilterOp::kRewritePrefix, FilterOp::kRewriteFullPath, linked);
        return;
      case model::FilterType::kRedirect:
        redirect(rule, filter, rule_index, linked);
        return;
      case model::FilterType::kMirror:
        not_served(*metadata_, filter.span, rule_field(rule_index, "filters[" + std::to_string(index) + "]"),
                   "requests are not mirrored by this version", diagnostics_);
        return;
    }
  }

  static Filter value_filter(FilterOp op, std::string value) {
    Filter filter{};
    filter.op = op;
    filter.value = std::move(value);
    return filter;
  }

  static void headers(model::HeaderModifier& modifier, FilterOp set, FilterOp add, FilterOp remove,
                      LinkedRule& linked) {
    const auto put = [&](FilterOp op, Located<std::string>& name, std::string value) {
      Filter filter{};
      filter.op = op;
      filter.name = lower(std::move(name.value));
      filter.value = std::move(value);
      linked.filters.push_back(std::move(filter));
    };
    for (model::NameValue& header : modifier.set) put(set, header.name, std::move(header.value.value));
    for (model::NameValue& header : modifier.add) put(add, header.name, std::move(header.value.value));
    for (Located<std::string>& name : modifier.remove) put(remove, name, {});
  }

  void redirect(model::Rule& rule, model::Filter& filter, std::size_t rule_index, LinkedRule& linked) {
    if (filter.scheme) linked.filters.push_back(value_filter(FilterOp::kRedirectScheme, filter.scheme->value));
    if (filter.hostname) linked.filters.push_back(value_filter(FilterOp::kRedirectHost, filter.hostname->value.text()));
    path_change(rule, filter, rule_index, FilterOp::kRedirectPrefix, FilterOp::kRedirectFullPath, linked);
    Filter end{};
    end.op = FilterOp::kRedirect;
    end.status = filter.status ? static_cast<std::uint32_t>(filter.status->value) : kDefaults.redirect_status;
    end.port = filter.port ? static_cast<std::uint32_t>(filter.port->value) : 0;
    linked.filters.push_back(std::move(end));
  }

  void path_change(const model::Rule& rule, const model::Filter& filter, std::size_t rule_index, FilterOp prefix,
                   FilterOp full, LinkedRule& linked) {
    if (!filter.path) return;
    const bool is_prefix = filter.path->type == model::PathChangeType::kPrefix;
    if (is_prefix) {
      for (std::size_t i = 0; i < rule.matches.size(); ++i) {
        const auto& path = rule.matches[i].path;
        if (!path || path->type != model::PathType::kRegex) continue;
        fault(DiagnosticCode::kExclusiveFields, filter.path->value.span, rule_field(rule_index, "filters"),
              "ReplacePrefixMatch replaces the matched prefix, and a regular expression matches none",
              "use ReplaceFullPath, or a match of type PathPrefix");
        return;
      }
    }
    const std::string& written = filter.path->value.value;
    const auto value = written.empty() ? std::optional<std::string>("") : path_value(written);
    if (!value) {
      fault(DiagnosticCode::kInvalidValue, filter.path->value.span, rule_field(rule_index, "filters"),
            "`" + written.substr(0, 60) + "` is no path");
      return;
    }
    linked.filters.push_back(value_filter(is_prefix ? prefix : full, *value));
  }

  void backends(const model::Rule& rule, std::size_t index, LinkedRule& linked) {
    linked.backends.reserve(rule.backends.size());
    for (std::size_t i = 0; i < rule.backends.size(); ++i) {
      const model::BackendRef& reference = rule.backends[i];
      const auto field = [&] { return rule_field(index, "backendRefs[" + std::to_string(i) + "].name"); };
      WeightedBackend backend;
      backend.weight = reference.weight ? static_cast<std::uint32_t>(reference.weight->value) : kDefaults.weight;
      const auto position = targets_.backends.resolve(*metadata_, reference.backend, field);
      if (position) backend.backend = targets_.backend_index[*position];
      linked.backends.push_back(backend);
    }
    const bool answers = !linked.filters.empty() && linked.filters.back().op == FilterOp::kRedirect;
    if (linked.backends.empty() && !answers) {
      warn(DiagnosticCode::kMissingField, rule.span, rule_field(index, "backendRefs"),
           "the rule has no backend and no redirect: its requests are answered 500");
    }
  }

  void limits(const model::Rule& rule, std::size_t index, LinkedRule& linked) {
    if (rule.request_timeout) linked.request_timeout = rule.request_timeout->value;
    if (rule.idle_timeout) linked.idle_timeout = rule.idle_timeout->value;
    if (rule.max_request_body) linked.max_request_body = rule.max_request_body->value;
    if (const auto& retry = rule.retry) {
      linked.retry = RouteRetry{
          .max_retries = static_cast<std::uint16_t>(retry->max_retries ? retry->max_retries->value : kDefaults.retries),
          .retry_on = retry_on_bits(retry->retry_on)};
      const Span span = retry->max_retries        ? retry->max_retries->span
                        : retry->retry_on.empty() ? rule.span
                                                  : retry->retry_on[0].span;
      not_served(*metadata_, span, rule_field(index, "retry"), "requests are not tried again by this version",
                 diagnostics_);
    }
    if (const auto& buffering = rule.buffering) {
      linked.buffer_request = buffering->request && buffering->request->value;
      linked.buffer_response = buffering->response && buffering->response->value;
      linked.max_buffer = buffering->max_size ? buffering->max_size->value : 0;
      if (linked.buffer_request || linked.buffer_response) {
        not_served(*metadata_, buffering->span, rule_field(index, "buffering"), "bodies are not held by this version",
                   diagnostics_);
      }
    }
  }

  const RouteTargets& targets_;
  LinkedConfig& config_;
  Diagnostics& diagnostics_;
  std::vector<std::vector<std::uint32_t>> listeners_;
  const model::Metadata* metadata_ = nullptr;
  bool ok_ = true;
};

}  // namespace

void link_routes(std::vector<model::ProxyRoute>& routes, const RouteTargets& targets, LinkedConfig& config,
                 Diagnostics& diagnostics) {
  config.routes.reserve(routes.size());
  RouteLinker linker(targets, config, diagnostics);
  for (model::ProxyRoute& route : routes) linker.link(route);
}

}  // namespace edge::compiler::link
