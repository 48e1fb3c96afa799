#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "compiler/link/defaults.h"
#include "compiler/link/field_values.h"
#include "compiler/link/path_value.h"
#include "compiler/link/policies/claim_conditions.h"
#include "compiler/link/retry_on.h"
#include "compiler/link/stages.h"
#include "program/claim_field.h"
#include "program/filter_table.h"

namespace edge::compiler::link {
namespace {

using program::FilterOp;

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
    case model::ValueType::kContains:  // presence of the field that stands for the element
      return MatchType::kPresent;
    case model::ValueType::kRegex:
      break;
  }
  return MatchType::kRegex;
}

class RouteLinker {
 public:
  RouteLinker(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings)
      : route_(route), targets_(targets), findings_(findings) {}

  std::optional<LinkedRoute> link() {
    LinkedRoute linked;
    linked.identity = identity_of(route_.metadata);
    linked.rules.reserve(route_.rules.size());
    for (std::size_t i = 0; i < route_.rules.size(); ++i) linked.rules.push_back(rule(route_.rules[i], i));
    if (!ok_) {
      fail(findings_.status.conditions, condition::kAccepted, reason::kInvalid,
           "the route is left out because of a fault in it");
      return std::nullopt;
    }
    attach(route_, targets_, findings_, linked);
    for (const model::RouteFinding& found : route_.findings) {
      set_condition(
          findings_.status.conditions,
          {found.type, found.status ? ConditionStatus::kTrue : ConditionStatus::kFalse, found.reason, found.message});
    }
    linked.hostnames = route_.hostnames;
    linked.expression = route_.expression;
    linked.claims = claim_conditions(route_);
    return linked;
  }

 private:
  void fault(DiagnosticCode code, Span span, std::string field, std::string message, std::string fix = {}) {
    ok_ = false;
    findings_.diagnostics.add({.code = code,
                               .resource = route_.metadata.text(),
                               .field = std::move(field),
                               .span = span,
                               .message = std::move(message),
                               .fix = std::move(fix)});
  }

  LinkedRule rule(const model::Rule& rule, std::size_t index) {
    LinkedRule linked;
    linked.span = rule.span;
    linked.matches.reserve(std::max<std::size_t>(rule.matches.size(), 1));
    for (std::size_t i = 0; i < rule.matches.size(); ++i) linked.matches.push_back(match(rule.matches[i], index, i));
    if (linked.matches.empty()) {
      linked.matches.emplace_back();
      linked.matches.back().span = rule.span;
    }
    for (std::size_t i = 0; i < rule.filters.size(); ++i) {
      const model::Filter& one = rule.filters[i];
      if (one.type == model::FilterType::kMirror) {
        mirror(one, rule_field(index, "filters[" + std::to_string(i) + "]"), linked);
      } else {
        filter(rule, one, rule_field(index, "filters"), linked.filters);
      }
    }
    sort_by_place(linked.filters);
    if (rule.persistence && !answers(linked.filters)) persistence(rule, index, linked.filters);
    if (rule.retry && !answers(linked.filters)) retry_details(*rule.retry, linked.filters);
    backends(rule, index, linked);
    name_hosts_of_copies(linked);
    if (rule.external_auth) external_auth(*rule.external_auth, index, linked);
    limits(rule, linked);
    return linked;
  }

  RuleMatch match(const model::Match& match, std::size_t rule, std::size_t index) {
    RuleMatch linked;
    linked.span = match.span;
    if (match.path) linked.path = path(*match.path, rule, index);
    const auto conditions = [](const std::vector<model::ValueCondition>& from, std::vector<FieldMatch>& to) {
      to.reserve(from.size());
      for (const model::ValueCondition& condition : from) {
        to.push_back({.name = condition.name, .value = condition.value, .type = match_type(condition.type)});
      }
    };
    conditions(match.headers, linked.headers);
    for (FieldMatch& header : linked.headers) header.name.value = ascii_lower(header.name.value);
    for (const model::ValueCondition& claim : match.claims) {
      const bool item = claim.type == model::ValueType::kContains;
      std::string name = item ? program::claim_item_field(claim.name.value, claim.value.value)
                              : program::claim_field(claim.name.value);
      linked.headers.push_back({.name = {std::move(name), claim.name.span},
                                .value = item ? Located<std::string>{{}, claim.value.span} : claim.value,
                                .type = match_type(claim.type)});
    }
    conditions(match.query, linked.query);
    linked.method = match.method;
    return linked;
  }

  PathMatch path(const model::PathCondition& condition, std::size_t rule, std::size_t match) {
    PathMatch linked;
    linked.value.span = condition.value.span;
    if (condition.type == model::PathType::kRegex) {
      linked.type = PathMatch::Type::kRegex;
      linked.value = condition.value;
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

  static bool answers(const std::vector<Filter>& filters) {
    return !filters.empty() && row_of(filters.back().op).order == program::FilterOrder::kAnswer;
  }

  static void sort_by_place(std::vector<Filter>& filters) {
    std::ranges::stable_sort(filters, {}, [](const Filter& filter) { return row_of(filter.op).order; });
  }

  /// Adds what one filter does, less mirrors. `field`: of the list that it stands in.
  void filter(const model::Rule& rule, const model::Filter& filter, const std::string& field,
              std::vector<Filter>& out) {
    switch (filter.type) {
      case model::FilterType::kRequestHeaders:
        return headers(filter.headers, FilterOp::kRequestHeaderSet, FilterOp::kRequestHeaderAdd,
                       FilterOp::kRequestHeaderRemove, out);
      case model::FilterType::kResponseHeaders:
        return headers(filter.headers, FilterOp::kResponseHeaderSet, FilterOp::kResponseHeaderAdd,
                       FilterOp::kResponseHeaderRemove, out);
      case model::FilterType::kRewrite:
        if (filter.hostname) out.push_back(value_filter(FilterOp::kRewriteHost, filter.hostname->value.text()));
        return path_change(rule, filter, field, FilterOp::kRewritePrefix, FilterOp::kRewriteFullPath, out);
      case model::FilterType::kRedirect:
        return redirect(rule, filter, field, out);
      case model::FilterType::kMirror:
      case model::FilterType::kCors:
      case model::FilterType::kExternalAuth:
      case model::FilterType::kExtension:
        return;
    }
  }

  /// GEP-1619. The cookie or header has a name of its own rule, since its value means nothing to another one.
  void persistence(const model::Rule& rule, std::size_t index, std::vector<Filter>& out) {
    const model::SessionPersistence& session = *rule.persistence;
    const auto number =
        stable_id(route_.metadata.kind, route_.metadata.name_space, route_.metadata.name + "/" + std::to_string(index));
    Filter carrier = value_filter(session.by_header ? FilterOp::kSessionHeader : FilterOp::kSessionCookie, {});
    carrier.name = session.name ? session.name->value : (session.by_header ? "x-" : "") + session_name(number);
    if (session.by_header) carrier.name = ascii_lower(carrier.name);
    if (!session.by_header) carrier.value = model::cookie_path(session, rule);
    out.push_back(std::move(carrier));
    const auto seconds = [&](FilterOp op, const Located<std::chrono::nanoseconds>& time) {
      Filter filter = value_filter(op, {});
      filter.seconds = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(time.value).count());
      out.push_back(std::move(filter));
    };
    if (session.permanent && session.absolute_timeout) seconds(FilterOp::kSessionPermanent, *session.absolute_timeout);
    if (session.absolute_timeout) seconds(FilterOp::kSessionTimeout, *session.absolute_timeout);
    if (session.idle_timeout) seconds(FilterOp::kSessionIdle, *session.idle_timeout);
  }

  static void retry_details(const model::Retry& retry, std::vector<Filter>& out) {
    for (const std::int64_t status : retry.statuses) {
      out.push_back(value_filter(FilterOp::kRetryStatus, {}));
      out.back().status = static_cast<std::uint32_t>(status);
    }
    if (!retry.least_pause || retry.least_pause->value.count() <= 0) return;
    out.push_back(value_filter(FilterOp::kRetryPause, {}));
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(retry.least_pause->value).count();
    out.back().milliseconds =
        static_cast<std::uint32_t>(std::min<std::int64_t>(milliseconds, std::numeric_limits<std::uint32_t>::max()));
  }

  static std::string session_name(std::uint64_t number) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string name = "edge-sticky-";
    for (int shift = 28; shift >= 0; shift -= 4) name += kHex[number >> shift & 15];
    return name;
  }

  void mirror(const model::Filter& filter, const std::string& field, LinkedRule& linked) {
    if (!filter.mirror) return;
    Mirror mirror{
        .backend = std::nullopt,
        .share = program::reduced(filter.share.value_or(program::MirrorShare{kDefaults.mirror_percent, 100}))};
    const auto name_field = [&] { return field + ".requestMirror.backendRef.name"; };
    mirror.backend = backend(filter.mirror_kind, *filter.mirror, name_field);
    if (mirror.backend && !takes_requests(*mirror.backend, *filter.mirror, name_field())) mirror.backend.reset();
    linked.mirrors.push_back(std::move(mirror));
  }

  /// Copies to a site name it, too, where no filter of the rule says another host.
  void name_hosts_of_copies(LinkedRule& linked) const {
    if (std::ranges::find(linked.filters, FilterOp::kRewriteHost, &Filter::op) != linked.filters.end()) return;
    for (Mirror& mirror : linked.mirrors) {
      if (mirror.backend) mirror.host = targets_.config.backends[*mirror.backend].host;
    }
  }

  /// Whether a backend can be sent HTTP beside the rule's own backends, which are looked at where the route attaches.
  bool takes_requests(std::uint32_t index, const model::Reference& reference, std::string field) {
    const LinkedBackend& named = targets_.config.backends[index];
    if (named.protocol != program::BackendProtocol::kUdp) return true;
    findings_.diagnostics.add({.code = DiagnosticCode::kBeyondBytes,
                               .resource = route_.metadata.text(),
                               .field = std::move(field),
                               .span = reference.name.span,
                               .message = named.identity.text() + " takes datagrams, and cannot be sent requests",
                               .fix = "name a backend that speaks HTTP"});
    fail(findings_.status.conditions, condition::kResolvedRefs, reason::kUnsupportedProtocol,
         "the backend `" + reference.name.value + "` takes datagrams");
    return false;
  }

  /// Index in LinkedConfig::backends.
  template <typename FieldText>
  std::optional<std::uint32_t> backend(std::string_view kind, const model::Reference& reference, FieldText field) {
    const Resolved found = targets_.backends.resolve(route_.metadata, kind, reference, field, findings_);
    if (!found) {
      const bool refused = found.fault == ReferenceFault::kNotPermitted;
      fail(findings_.status.conditions, condition::kResolvedRefs,
           refused ? reason::kRefNotPermitted : reason::kBackendNotFound,
           "the " + std::string(kind) + " `" + reference.name.value + "` cannot be used");
      return std::nullopt;
    }
    const std::optional<std::uint32_t> index = targets_.backend_index[found.position];
    if (!index) {
      fail(findings_.status.conditions, condition::kResolvedRefs, reason::kBackendNotFound,
           "the service of the " + std::string(kind) + " `" + reference.name.value + "` cannot be used");
    }
    return index;
  }

  /// The policy that asks it looks the reference up as well (link_policies.cc).
  void external_auth(const model::BackendRef& reference, std::size_t index, LinkedRule& linked) {
    const auto field = [&] { return rule_field(index, "filters.externalAuth.backendRef.name"); };
    const std::optional<std::uint32_t> service = backend(reference.kind, reference.backend, field);
    if (service && takes_requests(*service, reference.backend, field())) return;
    std::erase_if(linked.filters,
                  [](const Filter& one) { return row_of(one.op).order != program::FilterOrder::kAsWritten; });
    linked.mirrors.clear();
    linked.backends.assign(1, {.backend = std::nullopt, .weight = kDefaults.weight});
  }

  /// Translating said by a diagnostic what is wrong with it.
  std::optional<std::uint32_t> unresolved(const model::BackendRef& reference) {
    fail(findings_.status.conditions, condition::kResolvedRefs, reference.unresolved,
         "the " + reference.kind + " `" + reference.backend.name.value + "` cannot be used");
    return std::nullopt;
  }

  static Filter value_filter(FilterOp op, std::string value) {
    Filter filter{};
    filter.op = op;
    filter.value = std::move(value);
    return filter;
  }

  static void headers(const model::HeaderModifier& modifier, FilterOp set, FilterOp add, FilterOp remove,
                      std::vector<Filter>& out) {
    const auto put = [&](FilterOp op, const Located<std::string>& name, const std::string& value) {
      Filter filter{};
      filter.op = op;
      filter.name = ascii_lower(name.value);
      filter.value = value;
      out.push_back(std::move(filter));
    };
    for (const model::NameValue& header : modifier.set) put(set, header.name, header.value.value);
    for (const model::NameValue& header : modifier.add) put(add, header.name, header.value.value);
    for (const Located<std::string>& name : modifier.remove) put(remove, name, {});
  }

  void redirect(const model::Rule& rule, const model::Filter& filter, const std::string& field,
                std::vector<Filter>& out) {
    if (filter.scheme) out.push_back(value_filter(FilterOp::kRedirectScheme, filter.scheme->value));
    if (filter.hostname) out.push_back(value_filter(FilterOp::kRedirectHost, filter.hostname->value.text()));
    path_change(rule, filter, field, FilterOp::kRedirectPrefix, FilterOp::kRedirectFullPath, out);
    Filter end{};
    end.op = FilterOp::kRedirect;
    end.status = filter.status ? static_cast<std::uint32_t>(filter.status->value) : kDefaults.redirect_status;
    end.port = filter.port ? static_cast<std::uint32_t>(filter.port->value) : 0;
    out.push_back(std::move(end));
  }

  void path_change(const model::Rule& rule, const model::Filter& filter, const std::string& field, FilterOp prefix,
                   FilterOp full, std::vector<Filter>& out) {
    if (!filter.path) return;
    const bool is_prefix = filter.path->type == model::PathChangeType::kPrefix;
    if (is_prefix && !filter.path->prefix_length) {
      for (std::size_t i = 0; i < rule.matches.size(); ++i) {
        const auto& path = rule.matches[i].path;
        if (!path || path->type != model::PathType::kRegex) continue;
        fault(DiagnosticCode::kExclusiveFields, filter.path->value.span, field,
              "ReplacePrefixMatch replaces the matched prefix, and a regular expression matches none",
              "use ReplaceFullPath, or a match of type PathPrefix");
        return;
      }
    }
    const std::string& written = filter.path->value.value;
    const auto value = written.empty() ? std::optional<std::string>("") : path_value(written);
    if (!value) {
      fault(DiagnosticCode::kInvalidValue, filter.path->value.span, field,
            "`" + written.substr(0, 60) + "` is no path");
      return;
    }
    Filter change = value_filter(is_prefix ? prefix : full, *value);
    change.prefix = filter.path->prefix_length.value_or(0);
    out.push_back(std::move(change));
  }

  void backends(const model::Rule& rule, std::size_t index, LinkedRule& linked) {
    const bool answered = answers(linked.filters);
    linked.backends.reserve(rule.backends.size());
    for (std::size_t i = 0; i < rule.backends.size(); ++i) {
      const model::BackendRef& reference = rule.backends[i];
      const auto field = [&] { return rule_field(index, "backendRefs[" + std::to_string(i) + "].name"); };
      linked.backends.push_back(
          {.backend =
               reference.unresolved.empty() ? backend(reference.kind, reference.backend, field) : unresolved(reference),
           .weight = reference.weight ? static_cast<std::uint32_t>(reference.weight->value) : kDefaults.weight});
      if (!answered && !reference.filters.empty()) {
        std::vector<Filter>& all = linked.backends.back().filters.emplace(linked.filters);
        const std::string list = rule_field(index, "backendRefs[" + std::to_string(i) + "].filters");
        for (const model::Filter& one : reference.filters) filter(rule, one, list, all);
        sort_by_place(all);
        // Its share is answered 500, whatever they ask for.
        if (!linked.backends.back().backend) linked.backends.back().filters.reset();
      }
      if (!answered) name_host(linked.filters, linked.backends.back());
    }
  }

  /// Requests to a site (`spec.url`) name it, where no filter says another host.
  void name_host(const std::vector<Filter>& of_rule, WeightedBackend& to) const {
    if (!to.backend) return;
    const std::string& host = targets_.config.backends[*to.backend].host;
    if (host.empty()) return;
    const std::vector<Filter>& filters = to.filters ? *to.filters : of_rule;
    if (std::ranges::find(filters, FilterOp::kRewriteHost, &Filter::op) != filters.end()) return;
    std::vector<Filter> all = filters;
    all.push_back(value_filter(FilterOp::kRewriteHost, host));
    sort_by_place(all);
    to.filters = std::move(all);
  }

  void limits(const model::Rule& rule, LinkedRule& linked) {
    if (rule.request_timeout) linked.request_timeout = rule.request_timeout->value;
    if (rule.idle_timeout) linked.idle_timeout = rule.idle_timeout->value;
    if (rule.min_grpc_timeout) linked.min_grpc_timeout = rule.min_grpc_timeout->value;
    if (rule.max_request_body) linked.max_request_body = rule.max_request_body->value;
    if (const auto& retry = rule.retry) {
      const bool more = std::ranges::any_of(linked.filters, program::details_retries, &Filter::op);
      const std::uint16_t details = more ? program::kRetryDetails : std::uint16_t{0};
      linked.retry = RouteRetry{
          .max_retries =
              static_cast<std::uint16_t>(retry->max_retries ? retry->max_retries->value : kDefaults.max_retries),
          .retry_on = static_cast<std::uint16_t>(retry_on_bits(retry->retry_on) | details),
          .try_timeout = retry->try_timeout ? retry->try_timeout->value : std::chrono::nanoseconds(0)};
    }
    if (const auto& buffering = rule.buffering) {
      linked.buffer_request = buffering->request && buffering->request->value;
      linked.buffer_response = buffering->response && buffering->response->value;
      linked.max_buffer = buffering->max_size ? buffering->max_size->value : 0;
    }
  }

  const model::ProxyRoute& route_;
  const RouteTargets& targets_;
  Findings& findings_;
  bool ok_ = true;
};

}  // namespace

std::optional<LinkedRoute> link_route(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings) {
  return RouteLinker(route, targets, findings).link();
}

}  // namespace edge::compiler::link
