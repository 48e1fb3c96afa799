// Reports what became of accounts and orders: conditions of CertificateIssuers, and events of the
// gateways whose names are ordered.
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/text/times.h"
#include "controller/acme/gateway_event.h"
#include "controller/acme/round.h"

namespace edge::controller::acme {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// Another text of a condition that is as it was; of many names the last one may be another each second.
constexpr auto kRewordAfter = 60s;
constexpr std::string_view kRegistered = "Registered";
constexpr std::string_view kIssued = "Issued";

std::string reason_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kValidation:
      return "ValidationFailed";
    case FailureKind::kLimited:
      return "RateLimited";
    case FailureKind::kUnreachable:
      return "Unreachable";
    case FailureKind::kRefused:
      return "Refused";
    case FailureKind::kProtocol:
      return "ProtocolError";
    case FailureKind::kConfiguration:
      break;
  }
  return "InvalidConfiguration";
}

/// Since when the condition of the object is so, where it is so already.
std::string since_of(const json& status, std::string_view type, bool holds) {
  for (const json& condition : list_in(status, "conditions")) {
    if (text_in(condition, "type") == type && text_in(condition, "status") == (holds ? "True" : "False")) {
      return text_in(condition, "lastTransitionTime");
    }
  }
  return {};
}

}  // namespace

/// The account at the CA that is asked now. Without a fault: it is registered.
net::Task<bool> Certificates::report_account(Worker& worker, const Round& round, const OrderFault& fault) {
  const bool holds = fault.text.empty();
  Condition condition{.holds = holds,
                      .reason = holds ? std::string(kRegistered) : reason_of(fault.kind),
                      .message = holds ? "there is an account at " + round.state.directory : fault.text};
  const bool done = co_await write_conditions(worker, round, std::string(kRegistered), std::move(condition));
  co_return done;
}

/// An event of the gateway that needs the certificate. \returns whether the gateway is there.
net::Task<bool> Certificates::record(Worker& worker, const Round& round, kube::EventLevel level, std::string reason,
                                     std::string message) {
  return record_of_gateway(client_, worker.waiter, recorder_, round.wanted.gateway, level, std::move(reason),
                           std::move(message));
}

/// The end of a round. Without a fault: the certificate is there.
net::Task<bool> Certificates::report_round(Worker& worker, const Round& round, const OrderFault& fault) {
  const bool holds = fault.text.empty();
  const std::string message = round.wanted.host + ": " + (holds ? "the certificate is there" : fault.text);
  const std::string reason = holds ? std::string(kIssued) : reason_of(fault.kind);
  const std::string event = holds ? (round.has_kept ? "CertificateRenewed" : "CertificateIssued") : "CertificateFailed";
  (void)co_await record(worker, round, holds ? kube::EventLevel::kNormal : kube::EventLevel::kWarning, event, message);
  const bool done = co_await write_conditions(worker, round, std::string(kIssued),
                                              {.holds = holds, .reason = reason, .message = message});
  co_return done;
}

/// \returns whether the condition is in the API.
net::Task<bool> Certificates::write_conditions(Worker& worker, const Round& round, std::string type,
                                               Condition condition) {
  const std::string name = round.wanted.settings.issuer;
  if (name.empty() || !leads_) co_return true;
  const std::string space = round.wanted.name_space;
  Issuer& issuer = issuers_[{space, name}];
  Condition& known = issuer.conditions[type];
  const bool changed = known.holds != condition.holds || known.reason != condition.reason;
  const net::Time now = client_.loop().now();
  if (!changed && (known.message == condition.message || now - issuer.written < kRewordAfter)) co_return true;
  known = std::move(condition);
  issuer.written = now;
  const kube::Resource resource{
      .group = EDGE_API_GROUP, .version = "v1alpha1", .plural = "certificateissuers", .kind = "CertificateIssuer"};
  const kube::ObjectReply found = co_await client_.get(worker.waiter, resource, space, name);
  if (!found.ok()) {
    issuers_.erase({space, name});
    co_return false;
  }
  const json object = parse_json(found.object.text);
  const std::int64_t generation = integer_in(member_in(object, "metadata"), "generation");
  json conditions = json::array();
  const auto add = [&](const std::string& of, const Condition& what) {
    std::string since = since_of(member_in(object, "status"), of, what.holds);
    if (since.empty()) since = rfc3339(this->now());
    conditions.push_back({{"type", of},
                          {"status", what.holds ? "True" : "False"},
                          {"reason", what.reason},
                          {"message", what.message},
                          {"observedGeneration", generation},
                          {"lastTransitionTime", since}});
  };
  add("Accepted", {.holds = true, .reason = "Accepted", .message = "listeners name it"});
  const auto now_known = issuers_[{space, name}].conditions;
  for (const auto& [of, what] : now_known) add(of, what);
  // What another leader has written of the rest stays.
  for (const json& kept : list_in(member_in(object, "status"), "conditions")) {
    const std::string& of = text_in(kept, "type");
    if ((of == kRegistered || of == kIssued) && !now_known.contains(of)) conditions.push_back(kept);
  }
  const json patch = {{"metadata", {{"resourceVersion", found.object.resource_version}}},
                      {"status", {{"observedGeneration", generation}, {"conditions", conditions}}}};
  kube::WriteOptions options;
  options.subresource = "status";
  const kube::ObjectReply written =
      co_await client_.patch(worker.waiter, resource, space, name, kube::PatchType::kMerge, json_line(patch), options);
  // It is said again with what comes next.
  if (!written.ok()) issuers_.erase({space, name});
  if (!written.ok() && written.failure.kind == kube::Failure::Kind::kRefused && !written.failure.conflict()) {
    note(round, "refused", "the status of the CertificateIssuer " + name + ": " + written.failure.text());
  }
  co_return written.ok();
}

}  // namespace edge::controller::acme
