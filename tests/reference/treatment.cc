#include "tests/reference/treatment.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "program/filters.h"
#include "program/format/records.h"
#include "program/mirror_share.h"

namespace edge::reference {
namespace {

using compiler::LinkedConfig;
using compiler::LinkedPolicy;
using compiler::LinkedRoute;
using compiler::LinkedRule;
using compiler::PathMatch;
using compiler::PolicyType;
using program::FilterOp;

/// What both sides are written as. Views into either.
struct Change {
  FilterOp op;
  std::uint32_t detail;
  std::string_view name, value;
};
/// What filters leave alone.
struct Terms {
  std::vector<std::string> policies, mirrors;
  bool denied = false;
  std::uint64_t max_body = 0, max_buffer = 0, timeout_ns = 0, idle_ns = 0, grpc_ns = 0, try_ns = 0;
  std::uint32_t retries = 0xffff, retry_on = 0;  ///< 0xffff: the backend's own
  bool buffers_request = false, buffers_response = false;

  bool operator==(const Terms&) const = default;
};
struct Goal {
  std::string backend;
  std::uint32_t weight = 0;
  std::vector<Change> changes;
  Terms terms;
};
struct Treatment {
  Terms terms;
  std::vector<Goal> goals;
  std::size_t canary = 0;  ///< of goals
  /// Whether `X-Canary` makes a difference: not where there is one backend that takes requests anyway.
  bool chooses() const { return goals.size() > 1 || goals[0].weight == 0; }
  std::vector<Change> without_goal;
};

constexpr const char* kUnresolved = "unresolved";

std::string qualified(std::string_view name_space, std::string_view name) {
  return std::string(name_space) + "/" + std::string(name);
}

std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += " [" + std::to_string(static_cast<std::uint32_t>(change.op)) + " " + std::string(change.name) + "=" +
            std::string(change.value) + " " + std::to_string(change.detail) + "]";
  }
  return text;
}

std::string text_of(const Terms& terms) {
  std::string text = terms.denied ? "denied\n" : "";
  for (const std::string& policy : terms.policies) text += "policy " + policy + "\n";
  for (const std::string& mirror : terms.mirrors) text += "mirror " + mirror + "\n";
  text += "body " + std::to_string(terms.max_body) + " buffer " + std::to_string(terms.max_buffer) + " timeout " +
          std::to_string(terms.timeout_ns) + " idle " + std::to_string(terms.idle_ns) + " grpc " +
          std::to_string(terms.grpc_ns) + (terms.buffers_request ? " request held" : "") +
          (terms.buffers_response ? " response held" : "") + "\n";
  if (terms.retries == 0xffff) return text;
  return text + "tries again " + std::to_string(terms.retries) + " on " + std::to_string(terms.retry_on) + " within " +
         std::to_string(terms.try_ns) + "\n";
}

std::string text_of(const Treatment& treatment) {
  std::string text = text_of(treatment.terms);
  if (treatment.goals.empty()) return text + "to nobody" + text_of(treatment.without_goal) + "\n";
  for (std::size_t i = 0; i < treatment.goals.size(); ++i) {
    const Goal& goal = treatment.goals[i];
    text += "to " + goal.backend + " by " + std::to_string(goal.weight) +
            (i == treatment.canary && treatment.chooses() ? " canary" : "") + text_of(goal.changes) + "\n";
    if (goal.terms != treatment.terms) text += "there on other terms:\n" + text_of(goal.terms);
  }
  return text;
}

/// Rule D4's order, and of each type the rule's, in its absence the route's in place of the gateway's. What is of no
/// known type may be any: it replaces none, and none replaces it.
std::vector<const LinkedPolicy*> policies_of(const LinkedConfig& config, const LinkedRule& rule,
                                             const LinkedRoute& route, const compiler::LinkedGateway& gateway) {
  std::vector<const LinkedPolicy*> passed;
  for (int type = 0; type <= static_cast<int>(PolicyType::kErrorPages); ++type) {
    std::vector<std::uint32_t> chosen;
    for (const auto* targets : {&rule.policies, &route.policies, &gateway.policies}) {
      if (!chosen.empty() && type != static_cast<int>(PolicyType::kUnknown)) break;
      for (const std::uint32_t index : *targets) {
        if (static_cast<int>(config.policies[index].type) == type) chosen.push_back(index);
      }
    }
    std::ranges::sort(chosen);
    for (const std::uint32_t index : chosen) passed.push_back(&config.policies[index]);
  }
  return passed;
}

std::vector<Change> changes_of(const std::vector<compiler::Filter>& filters, const PathMatch& path) {
  std::vector<Change> changes;
  for (const compiler::Filter& filter : filters) {
    std::uint32_t detail = filter.seconds;
    if (filter.op == FilterOp::kRedirect) detail = filter.status + (filter.port << 16);
    if (filter.op == FilterOp::kRewritePrefix || filter.op == FilterOp::kRedirectPrefix) {
      const bool named = path.type == PathMatch::Type::kExact || path.type == PathMatch::Type::kPrefix;
      const bool root = path.type == PathMatch::Type::kPrefix && path.value.value == "/";
      if (named && !root) detail = static_cast<std::uint32_t>(path.value.value.size());
      if (path.type == PathMatch::Type::kRegex) detail = filter.prefix;
    }
    changes.push_back({filter.op, detail, filter.name, filter.value});
  }
  return changes;
}

std::vector<Change> changes_of(const program::SectionView& host, const program::TreatmentRecord& treatment) {
  std::vector<Change> changes;
  for (const program::FilterRecord& filter : host.array(treatment.filters)) {
    changes.push_back({filter.op, filter.detail, host.string(filter.name), host.string(filter.value)});
  }
  return changes;
}

std::string name_of(const LinkedConfig& config, std::uint32_t backend) {
  return qualified(config.backends[backend].identity.name_space, config.backends[backend].identity.name);
}

std::string backend_of(const program::ProgramView& program, std::uint64_t id) {
  const program::SectionView& backends = program.backends().view;
  const program::BackendRecord* backend = id == 0 ? nullptr : program::find_backend(backends, id);
  if (backend == nullptr) return kUnresolved;
  return qualified(backends.string(backend->name_space), backends.string(backend->name));
}

Terms terms_of(const LinkedConfig& config, const Answer& answer) {
  const compiler::LinkedListener& listener = config.listeners[answer.listener];
  const LinkedRoute& route = config.routes[answer.route];
  const LinkedRule& rule = route.rules[answer.rule];
  Terms terms;
  for (const LinkedPolicy* policy : policies_of(config, rule, route, config.gateways[listener.gateway])) {
    terms.policies.push_back(qualified(policy->identity.name_space, policy->identity.name));
    terms.denied |= !policy->enforced && compiler::protects(policy->type);
  }
  for (const compiler::Mirror& mirror : rule.mirrors) {
    if (!mirror.backend || mirror.share.numerator == 0) continue;
    terms.mirrors.push_back(name_of(config, *mirror.backend) + " " + std::to_string(mirror.share.numerator) + "/" +
                            std::to_string(mirror.share.denominator) + " " + mirror.host);
  }
  terms.max_body = rule.max_request_body.value_or(listener.max_request_body);
  terms.max_buffer = rule.max_buffer;
  terms.timeout_ns = static_cast<std::uint64_t>(rule.request_timeout.count());
  terms.idle_ns = static_cast<std::uint64_t>(rule.idle_timeout.count());
  terms.grpc_ns = static_cast<std::uint64_t>(rule.min_grpc_timeout.count());
  if (rule.retry) {
    terms.try_ns = static_cast<std::uint64_t>(rule.retry->try_timeout.count());
    terms.retries = rule.retry->max_retries;
    terms.retry_on = rule.retry->retry_on;
  }
  terms.buffers_request = rule.buffer_request;
  terms.buffers_response = rule.buffer_response;
  return terms;
}

Terms terms_of(const program::ProgramView& program, const program::SectionView& host,
               const program::TreatmentRecord& treatment) {
  const program::SectionView& policies = program.policies().view;
  Terms terms;
  for (const std::uint64_t id : host.array(treatment.policies)) {
    const program::PolicyRecord* policy = program::find_policy(policies, id);
    terms.policies.push_back(policy == nullptr
                                 ? kUnresolved
                                 : qualified(policies.string(policy->name_space), policies.string(policy->name)));
  }
  for (const program::MirrorRecord& mirror : host.array(treatment.mirrors)) {
    const program::MirrorShare share = program::share_of(host, mirror);
    terms.mirrors.push_back(backend_of(program, mirror.backend_id) + " " + std::to_string(share.numerator) + "/" +
                            std::to_string(share.denominator) + " " +
                            std::string(program::host_of_copies(host, mirror)));
  }
  terms.denied = (treatment.flags & program::kDenied) != 0;
  terms.max_body = treatment.max_request_body;
  terms.max_buffer = treatment.max_buffer;
  terms.timeout_ns = treatment.request_timeout_ns;
  terms.idle_ns = treatment.idle_timeout_ns;
  terms.grpc_ns = treatment.min_grpc_timeout_ns;
  terms.try_ns = treatment.try_timeout_ns;
  terms.retries = treatment.max_retries;
  terms.retry_on = treatment.retry_on;
  terms.buffers_request = (treatment.flags & program::kBufferRequest) != 0;
  terms.buffers_response = (treatment.flags & program::kBufferResponse) != 0;
  return terms;
}

}  // namespace

std::string treatment_of(const LinkedConfig& config, const Answer& answer) {
  const LinkedRule& rule = config.routes[answer.route].rules[answer.rule];
  const PathMatch& path = rule.matches[answer.match].path;
  Treatment treatment;
  treatment.terms = terms_of(config, answer);
  treatment.without_goal = changes_of(rule.filters, path);
  for (const compiler::WeightedBackend& backend : rule.backends) {
    treatment.goals.push_back({backend.backend ? name_of(config, *backend.backend) : kUnresolved, backend.weight,
                               changes_of(backend.filters ? *backend.filters : rule.filters, path), treatment.terms});
  }
  // "goes to the lowest weight, zero included; the first of equals wins"
  const auto canary = std::ranges::min_element(treatment.goals, {}, &Goal::weight);
  treatment.canary = static_cast<std::size_t>(canary - treatment.goals.begin());
  if (!config.gateways[config.listeners[answer.listener].gateway].canary_by_header) treatment.canary = program::kNone;
  return text_of(treatment);
}

std::string treatment_of(const program::ProgramView& program, const program::SectionView& host,
                         const program::ActionRecord& action) {
  const program::Split split = program::split_of(host, action);
  const program::TreatmentRecord& usual = program::treatment_record_of(host, action, split, program::kNone);
  Treatment treatment;
  treatment.terms = terms_of(program, host, usual);
  treatment.without_goal = changes_of(host, usual);
  for (std::uint32_t i = 0; i < split.backends.size(); ++i) {
    const program::TreatmentRecord& there = program::treatment_record_of(host, action, split, i);
    treatment.goals.push_back({backend_of(program, split.backends[i].backend_id()), split.backends[i].weight,
                               changes_of(host, there), terms_of(program, host, there)});
  }
  treatment.canary = split.canary;
  return text_of(treatment);
}

}  // namespace edge::reference
