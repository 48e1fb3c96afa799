#include "controller/controller.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "base/os/file.h"
#include "controller/cluster.h"
#include "controller/controller_metrics.h"
#include "controller/distribute/node_groups.h"
#include "controller/distribute/node_labels.h"
#include "controller/federation/run/federation.h"
#include "controller/federation_metrics.h"
#include "controller/federation_page.h"
#include "controller/publish/groups.h"
#include "controller/reconcile/reconcile_loop.h"
#include "controller/remote/hubs.h"
#include "controller/remote/remote_clusters.h"
#include "controller/remote/remote_service.h"
#include "controller/remote/spoke.h"
#include "controller/remote/spoke_questions.h"
#include "controller/remote/spoke_reads.h"
#include "controller/remote/traffic.h"
#include "controller/sdwan/wan_feed.h"
#include "controller/status/served_objects.h"
#include "controller/vip/vip_index.h"
#include "program/region_label.h"
#include "program/session_secret.h"
#include "program/values/endpoints.h"

namespace edge::controller {
namespace {

using namespace std::chrono_literals;

/// Agents answer one after the other: what they say within so long is looked at together.
constexpr auto kGatherAgents = 20ms;
/// A controller that knows no cluster by then gives out what it gave out last.
constexpr auto kPatience = 5s;
/// For what was written to come by the watches.
constexpr auto kSeeing = 5s;
/// Between two words of how far the databases of patterns are.
constexpr auto kBetweenProgress = 2s;
constexpr std::size_t kMaxSoundBytes = std::size_t{64} << 20;
constexpr const char* kSoundFile = "/sound-versions.json";

/// Hex, of 32 digits; empty where none could be derived.
std::string cluster_uid_of(const program::SigningKey& key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : key.derived_secret("cluster 1").substr(0, 16)) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::shared_ptr<const program::NamedSecret> session_key_of(const program::SigningKey& key) {
  auto secret = program::session_secret(key);
  return secret ? std::make_shared<const program::NamedSecret>(std::move(*secret)) : nullptr;
}

}  // namespace

class Controller::Impl {
 public:
  Impl(ControllerOptions options, program::SigningKey key)
      : options_(std::move(options)), key_(std::move(key)), session_key_(session_key_of(key_)) {}

  ~Impl() {
    // Each stops to be called before who it calls goes. One that failed to start is waited for no more.
    if (!up_) started_.count_down();
    if (distributor_) distributor_->on_change({});
    {
      const std::lock_guard lock(agents_mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (watching_.joinable()) watching_.join();
    // The thread of the watches may still name peers.
    if (federation_) federation_->stop();
    spoke_.reset();
    if (hubs_) hubs_->stop();
    if (remotes_) remotes_->stop();
    // A rollback may be under way, which publishes. Nobody takes the end of the agents' streams for their loss any
    // more.
    if (distributor_) distributor_->stop();
    if (reconcile_loop_) reconcile_loop_->stop();
    cluster_.reset();
    reconcile_loop_.reset();
    distributor_.reset();
    remotes_.reset();
  }

  /// EdgeRemoteClusters, on the thread of the watches: of a spoke, or of a hub that this cluster connects to, which the
  /// certificate in their Secret tells.
  void take_remotes(const std::vector<ObjectEdit>& edits) {
    bool any = false;
    for (const ObjectEdit& edit : edits) {
      // Those that other clusters share are theirs.
      if (!edit.key.cluster.empty()) continue;
      const std::string& space = edit.key.name_space;
      if (edit.key.kind == "Secret") {
        hubs_->put_secret(space, edit.key.name, edit.object ? edit.object->document : std::string());
        any = true;
      }
      if (edit.key.kind != "EdgeRemoteCluster") continue;
      any = true;
      if (!edit.object) {
        hubs_->remove(space, edit.key.name);
        remotes_->remove(space, edit.key.name);
        specs_.erase({space, edit.key.name});
        remote_documents_.erase({space, edit.key.name});
        continue;
      }
      remote_documents_.insert_or_assign({space, edit.key.name}, edit.object->document);
      hubs_->put(space, edit.key.name, edit.object->document);
      remote::RemoteSpec spec = remote::read_remote_spec(edit.object->document);
      spec.was_connected = edit.object->was_connected;
      specs_.insert_or_assign({space, edit.key.name}, std::move(spec));
    }
    if (!any) return;
    for (const auto& [name, spec] : specs_) {
      if (hubs_->has(name.first, name.second)) {
        remotes_->remove(name.first, name.second);
      } else {
        remotes_->put(name.first, name.second, spec);
      }
    }
    if (remotes_known_) name_peers();
    // A connection that was ended here calls nobody.
    ++hub_changes_;
    agents_changed();
  }

  /// Whom to federate with, on the thread of the watches.
  void name_peers() {
    std::vector<federation::PeerSpec> peers;
    for (const auto& [name, document] : remote_documents_) {
      const bool is_hub = hubs_->has(name.first, name.second);
      peers.push_back(federation::read_peer_spec(document, is_hub));
      peers.back().object = name.first + "/" + name.second;
      peers.back().name = name.second;
    }
    started_.wait();
    if (!hub_address_.empty() && !options_.hub_kinds.empty()) {
      peers.push_back(federation::hub_spec(hub_address_, options_.hub_kinds, options_.hub_namespaces));
    }
    federation_->set_peers(std::move(peers));
  }

  /// With the key of client sessions, which is none of the configuration's secrets: derived from the signing key, so
  /// that it outlives the process and all agents have the same.
  /// ProxyVIPs, once they are known whole. On the thread of the watches.
  void take_vips(const std::vector<ObjectEdit>& edits) {
    const std::lock_guard lock(vips_mutex_);
    bool changed = false;
    for (const ObjectEdit& edit : edits) {
      const std::string space = edit.key.qualified_namespace();
      if (edit.key.kind == "Secret") {
        changed =
            vips_.put_secret(space, edit.key.name, edit.object ? edit.object->document : std::string()) || changed;
      }
      if (edit.key.kind != "ProxyVIP") continue;
      const bool other = edit.object ? vips_.put(space, edit.key.name, edit.object->document, edit.object->status)
                                     : vips_.remove(space, edit.key.name);
      changed = changed || other;
    }
    if (changed && vips_known_) publish_vips();
  }

  /// Private keys of sites.
  void take_wan_secrets(const std::vector<ObjectEdit>& edits) {
    for (const ObjectEdit& edit : edits) {
      if (edit.key.kind != "Secret") continue;
      wan_.put_secret(edit.key.qualified_namespace(), edit.key.name,
                      edit.object ? edit.object->document : std::string());
    }
  }

  void know_vips() {
    const std::lock_guard lock(vips_mutex_);
    if (!std::exchange(vips_known_, true)) publish_vips();
  }

  /// Under the lock. A key that cannot be made leaves agents with what they have.
  void publish_vips() {
    auto all = std::make_shared<VirtualAddresses>();
    all->addresses = vips_.addresses();
    for (const VirtualAddress& site : sites_) {
      if (all->addresses.size() < VirtualAddresses::kMost) all->addresses.push_back(site);
    }
    NodeLabels::Keys keys = {std::string(program::kZoneLabel), std::string(program::kRegionLabel)};
    for (const VirtualAddress& address : all->addresses) {
      for (const auto& [key, value] : address.node_selector) keys.insert(key);
    }
    node_labels_.set_keys(std::move(keys));
    all->key = key_.derived_secret("words of agents 1");
    if (!all->key.empty()) distributor_->publish(std::move(all));
  }

  void publish_sites(std::shared_ptr<const std::vector<SiteLinks>> sites) {
    {
      const std::lock_guard lock(vips_mutex_);
      std::vector<VirtualAddress> holders;
      for (const SiteLinks& site : *sites) {
        const std::size_t slash = site.site.find('/');
        holders.push_back({.name_space = site.site.substr(0, slash),
                           .name = site.site.substr(slash + 1),
                           .address = {},
                           .bgp = {},
                           .interface = {},
                           .node_selector = site.node_selector,
                           .site = true});
      }
      const bool changed = holders != sites_;
      sites_ = std::move(holders);
      // With the selectors, too.
      if (changed && vips_known_) publish_vips();
    }
    distributor_->publish(std::move(sites));
  }

  /// And the answers to challenges of CAs, which are nobody's Secrets.
  void publish(Published published) {
    const std::lock_guard lock(values_mutex_);
    if (published.values) {
      last_values_[published.group] = *published.values;
      add_own(*published.values);
    }
    distributor_->publish(std::move(published));
  }

  /// Under the lock.
  void add_own(program::ValueSet& values) const {
    for (const auto& own : {session_key_, challenges_}) {
      if (own == nullptr) continue;
      auto& secrets = values.secrets;
      const auto position =
          std::ranges::lower_bound(secrets, std::tie(own->name_space, own->name), {},
                                   [](const auto& secret) { return std::tie(secret->name_space, secret->name); });
      secrets.insert(position, own);
    }
  }

  void set_challenges(std::shared_ptr<const program::NamedSecret> challenges) {
    const std::lock_guard lock(values_mutex_);
    challenges_ = std::move(challenges);
    for (const auto& [group, values] : last_values_) {
      Published published{.values = values, .group = group};
      add_own(*published.values);
      distributor_->publish(std::move(published));
    }
  }

  /// Whether every agent that is connected has the values that were published last.
  bool all_have_values() const {
    return std::ranges::all_of(distributor_->agents(),
                               [](const AgentState& agent) { return !agent.connected || agent.values_current; });
  }

  Status start() {
    groups_ = std::make_unique<Groups>(
        options_.data_dir, [this](Published published) { publish(std::move(published)); }, options_.log);
    if (Status status = groups_->open(); !status) return status;
    start_remotes();
    start_federation();
    if (Status status = start_distributor(); !status) return status;
    node_groups_.restore();
    node_labels_.restore();
    groups_->restore();
    keeps_last_ = options_.api_began_empty && groups_->last_listens();
    if (keeps_last_) {
      options_.log.error(
          "the API has nothing, and a program with listeners was made before: resources.db was lost or emptied. What "
          "was "
          "served stays in force until there is a listener again: put a copy of resources.db back and start again, or "
          "write the resources anew. To begin with nothing, remove program.edgeprog",
          {{"data_dir", options_.data_dir}});
    }
    start_reconciler();
    traffic_->begin();
    if (Status status = start_cluster(); !status) return status;
    if (Status status = start_spoke(); !status) return status;
    watching_ = std::thread([this] { watch_agents(); });
    distributor_->on_change([this] { agents_changed(); });
    agents_changed();
    up_ = true;
    started_.count_down();
    return {};
  }

  Distributor& distributor() { return *distributor_; }
  const std::string& cluster_uid() const { return cluster_uid_; }
  std::string program_key() const { return key_.public_pem(); }
  bool ready() const { return groups_->has_program(); }
  bool answers(std::chrono::nanoseconds patience) const { return cluster_->answers(patience); }
  void pause() { reconcile_loop_->pause(); }
  bool resume(std::vector<WrittenObject> writes) {
    const bool seen = writes.empty() || cluster_->await_seen(std::move(writes), kSeeing);
    reconcile_loop_->resume();
    return seen;
  }
  void compile_beside(std::vector<ExtraDocument> documents);
  void write_metrics(metrics::Exposition& out) const;

 private:
  void start_remotes() {
    traffic_ = std::make_unique<remote::Traffic>(
        remote::TrafficOptions{.file = options_.data_dir + "/clusters.json",
                               .changed = [this](std::string directory) { take_directory(std::move(directory)); },
                               .log = options_.log});
    remotes_ =
        std::make_unique<remote::RemoteClusters>(remote::RemoteClustersOptions{.cluster_uid = cluster_uid_,
                                                                               .version = EDGE_VERSION,
                                                                               .changed = [this] { agents_changed(); },
                                                                               .leads = [this] { return leads(); },
                                                                               .traffic = traffic_.get(),
                                                                               .log = options_.log});
    hubs_ = std::make_unique<remote::Hubs>(remote::HubsOptions{
        .spoke = spoke_options(),
        .issued_here = [this](const std::string& certificate) { return distributor_->has_issued(certificate); }});
  }

  /// Its thread begins with the first peer that is named.
  void start_federation() {
    federation_ =
        std::make_unique<federation::Federation>(federation::FederationOptions{.data_dir = options_.data_dir,
                                                                               .cluster_uid = cluster_uid_,
                                                                               .key = key_,
                                                                               .config = options_.config,
                                                                               .tunnels = &tunnels_,
                                                                               .leads = [this] { return leads(); },
                                                                               .changed = [this] { agents_changed(); },
                                                                               .log = options_.log});
    if (!options_.federation.status) options_.federation = federation_->view();
  }

  /// It goes the way of objects, so that values are of one order.
  void take_directory(std::string directory) {
    if (!reconcile_loop_) return;
    ClusterObject object;
    object.key.kind = kClusterDirectoryKind;
    object.key.name = "directory";
    object.document = std::move(directory);
    object.only_compiled = true;
    std::vector<ObjectEdit> edits;
    edits.push_back({object.key, std::move(object)});
    reconcile_loop_->edit(std::move(edits));
  }

  /// A hub that is away changes nothing here: what cannot be read of the join file is told, and nothing else fails.
  Status start_spoke() {
    if (options_.hub.empty() && options_.hub_join.empty()) return {};
    remote::SpokeOptions options = spoke_options();
    options.hub = options_.hub;
    options.join_file = options_.hub_join;
    auto spoke = remote::Spoke::start(std::move(options));
    if (!spoke) return spoke.error();
    spoke_ = std::move(*spoke);
    hub_address_ = spoke_->view().hub;
    return {};
  }

  remote::SpokeOptions spoke_options() {
    remote::SpokeOptions options;
    options.data_dir = options_.data_dir;
    options.cluster_uid = cluster_uid_;
    options.version = EDGE_VERSION;
    options.own = [this] { return remotes_->own(); };
    options.changed = [this] {
      ++hub_changes_;
      agents_changed();
    };
    options.leads = [this] { return leads(); };
    options.tunnels = &tunnels_;
    if (options_.hub_reads) {
      options.answer = [this](const AgentQuestion& question) { return spoke_reads_.answer(question); };
    }
    options.traffic = traffic_.get();
    options.log = options_.log;
    return options;
  }

  /// One of several controllers speaks for the cluster.
  bool leads() {
    started_.wait();
    return cluster_ != nullptr && cluster_->counts().leads;
  }

  /// Agents that went away count: they do not run what is published.
  void tell_own(const std::vector<AgentState>& agents) {
    std::uint32_t all = 0;
    std::uint32_t ready = 0;
    for (const AgentState& agent : agents) {
      // Those of other sites are theirs.
      if (!split_cluster(agent.name).cluster.empty()) continue;
      ++all;
      if (agent.connected && !agent.program.empty() && agent.program == agent.published) ++ready;
    }
    remotes_->set_own(all, ready, distributor_->published());
  }

  Status start_distributor() {
    DistributorOptions options;
    options.listen = options_.listen;
    options.listen_flag = options_.listen_flag;
    options.data_dir = options_.data_dir;
    options.program_key = key_.public_pem();
    options.log = options_.log;
    options.history = {.list = [this](const std::string& group) { return groups_->list(group); },
                       .rollback =
                           [this](const std::string& group, const std::string& program) {
                             started_.wait();
                             Status status = groups_->rollback(group, program);
                             agents_changed();
                             return status;
                           },
                       .release =
                           [this](const std::string& group) {
                             started_.wait();
                             Status status = groups_->release(group);
                             agents_changed();
                             return status;
                           },
                       .bytes = [this](const std::string& program) { return groups_->bytes(program); }};
    options.group_label = options_.group_label;
    options.group_came = [this](const std::string& group) {
      {
        const std::lock_guard lock(agents_mutex_);
        groups_came_.push_back(group);
      }
      agents_changed();
    };
    options.progress = {.object = [this](const ObjectVersion& version) { return served_.progress(version); },
                        .number = [this](const std::string& program) { return groups_->number(program); },
                        .pinned = [this] { return groups_->pinned(); }};
    options.own_pages = [this](const AgentQuestion& question, const TakeAnswer& take) { answer_own(question, take); };
    options.relayed_groups = [this](const std::string& cluster) { return remotes_->relayed_groups(cluster); };
    options.further = [this](Authority& authority) {
      remotes_->set_authority(authority);
      return remote::make_remote_service(*remotes_, tunnels_, spoke_questions_, authority);
    };
    options.replace_early = options_.embedded;
    options.accept_on = options_.loop;
    auto distributor = Distributor::start(std::move(options));
    if (!distributor) return distributor.error();
    distributor_ = std::move(*distributor);
    return {};
  }

  /// What an administrator asks of the controller itself.
  void answer_own(const AgentQuestion& question, const TakeAnswer& take) {
    if (question.target.starts_with(kFederationPages)) {
      return take(federation_page(options_.federation, question, "an administrator"));
    }
    if (question.target.starts_with(remote::kClusterPages)) {
      return spoke_questions_.ask(remotes_->views(), question, take);
    }
    if (!options_.own_pages) return take(Error{ErrorCode::kUnimplemented, "this controller has no pages of its own"});
    take(options_.own_pages(question));
  }

  void start_reconciler() {
    ReconcileOptions options;
    options.compile.key = &key_;
    options.compile.target = options_.target;
    options.compile.cache_dir = options_.data_dir + "/cache";
    options.compile.databases = compiler::DatabaseTime::kAfter;
    options.compile.certificate_directories = options_.certificate_directories;
    options.statuses = {options_.controller_class, options_.published_addresses};
    options.sound = read_sound();
    options.paused = options_.paused;
    // The node of edge-standalone is that of whoever writes its resources.
    if (!options_.embedded) options.node_addresses = NodeAddresses::kLeftOut;
    reconcile_loop_ = std::make_unique<ReconcileLoop>(
        std::move(options),
        ReconcileEvents{
            .reconciled = [this](const ReconcileResult& result) { reconciled(result); },
            .taken = [this](const std::vector<TakenObject>& objects) { served_.take(objects, program_number_); },
            .statuses_changed =
                [this](std::vector<DesiredStatus> desired_statuses) {
                  served_.set_desired(desired_statuses, program_number_);
                  started_.wait();
                  cluster_->set_desired(std::move(desired_statuses));
                },
            .sound_versions = [this](const SoundVersions& sound) { keep_sound(sound); },
            .databases = [this](const compiler::DatabaseProgress& progress) { log_databases(progress); },
            .told_of_files =
                [this](const std::vector<net::tls::CertificateFiles::Line>& lines) {
                  for (const auto& line : lines) {
                    line.warning ? options_.log.warn(line.text) : options_.log.info(line.text);
                  }
                }});
  }

  Status start_cluster() {
    ClusterOptions options;
    options.config = options_.config;
    options.controller_class = options_.controller_class;
    options.status.controller_class = options_.controller_class;
    options.status.rate = options_.status_rate;
    options.status.burst = options_.status_rate * 2;
    options.elect = options_.elect;
    options.identity = options_.identity;
    options.lease_namespace = options_.lease_namespace;
    options.embedded = options_.embedded;
    options.node_label = options_.group_label;
    options.loop = options_.loop;
    options.dns_hook = options_.dns_hook;
    options.log = options_.log;
    auto cluster = Cluster::start(
        std::move(options),
        {.edited =
             [this](std::vector<ObjectEdit> edits) {
               take_vips(edits);
               take_wan_secrets(edits);
               take_remotes(edits);
               std::vector<ResourceId> gone;
               for (const ObjectEdit& edit : edits) {
                 if (!edit.object) gone.push_back(edit.key);
               }
               reconcile_loop_->edit(std::move(edits));
               if (options_.changed) options_.changed(gone);
             },
         .node = [this](const std::string& node, std::string group) { node_groups_.set(node, std::move(group)); },
         .node_labels =
             [this](const std::string& node, Labels labels) {
               const std::lock_guard lock(vips_mutex_);
               node_labels_.set(node, std::move(labels));
             },
         .nodes_synced =
             [this] {
               node_groups_.synced();
               const std::lock_guard lock(vips_mutex_);
               node_labels_.synced();
             },
         .synced =
             [this] {
               know_vips();
               remotes_->synced();
               remotes_known_ = true;
               name_peers();
               reconcile_loop_->begin();
             },
         .wrote = [this](std::chrono::nanoseconds took) { metrics_.wrote_status(took); },
         .certificates = {.challenges =
                              [this](std::shared_ptr<const program::NamedSecret> challenges) {
                                set_challenges(std::move(challenges));
                              },
                          .acknowledged = [this] { return all_have_values(); }}});
    if (!cluster) return cluster.error();
    cluster_ = std::move(*cluster);
    return {};
  }

  SoundVersions read_sound() const {
    const auto text = read_file(options_.data_dir + kSoundFile, kMaxSoundBytes);
    if (!text) return {};
    auto versions = read_sound_versions(*text);
    if (versions) return std::move(*versions);
    options_.log.warn("the stored valid versions are ignored: " + versions.error().text);
    return {};
  }

  void keep_sound(const SoundVersions& sound) {
    metrics_.held_back(sound.size());
    const std::string text = write_sound_versions(sound);
    Status status = write_file(options_.data_dir + kSoundFile, std::string_view(text), FileAccess::kOwnerOnly);
    if (!status) options_.log.warn("the last valid versions could not be stored: " + status.error().text);
  }

  void reconciled(const ReconcileResult& result) {
    if (result.program == nullptr) {
      options_.log.error("no program could be made, the last one stays in force: " + result.fault);
    } else if (result.program_changed) {
      keeps_last_ = keeps_last_ && !listens(result.program);
    }
    if ((result.program_changed || result.values_changed) && !keeps_last_) groups_->take(result);
    if (result.exports) traffic_->set_own({result.exports->gateways, result.exports->services});
    if (result.program != nullptr) program_number_ = result.number;
    if (result.wan != nullptr) wan_.take(result.wan);
    if (result.certificates != nullptr) {
      started_.wait();
      cluster_->set_certificates(*result.certificates);
    }
    // Numbers of programs that agents run may be others now, though no agent says anything.
    if (result.program_changed) agents_changed();
    metrics_.reconciled(result, result.took, ControllerMetrics::Clock::now());
    if (!result.program_changed) return;
    std::string text = "program " + program::to_hex(result.hash).substr(0, 12);
    text += result.cause.count > 0 || result.number == 1 ? " of " + result.cause.line()
                                                         : ", which has the databases of all patterns";
    if (result.lacks_databases) text += "; its patterns are searched for one by one until their databases are made";
    options_.log.info(text);
  }

  /// On the compiler's thread for databases. What is done soon is not worth a word.
  void log_databases(const compiler::DatabaseProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (progress.ended || now < databases_logged_ + kBetweenProgress) {
      if (progress.ended) databases_logged_ = {};
      return;
    }
    if (databases_logged_ != std::chrono::steady_clock::time_point()) {
      options_.log.info("regex databases are compiled: " + std::to_string(progress.made) + " of " +
                        std::to_string(progress.asked) + " patterns");
    }
    databases_logged_ = now;
  }

  void agents_changed() {
    {
      const std::lock_guard lock(agents_mutex_);
      agents_stale_ = true;
    }
    wake_.notify_all();
  }

  /// Whether what agents run is another than at the last look, or its number, and not only which values they have.
  bool look_again() {
    Seen now{distributor_->changes(), program_number_.load(), pinned_words(groups_->pinned()),
             remotes_->changes() + hub_changes_ + federation_->changes()};
    return std::exchange(looked_at_, std::optional(now)) != now;
  }

  void watch_agents() {
    const auto patience = std::chrono::steady_clock::now() + kPatience;
    bool waited = false;
    std::chrono::steady_clock::duration gather = kGatherAgents;
    std::unique_lock lock(agents_mutex_);
    for (;;) {
      const auto something = [this] { return stopping_ || agents_stale_; };
      if (waited) {
        wake_.wait(lock, something);
      } else if (!wake_.wait_until(lock, patience, something) || std::chrono::steady_clock::now() >= patience) {
        waited = true;
        lock.unlock();
        groups_->give_out_last();
        lock.lock();
        continue;
      }
      wake_.wait_for(lock, gather, [this] { return stopping_; });
      if (stopping_) return;
      agents_stale_ = false;
      const std::vector<std::string> came = std::exchange(groups_came_, {});
      lock.unlock();
      for (const std::string& group : came) groups_->came(group);
      const auto began = std::chrono::steady_clock::now();
      // The first agent of a group may have come with a program that had no number before the group was opened.
      if (!look_again() && came.empty()) {
        lock.lock();
        continue;
      }
      const std::vector<AgentState> agents = distributor_->agents();
      tell_own(agents);
      AgentsView view = view_of(agents, distributor_->backends(),
                                [this](const std::string& program) { return groups_->number(program); });
      view.vips = vips_of(distributor_->vips());
      const std::vector<AgentWan> wan = distributor_->wan();
      wan_.look(found_addresses(wan), std::chrono::system_clock::now());
      view.wan = wan_view_of(wan);
      view.remotes = remotes_->views();
      view.remotes.merge(hubs_->views());
      view.federation = federation_->statuses();
      view.pinned = pinned_words(groups_->pinned());
      metrics_.looked(view, ControllerMetrics::Clock::now());
      cluster_->agents(std::move(view));
      // Of many agents with many backends a look costs: at most a third of the time goes into it.
      gather =
          std::max<std::chrono::steady_clock::duration>(kGatherAgents, 2 * (std::chrono::steady_clock::now() - began));
      lock.lock();
    }
  }

  ControllerOptions options_;
  program::SigningKey key_;
  /// Null where none could be derived: clients have no sessions then.
  std::shared_ptr<const program::NamedSecret> session_key_;
  const std::string cluster_uid_ = cluster_uid_of(key_);
  remote::Tunnels tunnels_;
  remote::SpokeQuestions spoke_questions_;
  remote::SpokeReads spoke_reads_{{.config = options_.config,
                                   .program =
                                       [this] {
                                         started_.wait();
                                         return distributor_ != nullptr ? distributor_->published_bytes() : nullptr;
                                       },
                                   .traces = options_.hub_reads_traces ? options_.own_pages : nullptr}};
  std::unique_ptr<remote::Traffic> traffic_;
  std::unique_ptr<remote::RemoteClusters> remotes_;
  std::unique_ptr<remote::Hubs> hubs_;
  std::map<std::pair<std::string, std::string>, remote::RemoteSpec> specs_;  ///< of the thread of the watches
  /// Likewise: EdgeRemoteClusters as JSON, by namespace and name.
  std::map<std::pair<std::string, std::string>, std::string> remote_documents_;
  bool remotes_known_ = false;  ///< likewise
  std::unique_ptr<federation::Federation> federation_;
  std::atomic<std::uint64_t> hub_changes_ = 0;
  std::unique_ptr<remote::Spoke> spoke_;  ///< null: this cluster has no hub
  std::string hub_address_;               ///< of the spoke, once it has started
  std::unique_ptr<Groups> groups_;
  std::mutex values_mutex_;
  std::map<std::string, program::ValueSet> last_values_;      ///< by group; guarded by values_mutex_
  std::shared_ptr<const program::NamedSecret> challenges_{};  ///< likewise; null: none
  std::mutex vips_mutex_;
  VipIndex vips_;                      ///< guarded by vips_mutex_
  bool vips_known_ = false;            ///< likewise
  std::vector<VirtualAddress> sites_;  ///< likewise: who holds the tunnels of each
  sdwan::WanFeed wan_{key_.derived_secret("sdwan 1"),
                      [this](std::shared_ptr<const std::vector<SiteLinks>> sites) { publish_sites(std::move(sites)); }};
  ServedObjects served_;
  bool keeps_last_ = false;  ///< see api_began_empty; of the reconciler's thread once there is one
  std::chrono::steady_clock::time_point databases_logged_{};  ///< of the compiler's thread for databases
  std::atomic<std::uint64_t> program_number_ = 0;             ///< of the newest
  std::unique_ptr<Distributor> distributor_;
  /// Of the thread that starts, then of the cluster's.
  NodeGroups node_groups_{
      options_.data_dir + "/node-groups",
      [this](const std::string& node, std::string group) { distributor_->set_node_group(node, std::move(group)); },
      options_.log};
  NodeLabels node_labels_{
      options_.data_dir + "/node-labels",
      [this](const std::string& node, Labels labels) { distributor_->set_node_labels(node, std::move(labels)); },
      options_.log};  ///< guarded by vips_mutex_ once it is restored
  std::unique_ptr<ReconcileLoop> reconcile_loop_;
  std::unique_ptr<Cluster> cluster_;
  std::latch started_{1};
  bool up_ = false;  ///< of the thread that starts and ends
  std::mutex agents_mutex_;
  std::condition_variable wake_;
  bool agents_stale_ = false;
  std::vector<std::string> groups_came_;
  bool stopping_ = false;
  using Seen = std::tuple<std::uint64_t, std::uint64_t, std::string, std::uint64_t>;
  std::optional<Seen> looked_at_;  ///< of the thread that watches
  std::thread watching_;
  ControllerMetrics metrics_;
  std::vector<ExtraDocument> beside_;  ///< of the thread that calls compile_beside
};

void Controller::Impl::compile_beside(std::vector<ExtraDocument> documents) {
  std::vector<ObjectEdit> edits;
  const auto among = [](const std::vector<ExtraDocument>& all, const ResourceId& key) {
    return std::ranges::find(all, key, &ExtraDocument::key) != all.end();
  };
  for (const ExtraDocument& old : beside_) {
    if (!among(documents, old.key)) edits.push_back({old.key, std::nullopt});
  }
  for (const ExtraDocument& extra : documents) {
    if (std::ranges::find(beside_, extra) != beside_.end()) continue;
    ClusterObject object;
    object.key = extra.key;
    object.document = extra.document;
    object.only_compiled = true;
    edits.push_back({extra.key, std::move(object)});
  }
  beside_ = std::move(documents);
  if (!edits.empty()) reconcile_loop_->edit(std::move(edits));
}

void Controller::Impl::write_metrics(metrics::Exposition& out) const {
  const std::vector<AgentState> agents = distributor_->agents();
  metrics_.write(out, {.cluster = cluster_->counts(), .changes_waiting = reconcile_loop_->waiting(), .agents = agents});
  // Clusters connect to the controller that leads: of the others each would say that they are away.
  remote::RemoteViews remotes;
  if (cluster_->counts().leads) {
    remotes = remotes_->views();
    remotes.merge(hubs_->views());
  }
  write_remotes(out, remotes);
  write_federation(out, options_.federation);
  const auto spoke = spoke_ ? std::optional(spoke_->view()) : std::nullopt;
  write_spoke(out, spoke ? &*spoke : nullptr, std::chrono::system_clock::now());
}

Result<std::unique_ptr<Controller>> Controller::start(ControllerOptions options) {
  auto data = DataDir::open(options.data_dir);
  if (!data) return data.error();
  auto key = data->signing_key();
  if (!key) return key.error();
  auto impl = std::make_unique<Impl>(std::move(options), std::move(*key));
  if (Status status = impl->start(); !status) return status.error();
  return std::unique_ptr<Controller>(new Controller(std::move(impl)));
}

Controller::Controller(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Controller::~Controller() = default;
std::string Controller::address() const { return impl_->distributor().address(); }
std::uint16_t Controller::port() const { return impl_->distributor().port(); }
std::string Controller::join_file() const { return impl_->distributor().join_file(); }
Result<std::unique_ptr<LocalAgent>> Controller::connect(std::string name, const std::string& hello,
                                                        LocalAgentEvents events) {
  return impl_->distributor().connect(std::move(name), hello, std::move(events));
}
std::string Controller::cluster_uid() const { return impl_->cluster_uid(); }
std::string Controller::program_key() const { return impl_->program_key(); }
std::string Controller::behind(const std::string& agent, const std::string& program) const {
  return impl_->distributor().behind(agent, program);
}
std::string Controller::admin_file() const { return impl_->distributor().admin_file(); }
void Controller::write_metrics(metrics::Exposition& out) const { impl_->write_metrics(out); }
void Controller::pause() { impl_->pause(); }
bool Controller::resume(std::vector<WrittenObject> writes) { return impl_->resume(std::move(writes)); }
void Controller::compile_beside(std::vector<ExtraDocument> documents) { impl_->compile_beside(std::move(documents)); }
bool Controller::ready() const { return impl_->ready(); }
bool Controller::answers(std::chrono::nanoseconds patience) const { return impl_->answers(patience); }

}  // namespace edge::controller
