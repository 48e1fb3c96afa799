#include "controller/status/remote_status.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "controller/status/status_document.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;
using remote::Phase;
using remote::RemoteView;

Json ready_count(const remote::Report& report) {
  return {{"ready", report.ready},
          {"total", report.agents},
          {"summary", std::to_string(report.ready) + "/" + std::to_string(report.agents)}};
}

/// What a status has of it.
Json fields_of(const RemoteView& view) {
  Json fields = {{"phase", std::string(to_string(view.phase.phase))}};
  if (!view.version.empty()) fields["version"] = view.version;
  if (!view.cluster_uid.empty()) fields["clusterUID"] = view.cluster_uid;
  if (view.heard != WallTime()) fields["lastHeartbeat"] = timestamp_text(view.heard);
  if (view.certificate_until != WallTime()) fields["certificateExpires"] = timestamp_text(view.certificate_until);
  if (view.report) {
    fields["agents"] = ready_count(*view.report);
    if (!view.report->program.empty()) fields["program"] = view.report->program;
    const auto lag = std::chrono::floor<std::chrono::seconds>(view.report->lag);
    fields["lag"] = duration_text(lag);
  }
  return fields;
}

bool alike(const RemoteView& a, const RemoteView& b) { return a.phase == b.phase && fields_of(a) == fields_of(b); }

}  // namespace

namespace {

Json condition_of(const char* type, bool is_true, std::string reason, std::string message, const Json& status) {
  Json condition = {{"type", type},
                    {"status", is_true ? "True" : "False"},
                    {"reason", std::move(reason)},
                    {"message", std::move(message)}};
  if (status.contains("observedGeneration")) condition["observedGeneration"] = status["observedGeneration"];
  return condition;
}

federation::PeerStatus federation_of(const AgentsView& view, const std::string& name) {
  const auto found = view.federation.find(name);
  return found == view.federation.end() ? federation::PeerStatus() : found->second;
}

void overlay_federation(const federation::PeerStatus& federated, Json& status) {
  if (!federated.enabled) return;
  status["federation"] = {{"synced", federated.synced},       {"objects", federated.objects},
                          {"conflicts", federated.conflicts}, {"lag", federated.lag},
                          {"refused", federated.refused},     {"refusedByPeer", federated.refused_by_peer}};
  status["conditions"].push_back(
      condition_of("Federated", federated.synced, federated.reason, federated.message, status));
}

}  // namespace

void overlay_remote(const AgentsView& agents, const std::string& name, Json& status) {
  const auto found = agents.remotes.find(name);
  // What stands there of an earlier run stays until this one knows of it.
  if (found == agents.remotes.end()) return;
  const RemoteView& view = found->second;
  status.update(fields_of(view));
  const bool connected = view.phase.phase == Phase::kConnected || view.phase.phase == Phase::kDegraded;
  status["conditions"].push_back(condition_of("Connected", connected, view.phase.reason, view.phase.message, status));
  overlay_federation(federation_of(agents, name), status);
}

std::vector<std::string> remotes_that_differ(const AgentsView& a, const AgentsView& b) {
  std::vector<std::string> differ;
  for (const auto& [name, view] : b.remotes) {
    const auto before = a.remotes.find(name);
    const bool same =
        before != a.remotes.end() && alike(before->second, view) && federation_of(a, name) == federation_of(b, name);
    if (!same) differ.push_back(name);
  }
  return differ;
}

}  // namespace edge::controller
