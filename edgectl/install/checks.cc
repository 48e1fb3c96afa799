#include "edgectl/install/checks.h"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/install/plan.h"
#include "edgectl/install/version.h"
#include "schemas/crd.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using State = Check::State;

/// The oldest Kubernetes whose API has all that is applied; the charts say the same.
constexpr Version kOldestApi{1, 27, 0};
/// nftables whose tables have an owner (docs/virtual-addresses.md).
constexpr Version kMovesConnections{5, 12, 0};
constexpr std::string_view kStoredVersion = "v1alpha1";
/// Names in one message.
constexpr std::size_t kMostNames = 5;

const std::string& name_of(const Json& object) { return text_in(member_in(object, "metadata"), "name"); }

/// `a, b, c and 4 more`
std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) text += " and " + std::to_string(names.size() - kMostNames) + " more";
  return text;
}

std::string count_text(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

Check passed(std::string text) { return {State::kPassed, std::move(text)}; }
Check warning(std::string text) { return {State::kWarning, std::move(text)}; }
Check failed(std::string text) { return {State::kFailed, std::move(text)}; }

/// Who has a port of which nodes.
struct Holder {
  std::set<std::string> nodes;
  std::string pod;
};

/// The ports of its node that a pod takes.
std::set<std::int64_t> ports_of(const Json& pod) {
  std::set<std::int64_t> taken;
  const Json& spec = member_in(pod, "spec");
  const Json& host = member_in(spec, "hostNetwork");
  const bool on_host = host.is_boolean() && host.get<bool>();
  for (const Json& container : list_in(spec, "containers")) {
    for (const Json& port : list_in(container, "ports")) {
      if (text_in(port, "protocol") == "UDP") continue;
      std::int64_t number = integer_in(port, "hostPort");
      if (number == 0 && on_host) number = integer_in(port, "containerPort");
      if (number != 0) taken.insert(number);
    }
  }
  return taken;
}

bool has_ended(const Json& pod) {
  const std::string& phase = text_in(member_in(pod, "status"), "phase");
  return phase == "Succeeded" || phase == "Failed";
}

bool is_own(const Json& pod, std::string_view own_namespace) {
  const Json& metadata = member_in(pod, "metadata");
  return text_in(metadata, "namespace") == own_namespace &&
         text_in(member_in(metadata, "labels"), "app.kubernetes.io/part-of") == "edge";
}

std::string taken_text(std::int64_t port, const Holder& holder) {
  const std::string where =
      holder.nodes.empty() ? "a node" : list_text(std::vector<std::string>(holder.nodes.begin(), holder.nodes.end()));
  return "port " + std::to_string(port) + " of " + where + " is used by pod " + holder.pod;
}

Check kernel_check(std::size_t nodes, const std::vector<std::string>& old) {
  if (old.empty()) return passed(count_text(nodes, "node", "nodes") + ": Linux, amd64");
  return warning("the kernel of " + list_text(old) +
                 " is older than 5.12: a virtual address that moves there resets its connections");
}

}  // namespace

Check check_api_version(std::string_view git_version) {
  const auto version = parse_version(git_version);
  const std::string text = "Kubernetes " + std::string(git_version);
  if (!version) return warning("the API does not state its version: `" + std::string(git_version) + "`");
  if (*version < kOldestApi) return failed(text + ": 1.27 is the oldest that this version can be installed on");
  return passed(text);
}

Check check_definitions(const std::vector<Json>& live) {
  std::set<std::string> versions;
  for (const Json& definition : live) {
    for (const Json& stored : list_in(member_in(definition, "status"), "storedVersions")) {
      if (text_value(stored) == kStoredVersion) continue;
      return failed(name_of(definition) + ": objects are stored as " + text_value(stored) +
                    ", which this version does not have; use the edgectl of the installed version or a newer one");
    }
    const Json& annotations = member_in(member_in(definition, "metadata"), "annotations");
    const std::string& version = text_in(annotations, schemas::kDefinitionVersion);
    if (version.empty()) continue;
    versions.insert(version);
    if (skew_of(version, EDGE_VERSION) == Skew::kTooFar) {
      return failed(name_of(definition) + " is of version " + version +
                    ": go one minor version at a time, to or from " EDGE_VERSION);
    }
  }
  if (live.empty()) return passed("definitions: none yet");
  std::string text = "definitions: " + std::to_string(live.size()) + " are there";
  if (!versions.empty())
    text += ", of version " + list_text(std::vector<std::string>(versions.begin(), versions.end()));
  return passed(text);
}

Check check_installed(const Json& deployment, std::string_view tag, InstallVerb verb) {
  if (deployment.is_null()) {
    if (verb == InstallVerb::kInstall) return passed("no operator in the namespace yet");
    return failed("no operator is installed in the namespace; `edgectl install` installs one");
  }
  const Json& metadata = member_in(deployment, "metadata");
  const std::string& release = text_in(member_in(metadata, "annotations"), "meta.helm.sh/release-name");
  if (!release.empty()) {
    return failed("the operator was installed by Helm, as release " + release + ": use `helm upgrade`");
  }
  const Json& pod = member_in(member_in(member_in(deployment, "spec"), "template"), "spec");
  const Json& containers = list_in(pod, "containers");
  const std::string installed =
      containers.empty() ? std::string() : read_image(text_in(containers.front(), "image")).tag;
  const std::string now = "the operator of the namespace is of version " + (installed.empty() ? "unknown" : installed);
  switch (skew_of(installed, tag)) {
    case Skew::kSame:
      return passed(now);
    case Skew::kTooFar:
      return failed(now + ": go one minor version at a time, not to " + std::string(tag));
    case Skew::kUnknown:
      return verb == InstallVerb::kUpgrade ? warning(now + ": whether " + std::string(tag) + " follows is not known")
                                           : failed(now + "; `edgectl upgrade` replaces it");
    case Skew::kUpgrade:
    case Skew::kDowngrade:
      break;
  }
  if (verb == InstallVerb::kInstall) return failed(now + "; `edgectl upgrade` replaces it");
  return passed(now + ", and becomes " + std::string(tag));
}

Check check_namespace(const Json& object) {
  if (object.is_null()) return passed("the namespace is created");
  const std::string& name = name_of(object);
  if (text_in(member_in(object, "status"), "phase") == "Terminating") {
    return failed("namespace " + name + " is being deleted: wait until it is gone");
  }
  const Json& labels = member_in(member_in(object, "metadata"), "labels");
  const std::string& enforced = text_in(labels, "pod-security.kubernetes.io/enforce");
  if (!enforced.empty() && enforced != "privileged") {
    return failed("namespace " + name + " enforces the pod security level `" + enforced +
                  "`, under which agents cannot use directories and the network of their nodes: kubectl label "
                  "--overwrite namespace " +
                  name + " pod-security.kubernetes.io/enforce=privileged");
  }
  return passed("namespace " + name + " is there");
}

std::vector<Check> check_nodes(const std::vector<Json>& nodes) {
  if (nodes.empty()) return {warning("the cluster has no node yet: agents start when one joins")};
  std::vector<std::string> others;
  std::vector<std::string> old;
  for (const Json& node : nodes) {
    const Json& info = member_in(member_in(node, "status"), "nodeInfo");
    const std::string& system = text_in(info, "operatingSystem");
    const std::string& machine = text_in(info, "architecture");
    if ((!system.empty() && system != "linux") || (!machine.empty() && machine != "amd64")) {
      others.push_back(name_of(node));
      continue;
    }
    const auto kernel = parse_version(text_in(info, "kernelVersion"));
    if (kernel && *kernel < kMovesConnections) old.push_back(name_of(node));
  }
  if (others.size() == nodes.size()) {
    return {failed("no node can run an agent: the images are for Linux on amd64, and the nodes are others")};
  }
  std::vector<Check> checks = {kernel_check(nodes.size() - others.size(), old)};
  if (!others.empty()) {
    checks.push_back(warning(list_text(others) +
                             " cannot run an agent (the images are for Linux on amd64): exclude them by --set "
                             "agents.nodeSelector.kubernetes.io/arch=amd64"));
  }
  return checks;
}

std::vector<Check> check_ports(const std::vector<Json>& pods, const AgentPorts& ports, std::string_view own_namespace) {
  std::map<std::int64_t, Holder> taken;
  for (const Json& pod : pods) {
    if (has_ended(pod) || is_own(pod, own_namespace)) continue;
    for (const std::int64_t port : ports_of(pod)) {
      Holder& holder = taken[port];
      const std::string& node = text_in(member_in(pod, "spec"), "nodeName");
      if (!node.empty()) holder.nodes.insert(node);
      if (holder.pod.empty()) {
        holder.pod = text_in(member_in(pod, "metadata"), "namespace") + "/" + name_of(pod);
      }
    }
  }
  std::vector<Check> checks;
  const auto own = [&](std::int64_t port, const char* field) {
    const auto found = taken.find(port);
    if (found == taken.end()) return;
    checks.push_back(failed(taken_text(port, found->second) + "; choose another by --set " + field + "=PORT"));
  };
  own(ports.metrics, "agents.metricsPort");
  own(ports.health, "agents.healthPort");
  if (checks.empty()) {
    checks.push_back(passed("ports " + std::to_string(ports.metrics) + " and " + std::to_string(ports.health) +
                            " of the nodes are in no pod's use"));
  }
  for (const std::int64_t port : {std::int64_t{80}, std::int64_t{443}}) {
    const auto found = taken.find(port);
    if (found == taken.end()) continue;
    checks.push_back(
        warning(taken_text(port, found->second) + ": a gateway's listener on it is served on the other nodes alone"));
  }
  return checks;
}

Check check_rights(const std::vector<std::string>& missing) {
  if (missing.empty()) return passed("rights: enough");
  return failed("rights: you may not " + list_text(missing) +
                "; an administrator of the cluster has to install this (ClusterRole cluster-admin)");
}

}  // namespace edge::edgectl
