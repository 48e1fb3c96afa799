#include "controller/controller.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/os/file.h"
#include "controller/agents_watch.h"
#include "controller/assignments.h"
#include "controller/cluster.h"
#include "controller/connected_clusters.h"
#include "controller/controller_metrics.h"
#include "controller/distribute/agents/node_groups.h"
#include "controller/publish/agents_reach.h"
#include "controller/publish/groups.h"
#include "controller/publish/own_secrets.h"
#include "controller/reconcile/reconcile_loop.h"
#include "controller/status/served_objects.h"
#include "program/values/endpoints.h"

namespace edge::controller {
namespace {

using namespace std::chrono_literals;

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

}  // namespace

class Controller::Impl {
 public:
  Impl(ControllerOptions options, program::SigningKey key) : options_(std::move(options)), key_(std::move(key)) {}

  ~Impl() {
    // Each stops to be called before who it calls goes. One that failed to start is waited for no more.
    if (!up_) started_.count_down();
    if (distributor_) distributor_->on_change({});
    watch_.stop();
    // The thread of the watches may still name peers, of which nothing comes.
    clusters_.stop();
    // A rollback may be under way, which publishes. Nobody takes the end of the agents' streams for their loss any
    // more.
    if (distributor_) distributor_->stop();
    if (reconcile_loop_) reconcile_loop_->stop();
    cluster_.reset();
    reconcile_loop_.reset();
    distributor_.reset();
  }

  Status start() {
    groups_ = std::make_unique<Groups>(
        options_.data_dir, [this](Published published) { own_secrets_.publish(std::move(published)); }, options_.log);
    if (Status status = groups_->open(); !status) return status;
    if (Status status = start_distributor(); !status) return status;
    node_groups_.restore();
    assignments_.restore();
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
    clusters_.begin();
    if (Status status = start_cluster(); !status) return status;
    if (Status status = clusters_.connect(); !status) return status;
    watch_.start();
    distributor_->on_change([this] { watch_.changed(); });
    watch_.changed();
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
  ConnectedClustersOptions clusters_options() {
    ConnectedClustersOptions options{.data_dir = options_.data_dir,
                                     .shared_dir = options_.shared_dir,
                                     .cluster_uid = cluster_uid_,
                                     .key = key_,
                                     .config = options_.config,
                                     .hub = options_.hub,
                                     .hub_join = options_.hub_join,
                                     .hub_kinds = options_.hub_kinds,
                                     .hub_namespaces = options_.hub_namespaces,
                                     .hub_reads = options_.hub_reads,
                                     .log = options_.log};
    options.program = [this] {
      started_.wait();
      return distributor_ != nullptr ? distributor_->published_bytes() : nullptr;
    };
    if (options_.hub_reads_traces) options.traces = options_.own_pages;
    options.issued_here = [this](const std::string& certificate) { return distributor_->has_issued(certificate); };
    options.leads = [this] { return leads(); };
    options.changed = [this] { watch_.changed(); };
    options.directory = [this](std::string directory) { take_directory(std::move(directory)); };
    return options;
  }

  AssignmentsOptions assignments_options() {
    return {
        .data_dir = options_.data_dir,
        .key = key_,
        .addresses =
            [this](std::shared_ptr<const VirtualAddresses> addresses) {
              distributor_->publish(std::move(addresses));
              watch_.changed();
            },
        .links =
            [this](std::shared_ptr<const std::vector<SiteLinks>> sites) { distributor_->publish(std::move(sites)); },
        .node_labels = [this](const std::string& node,
                              Labels labels) { distributor_->set_node_labels(node, std::move(labels)); },
        .log = options_.log};
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
    clusters_.set_own(all, ready, distributor_->published());
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
                             watch_.changed();
                             return status;
                           },
                       .release =
                           [this](const std::string& group) {
                             started_.wait();
                             Status status = groups_->release(group);
                             watch_.changed();
                             return status;
                           },
                       .bytes = [this](const std::string& program) { return groups_->bytes(program); }};
    // Dropped while there is no cluster yet: who wants a name says so again.
    options.wanted = [this](std::vector<WantedName> names) {
      if (!started_.try_wait()) return;
      std::vector<acme::WantedName> wanted;
      for (WantedName& one : names) {
        wanted.push_back({std::move(one.name_space), std::move(one.secret), std::move(one.host), one.served});
      }
      cluster_->want_names(std::move(wanted));
    };
    options.group_label = options_.group_label;
    options.group_came = [this](const std::string& group) { watch_.group_came(group); };
    options.progress = {.object = [this](const ObjectVersion& version) { return served_.progress(version); },
                        .number = [this](const std::string& program) { return groups_->number(program); },
                        .pinned = [this] { return groups_->pinned(); }};
    options.own_pages = [this](const AgentQuestion& question, const TakeAnswer& take) { answer_own(question, take); };
    options.further = [this](Hub& hub) { return clusters_.services(hub); };
    // Of an API in this process there is one controller.
    if (!options_.embedded) {
      options.share_revoked = [this](std::function<void(Status)> done) {
        const bool started = started_.try_wait();
        if (started && options_.elect) return cluster_->share_revoked(std::move(done));
        // One controller alone: its successor learns of it where that may be written, and the command waits for nobody.
        if (started) cluster_->share_revoked({});
        if (done) done(started ? Status() : Error{ErrorCode::kUnavailable, "the controller starts"});
      };
    }
    // One controller alone knows what it has revoked itself.
    if (options_.elect) options.knows_revoked = [this] { return started_.try_wait() && cluster_->knows_revoked(); };
    options.replace_early = options_.embedded;
    options.accept_on = options_.loop;
    auto distributor = Distributor::start(std::move(options));
    if (!distributor) return distributor.error();
    distributor_ = std::move(*distributor);
    return {};
  }

  /// What an administrator asks of the controller itself.
  void answer_own(const AgentQuestion& question, const TakeAnswer& take) {
    if (clusters_.answer(question, take)) return;
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
            .wanted =
                [this](std::vector<ResourceId> objects) {
                  started_.wait();
                  cluster_->read_again(std::move(objects));
                },
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
    auto cluster = Cluster::start(std::move(options), cluster_events());
    if (!cluster) return cluster.error();
    cluster_ = std::move(*cluster);
    return {};
  }

  /// Called on the thread of the watches.
  ClusterEvents cluster_events() {
    ClusterEvents events;
    events.edited = [this](std::vector<ObjectEdit> edits) {
      assignments_.take(edits);
      clusters_.take(edits);
      std::vector<ResourceId> gone;
      for (const ObjectEdit& edit : edits) {
        if (!edit.object) gone.push_back(edit.key);
      }
      reconcile_loop_->edit(std::move(edits));
      if (options_.changed) options_.changed(gone);
    };
    events.node = [this](const std::string& node, std::string group) { node_groups_.set(node, std::move(group)); };
    events.node_labels = [this](const std::string& node, Labels labels) {
      assignments_.set_node_labels(node, std::move(labels));
    };
    events.nodes_synced = [this] {
      node_groups_.synced();
      assignments_.nodes_synced();
    };
    events.synced = [this] {
      assignments_.synced();
      clusters_.synced();
      reconcile_loop_->begin();
    };
    events.own_revoked = [this] { return options_.embedded ? std::string() : distributor_->revoked_agents(); };
    events.revoked = [this](const std::string& agents) {
      if (options_.embedded) return;
      if (Status status = distributor_->learn_revoked_agents(agents); !status) {
        options_.log.error("which agents other controllers have revoked cannot be kept: " + status.error().text);
      }
    };
    events.wrote = [this](std::chrono::nanoseconds took) { metrics_.wrote_status(took); };
    events.certificates.challenges = [this](std::shared_ptr<const program::NamedSecret> challenges) {
      return own_secrets_.set_challenges(std::move(challenges));
    };
    events.certificates.acknowledged = [this](std::uint64_t version) { return distributor_->have_values(version); };
    events.certificates.reach = [this] { return reach_.look(*distributor_); };
    return events;
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
    if (result.exports) clusters_.set_exports({result.exports->gateways, result.exports->services});
    if (result.program != nullptr) program_number_ = result.number;
    if (result.wan != nullptr) assignments_.take_wan(result.wan);
    if (result.certificates != nullptr) {
      started_.wait();
      cluster_->set_certificates(result.certificates);
    }
    // Numbers of programs that agents run may be others now, though no agent says anything.
    if (result.program_changed) watch_.changed();
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

  /// Whether what agents run is another than at the last look, or its number, and not only which values they have.
  bool look_again() {
    Seen now{distributor_->changes(), program_number_.load(), pinned_words(groups_->pinned()), clusters_.changes(),
             assignments_.addresses()};
    return std::exchange(looked_at_, std::optional(now)) != now;
  }

  /// On the thread of the watch. \returns whether there was something to see.
  bool look(const std::vector<std::string>& groups_came) {
    for (const std::string& group : groups_came) groups_->came(group);
    // The first agent of a group may have come with a program that had no number before the group was opened.
    if (!look_again() && groups_came.empty()) return false;
    const std::vector<AgentState> agents = distributor_->agents();
    tell_own(agents);
    AgentsView view = view_of(agents, distributor_->backends(),
                              [this](const std::string& program) { return groups_->number(program); });
    view.vips = vips_of(distributor_->vips());
    const std::vector<AgentWan> wan = distributor_->wan();
    assignments_.look_at_wan(found_addresses(wan), std::chrono::system_clock::now());
    view.wan = wan_view_of(wan);
    if (const auto addresses = assignments_.addresses()) add_behind_relays(agents, *addresses, view);
    view.remotes = clusters_.views();
    view.federation = clusters_.federation_statuses();
    view.pinned = pinned_words(groups_->pinned());
    metrics_.looked(view, ControllerMetrics::Clock::now());
    cluster_->agents(std::move(view));
    return true;
  }

  ControllerOptions options_;
  program::SigningKey key_;
  const std::string cluster_uid_ = cluster_uid_of(key_);
  std::unique_ptr<Groups> groups_;
  // Not called before the distributor is there, to which they lead.
  ConnectedClusters clusters_{clusters_options()};
  Assignments assignments_{assignments_options()};
  OwnSecrets own_secrets_{key_, [this](Published published) { return distributor_->publish(std::move(published)); }};
  ServedObjects served_;
  ReachView reach_;          ///< of the thread of the watches
  bool keeps_last_ = false;  ///< see api_began_empty; of the reconciler's thread once there is one
  std::chrono::steady_clock::time_point databases_logged_{};  ///< of the compiler's thread for databases
  std::atomic<std::uint64_t> program_number_ = 0;             ///< of the newest
  std::unique_ptr<Distributor> distributor_;
  /// Of the thread that starts, then of the cluster's.
  NodeGroups node_groups_{
      options_.data_dir + "/node-groups",
      [this](const std::string& node, std::string group) { distributor_->set_node_group(node, std::move(group)); },
      options_.log};
  std::unique_ptr<ReconcileLoop> reconcile_loop_;
  std::unique_ptr<Cluster> cluster_;
  std::latch started_{1};
  bool up_ = false;  ///< of the thread that starts and ends
  AgentsWatch watch_{{.look = [this](const std::vector<std::string>& groups_came) { return look(groups_came); },
                      .patience_over = [this] { groups_->give_out_last(); }}};
  using Seen =
      std::tuple<std::uint64_t, std::uint64_t, std::string, std::uint64_t, std::shared_ptr<const VirtualAddresses>>;
  std::optional<Seen> looked_at_;  ///< of the watch's thread
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
  clusters_.write_metrics(out, cluster_->counts().leads);
}

Result<std::unique_ptr<Controller>> Controller::start(ControllerOptions options) {
  auto data = DataDir::open(options.data_dir);
  if (!data) return data.error();
  if (!options.shared_dir.empty()) {
    if (auto shared = DataDir::open(options.shared_dir, "--shared-dir"); !shared) return shared.error();
  }
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
