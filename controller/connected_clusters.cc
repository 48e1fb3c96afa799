#include "controller/connected_clusters.h"

#include <chrono>
#include <optional>

#include "controller/controller_metrics.h"
#include "controller/distribute/hub.h"
#include "controller/distribute/relay/streams.h"
#include "controller/federation_metrics.h"
#include "controller/federation_page.h"
#include "controller/remote/remote_service.h"

namespace edge::controller {

ConnectedClusters::ConnectedClusters(ConnectedClustersOptions options)
    : options_(std::move(options)),
      spoke_reads_({.config = options_.config, .program = options_.program, .traces = options_.traces}),
      traffic_({.file = state_dir() + "/clusters.json",
                .shared = !options_.shared_dir.empty(),
                .changed = options_.directory,
                .log = options_.log}),
      remotes_({.cluster_uid = options_.cluster_uid,
                .version = EDGE_VERSION,
                .changed = options_.changed,
                .leads = options_.leads,
                .traffic = &traffic_,
                .shares_traffic = !options_.shared_dir.empty(),
                .log = options_.log}),
      hubs_({.spoke = spoke_options(), .issued_here = options_.issued_here}),
      // Its thread begins with the first peer that is named.
      federation_({.data_dir = state_dir(),
                   .cluster_uid = options_.cluster_uid,
                   .key = options_.key,
                   .config = options_.config,
                   .tunnels = &tunnels_,
                   .leads = options_.leads,
                   .changed = options_.changed,
                   .log = options_.log}),
      federation_view_(federation_.view()) {}

ConnectedClusters::~ConnectedClusters() { stop(); }

std::vector<std::shared_ptr<grpc::Service>> ConnectedClusters::services(Hub& hub) {
  remotes_.set_authority(hub.authority());
  return {remote::make_remote_service(remotes_, tunnels_, spoke_questions_, hub.authority()),
          make_relay_service(hub, [this](const std::string& cluster) { return remotes_.relayed_groups(cluster); })};
}

void ConnectedClusters::begin() { traffic_.begin(); }

Status ConnectedClusters::connect() {
  Status status;
  if (!options_.hub.empty() || !options_.hub_join.empty()) {
    remote::SpokeOptions options = spoke_options();
    options.hub = options_.hub;
    options.join_file = options_.hub_join;
    auto spoke = remote::Spoke::start(std::move(options));
    if (spoke) {
      spoke_ = std::move(*spoke);
      hub_address_ = spoke_->view().hub;
    } else {
      status = spoke.error();
    }
  }
  connected_ = true;
  spoke_known_.count_down();
  return status;
}

void ConnectedClusters::stop() {
  if (!std::exchange(connected_, true)) spoke_known_.count_down();
  federation_.stop();
  spoke_.reset();
  hubs_.stop();
  remotes_.stop();
}

remote::SpokeOptions ConnectedClusters::spoke_options() {
  remote::SpokeOptions options;
  options.data_dir = state_dir();
  options.cluster_uid = options_.cluster_uid;
  options.version = EDGE_VERSION;
  options.own = [this] { return remotes_.own(); };
  options.changed = [this] {
    ++hub_changes_;
    options_.changed();
  };
  options.leads = options_.leads;
  options.tunnels = &tunnels_;
  if (options_.hub_reads) {
    options.answer = [this](const AgentQuestion& question) { return spoke_reads_.answer(question); };
  }
  options.traffic = &traffic_;
  options.log = options_.log;
  return options;
}

void ConnectedClusters::take(const std::vector<ObjectEdit>& edits) {
  bool any = false;
  for (const ObjectEdit& edit : edits) {
    // Those that other clusters share are theirs.
    if (!edit.key.cluster.empty()) continue;
    const std::string& space = edit.key.name_space;
    if (edit.key.kind == "Secret") {
      any = hubs_.put_secret(space, edit.key.name, edit.object ? edit.object->document : std::string()) || any;
    }
    if (edit.key.kind != "EdgeRemoteCluster") continue;
    any = true;
    if (!edit.object) {
      hubs_.remove(space, edit.key.name);
      remotes_.remove(space, edit.key.name);
      specs_.erase({space, edit.key.name});
      documents_.erase({space, edit.key.name});
      continue;
    }
    documents_.insert_or_assign({space, edit.key.name}, edit.object->document);
    hubs_.put(space, edit.key.name, edit.object->document);
    remote::RemoteSpec spec = remote::read_remote_spec(edit.object->document);
    spec.was_connected = edit.object->was_connected;
    spec.shown = remote::read_shown_certificate(edit.object->shown_certificate);
    specs_.insert_or_assign({space, edit.key.name}, std::move(spec));
  }
  if (!any) return;
  for (const auto& [name, spec] : specs_) {
    if (hubs_.has(name.first, name.second)) {
      remotes_.remove(name.first, name.second);
    } else {
      remotes_.put(name.first, name.second, spec);
    }
  }
  if (objects_known_) name_peers();
  // A connection that was ended here calls nobody.
  ++hub_changes_;
  options_.changed();
}

void ConnectedClusters::synced() {
  remotes_.synced();
  objects_known_ = true;
  name_peers();
}

/// Whom to federate with.
void ConnectedClusters::name_peers() {
  std::vector<federation::PeerSpec> peers;
  for (const auto& [name, document] : documents_) {
    const bool is_hub = hubs_.has(name.first, name.second);
    peers.push_back(federation::read_peer_spec(document, is_hub));
    peers.back().object = name.first + "/" + name.second;
    peers.back().name = name.second;
  }
  spoke_known_.wait();
  if (!hub_address_.empty() && !options_.hub_kinds.empty()) {
    peers.push_back(federation::hub_spec(hub_address_, options_.hub_kinds, options_.hub_namespaces));
  }
  federation_.set_peers(std::move(peers));
}

void ConnectedClusters::set_own(std::uint32_t agents, std::uint32_t ready, const std::string& program) {
  remotes_.set_own(agents, ready, program);
}

void ConnectedClusters::set_exports(remote::Exports exports) { traffic_.set_own(std::move(exports)); }

bool ConnectedClusters::answer(const AgentQuestion& question, const TakeAnswer& take) {
  if (question.target.starts_with(kFederationPages)) {
    take(federation_page(federation_view_, question));
    return true;
  }
  if (question.target.starts_with(remote::kClusterPages)) {
    spoke_questions_.ask(remotes_.views(), question, take);
    return true;
  }
  return false;
}

remote::RemoteViews ConnectedClusters::views() const {
  remote::RemoteViews views = remotes_.views();
  views.merge(hubs_.views());
  return views;
}

std::map<std::string, federation::PeerStatus> ConnectedClusters::federation_statuses() const {
  return federation_.statuses();
}

std::uint64_t ConnectedClusters::changes() const { return remotes_.changes() + hub_changes_ + federation_.changes(); }

void ConnectedClusters::write_metrics(metrics::Exposition& out, bool leads) const {
  write_remotes(out, leads ? views() : remote::RemoteViews());
  write_federation(out, federation_view_);
  const auto spoke = spoke_ ? std::optional(spoke_->view()) : std::nullopt;
  write_spoke(out, spoke ? &*spoke : nullptr, std::chrono::system_clock::now());
}

}  // namespace edge::controller
