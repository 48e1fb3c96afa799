#include <utility>

#include "compiler/model/decode_kinds.h"
#include "compiler/model/decode_rule.h"
#include "compiler/model/forms.h"

namespace edge::compiler::model {
namespace {

class RouteDecoder {
 public:
  explicit RouteDecoder(Report& report) : report_(report) {}

  Rule rule(const Fields& fields, std::size_t index) {
    RuleLocation location{.rule = index};
    Rule rule{.span = fields.span()};
    location.list = "matches";
    fields.entries("matches", [&](const Fields& entry) {
      location.index = rule.matches.size();
      rule.matches.push_back(decode_match(entry, location, report_));
    });
    location.list = "filters";
    fields.entries("filters", [&](const Fields& entry) {
      location.index = rule.filters.size();
      rule.filters.push_back(decode_filter(entry, location, SelfRedirect::kRefused, report_));
    });
    location.list = {};
    backends(fields, rule, location);
    check_filters(rule, location, report_);
    if (const Fields retry = fields.object("retry")) {
      rule.retry = Retry{.max_retries = retry.integer("maxRetries"), .retry_on = retry.strings("retryOn")};
    }
    const Fields limits = fields.object("limits");
    rule.request_timeout = limits.duration("requestTimeout");
    rule.idle_timeout = limits.duration("idleTimeout");
    rule.min_grpc_timeout = limits.duration("minGrpcTimeout");
    rule.max_request_body = limits.size("maxRequestBodySize");
    rule.name = fields.text("name");
    rule.persistence = decode_persistence(fields.object("sessionPersistence"), location, report_);
    if (const Fields buffering = fields.object("buffering")) {
      rule.buffering = Buffering{.span = buffering.span(),
                                 .request = buffering.boolean("request"),
                                 .response = buffering.boolean("response"),
                                 .max_size = buffering.size("maxSize")};
    }
    return rule;
  }

 private:
  void backends(const Fields& fields, Rule& rule, const RuleLocation& location) {
    const Fields one = fields.object("backendRef");
    const yaml::Node list = fields.node("backendRefs");
    const auto check_kind = [&](const Fields& entry) {
      const auto kind = entry.text("kind");
      if (!kind || kind->value == "ProxyBackend") return;
      report_.fault(DiagnosticCode::kInvalidValue, kind->span, location.text("backendRefs"),
                    "a rule refers to a ProxyBackend, not to a " + clipped(kind->value),
                    "write a ProxyBackend for the service and name it here");
    };
    fields.entries("backendRefs", [&](const Fields& entry) {
      check_kind(entry);
      rule.backends.push_back({.backend = entry.reference(), .weight = entry.integer("weight")});
    });
    if (!one) return;
    check_kind(one);
    const BackendRef single{.backend = one.reference()};
    if (!list) {
      rule.backends.push_back(single);
    } else if (rule.backends.size() != 1 || !same(rule.backends[0].backend, single.backend)) {
      two_forms(fields.node("backendRef").key_span(), location.text("backendRef"), list.key_span(),
                location.text("backendRefs"), report_);
    }
  }

  Report& report_;
};

}  // namespace

ProxyRoute decode_route(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  ProxyRoute route{
      .metadata = std::move(metadata), .hostnames = spec.hostnames("hostnames"), .expression = spec.text("expression")};
  spec.entries("parentRefs", [&](const Fields& entry) {
    const auto kind = entry.text("kind");
    if (kind && kind->value != "ProxyGateway") {
      report.fault(DiagnosticCode::kInvalidValue, kind->span,
                   "spec.parentRefs[" + std::to_string(route.parents.size()) + "].kind",
                   "a ProxyRoute attaches to a ProxyGateway, not to a " + clipped(kind->value));
    }
    route.parents.push_back(
        {.gateway = entry.reference(), .section_name = entry.text("sectionName"), .port = entry.integer("port")});
  });
  const yaml::Node rules = spec.node("rules");
  RouteDecoder decoder(report);
  route.rules.reserve(rules ? rules.size() : 0);
  spec.entries("rules", [&](const Fields& entry) { route.rules.push_back(decoder.rule(entry, route.rules.size())); });
  return route;
}

}  // namespace edge::compiler::model
