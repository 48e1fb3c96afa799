#include "controller/status/remote_status.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "controller/status/condition_json.h"
#include "controller/status/status_document.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;
using remote::Phase;
using remote::RemoteView;

/// What a status has of it.
Json fields_of(const RemoteView& view) {
  Json fields = {{"phase", std::string(to_string(view.phase.phase))}};
  if (!view.version.empty()) fields["version"] = view.version;
  if (!view.cluster_uid.empty()) fields["clusterUID"] = view.cluster_uid;
  if (view.heard != WallTime()) fields["lastHeartbeat"] = timestamp_text(view.heard);
  if (view.certificate_until != WallTime()) fields["certificateExpires"] = timestamp_text(view.certificate_until);
  if (!view.certificate_key.empty()) fields["certificateKey"] = view.certificate_key;
  if (view.certificate_shown != WallTime()) fields["certificateShown"] = timestamp_text(view.certificate_shown);
  if (view.report) {
    fields["agents"] = ready_count(view.report->ready, view.report->agents);
    if (!view.report->program.empty()) fields["program"] = view.report->program;
    const auto lag = std::chrono::floor<std::chrono::seconds>(view.report->lag);
    fields["lag"] = duration_text(lag);
  }
  return fields;
}

bool alike(const RemoteView& a, const RemoteView& b) { return a.phase == b.phase && fields_of(a) == fields_of(b); }

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
      condition_json(status, "Federated", state_text(federated.synced), federated.reason, federated.message));
}

}  // namespace

void overlay_remote(const AgentsView& agents, const std::string& name, Json& status) {
  const auto found = agents.remotes.find(name);
  // What stands there of an earlier run stays until this one knows of it.
  if (found == agents.remotes.end()) return;
  const RemoteView& view = found->second;
  status.update(fields_of(view));
  const bool connected = view.phase.phase == Phase::kConnected || view.phase.phase == Phase::kDegraded;
  status["conditions"].push_back(
      condition_json(status, "Connected", state_text(connected), view.phase.reason, view.phase.message));
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
