#include "controller/cluster.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/labels.h"
#include "base/text/json.h"
#include "controller/infrastructure/service_writer.h"
#include "controller/kube/client.h"
#include "controller/kube/discovery.h"
#include "controller/kube/elector.h"
#include "controller/kube/farewell.h"
#include "controller/kube/informer.h"
#include "controller/kube/recorder.h"
#include "controller/revoked_agents.h"
#include "controller/rights/access.h"
#include "controller/rights/ordering_rights.h"
#include "controller/rights/statuses.h"
#include "controller/watched_kinds.h"
#include "schemas/schema.h"

namespace edge::controller {
namespace {

using namespace std::chrono_literals;

/// How soon a kind that was not served is looked for again: our own are installed in a moment, others one day.
constexpr net::Duration kLookSoon = 2s;
constexpr net::Duration kLookLater = 60s;
/// For the Lease to be given back.
constexpr net::Duration kFarewell = 2s;

}  // namespace

class Cluster::Impl {
 public:
  Impl(ClusterOptions options, ClusterEvents events)
      : options_(std::move(options)),
        events_(std::move(events)),
        own_loop_(options_.loop == nullptr ? std::make_unique<net::Loop>() : nullptr),
        loop_(own_loop_ ? *own_loop_ : *options_.loop) {}

  Status start() {
    net::ignore_sigpipe();
    Status made;
    if (own_loop_) {
      made = make();
      if (!made) return made;
      thread_ = std::thread([this] {
        begin();
        loop_.run();
      });
      return made;
    }
    std::latch done(1);
    loop_.post([&] {
      made = make();
      if (made) begin();
      done.count_down();
    });
    done.wait();
    return made;
  }

  void stop() {
    // Kept by whom it is told, who may come to it after this one has gone on.
    auto ended = ended_->get_future();
    loop_.post([this] { end(); });
    own_loop_ ? thread_.join() : ended.wait();
  }

  void set_desired(std::vector<DesiredStatus> desired_statuses) {
    loop_.post([this, desired_statuses = std::move(desired_statuses)]() mutable {
      if (!writer_) return;
      for (const DesiredStatus& desired : desired_statuses) {
        if (desired.key.kind == "Gateway" && desired.key.cluster.empty()) {
          services_->set_desired(desired.key, desired.service);
        }
      }
      writer_->set_desired(std::move(desired_statuses));
    });
  }
  void agents(AgentsView view) {
    loop_.post([this, view = std::move(view)]() mutable {
      if (writer_) writer_->agents(std::move(view));
    });
  }
  void set_certificates(std::shared_ptr<const compiler::OrderedCertificates> ordered) {
    loop_.post([this, ordered = std::move(ordered)] {
      std::set<std::string> namespaces;
      for (const auto& one : ordered->certificates) namespaces.insert(one.name_space);
      for (const auto& one : ordered->bundles) {
        if (one.on_demand) namespaces.insert(one.name_space);
      }
      if (ordering_rights_) ordering_rights_->set_namespaces(std::move(namespaces));
      if (certificates_) certificates_->set_wanted(*ordered);
    });
  }
  void want_names(std::vector<acme::WantedName> names) {
    loop_.post([this, names = std::move(names)] {
      if (certificates_) certificates_->want(names);
    });
  }
  void share_revoked(std::function<void(Status)> done) {
    loop_.post([this, done = std::move(done)]() mutable {
      if (revoked_ != nullptr && !stopping_) return revoked_->share(std::move(done));
      if (done) done(Error{ErrorCode::kUnavailable, "the controller ends"});
    });
  }
  bool knows_revoked() const { return knows_revoked_; }
  void read_again(std::vector<ResourceId> objects) {
    loop_.post([this, objects = std::move(objects)] {
      for (const ResourceId& key : objects) {
        const auto found = informers_.find(key.kind);
        if (found != informers_.end()) found->second->read_again(key.name_space, key.name);
      }
    });
  }
  bool answers(std::chrono::nanoseconds patience) {
    // Shared with the thread: it may come to it after we stopped waiting.
    const auto here = std::make_shared<std::promise<void>>();
    auto answered = here->get_future();
    loop_.post([here] { here->set_value(); });
    return answered.wait_for(patience) == std::future_status::ready;
  }
  bool await_seen(std::vector<WrittenObject> writes, std::chrono::nanoseconds patience) {
    const auto awaited = std::make_shared<Awaited>(std::move(writes));
    auto seen = awaited->seen.get_future();
    loop_.post([this, awaited] {
      awaited_ = awaited;
      check_seen();
    });
    return seen.wait_for(patience) == std::future_status::ready;
  }
  ClusterCounts counts() const {
    const std::lock_guard lock(mutex_);
    ClusterCounts counts = counts_;
    counts.statuses = statuses_;
    counts.certificates = certificates_ != nullptr ? certificates_->counts() : acme::CertificateCounts{};
    return counts;
  }

 private:
  struct Awaited {
    explicit Awaited(std::vector<WrittenObject> of) : writes(std::move(of)) {}
    std::vector<WrittenObject> writes;
    std::promise<void> seen;
  };

  /// On the loop's thread, or before there is one.
  Status make() {
    auto client = kube::Client::make(loop_, options_.config);
    if (!client) return client.error();
    client_ = std::move(*client);
    discovery_ = std::make_unique<kube::Discovery>(*client_);
    StatusWriter::Callbacks callbacks{.counted =
                                          [this](const StatusCounts& counts) {
                                            const std::lock_guard lock(mutex_);
                                            statuses_ = counts;
                                          },
                                      .wrote = events_.wrote};
    writer_ = std::make_unique<StatusWriter>(*client_, options_.status, options_.log, std::move(callbacks));
    services_ = std::make_unique<ServiceWriter>(*client_, options_.controller_class, options_.log);
    recorder_ = std::make_unique<kube::Recorder>(*client_);
    revoked_ = std::make_unique<RevokedAgents>(*client_, RevokedAgentsOptions{.name_space = options_.lease_namespace,
                                                                              .own = events_.own_revoked,
                                                                              .learned = events_.revoked,
                                                                              .log = options_.log});
    ordering_rights_ = std::make_unique<OrderingRights>(
        *client_, OrderingRightsOptions{
                      .log = options_.log, .missing = [this](const std::string& space, const std::string& why) {
                        const kube::Regarding regarding{
                            .api_version = "v1", .kind = "Namespace", .name_space = {}, .name = space, .uid = {}};
                        recorder_->record(regarding, kube::EventLevel::kWarning, "CertificatesNotOrdered", why);
                      }});
    auto certificates =
        std::make_unique<acme::Certificates>(*client_,
                                             acme::CertificatesOptions{.identity = options_.identity,
                                                                       .controller_class = options_.controller_class,
                                                                       .several = options_.elect,
                                                                       .name_space = options_.lease_namespace,
                                                                       .dns_hook = options_.dns_hook,
                                                                       .log = options_.log},
                                             events_.certificates);
    const std::lock_guard lock(mutex_);
    certificates_ = std::move(certificates);
    return {};
  }

  void begin() {
    if (options_.elect) {
      elect();
    } else {
      lead(true);
    }
    look();
  }

  void elect() {
    kube::ElectorOptions options;
    options.name_space = options_.lease_namespace;
    options.identity = options_.identity;
    elector_ = std::make_unique<kube::Elector>(
        *client_, std::move(options),
        kube::ElectorEvents{.elected = [this] { lead(true); },
                            .deposed = [this] { lead(false); },
                            .leader =
                                [this](const std::string& identity) {
                                  if (!identity.empty())
                                    options_.log.info(identity + " is the leader and writes statuses");
                                }});
    elector_->start();
  }

  void lead(bool leads) {
    writer_->lead(leads);
    services_->lead(leads);
    if (ordering_rights_) ordering_rights_->lead(leads);
    certificates_->lead(leads);
    const std::lock_guard lock(mutex_);
    counts_.leads = leads;
  }

  /// Looks which kinds there are, again and again: one may be installed later.
  net::Detached look() {
    looking_ = true;
    while (!stopping_) {
      const kube::DiscoveryReply reply = co_await discovery_->refresh(waiter_);
      if (stopping_) break;
      if (reply.ok()) {
        follow(reply);
      } else {
        connection("discovery", false, reply.failure);
      }
      const bool soon = !reply.ok() || !reply.unavailable.empty() || !missing_.empty();
      const net::Time again = loop_.now() + (soon ? kLookSoon : kLookLater);
      co_await waiter_.wait(again);
    }
    looking_ = false;
    finish_when_idle();
  }

  void follow(const kube::DiscoveryReply& reply) {
    connection("discovery", true, {});
    follow_nodes(reply.table);
    std::string missing;
    for (const schemas::Kind& kind : schemas::kinds()) {
      const std::string name(kind.kind);
      if (informers_.contains(name) || !follows(kind, options_.embedded)) continue;
      const kube::Resource* resource = reply.table.find_watched(kind.api_version, kind.kind);
      if (resource != nullptr) {
        follow(name, *resource);
      } else if (is_needed(kind, reply)) {
        missing += (missing.empty() ? "" : ", ") + name;
      }
    }
    if (!missing.empty() && missing != missing_)
      options_.log.warn("no program is compiled while the API lacks " + missing);
    missing_ = missing;
    // Kinds that come later are caught up with while programs are made.
    if (first_.empty() && !synced_ && missing_.empty()) {
      for (const auto& [name, informer] : informers_) first_.insert(name);
      check_synced();
    }
    const std::lock_guard lock(mutex_);
    counts_.kinds = informers_.size();
  }

  /// Of Nodes their labels are all that is asked, and those of before count where they cannot be read: who may not read
  /// them is told so.
  void follow_nodes(const kube::ResourceTable& table) {
    if (nodes_ != nullptr) return;
    const kube::Resource* resource = options_.node_label.empty() ? nullptr : table.find_kind("v1", "Node");
    if (resource == nullptr || !resource->has_verb("watch")) {
      nodes_awaited_ = false;
      return;
    }
    kube::InformerEvents events;
    events.changed = [this](const kube::Object& object) {
      const nlohmann::json node = parse_json(object.text);
      const nlohmann::json& labels = member_in(member_in(node, "metadata"), "labels");
      std::string value = text_in(labels, options_.node_label.c_str());
      events_.node(object.name, is_label_value(value) ? std::move(value) : std::string());
      events_.node_labels(object.name, labels_in(labels));
    };
    events.removed = [this](const std::string& key) {
      events_.node(key, {});
      events_.node_labels(key, {});
    };
    events.synced = [this] {
      events_.nodes_synced();
      nodes_awaited_ = false;
      check_synced();
    };
    events.connection = [this](bool connected, const kube::Failure& failure) {
      // Later on they share the fate of the other kinds.
      if (connected || !nodes_awaited_) return;
      options_.log.warn("Nodes cannot be read: the groups of agents without the label " + options_.node_label +
                        ", and the labels that node selectors of addresses see, stay as they are (" + failure.text() +
                        ")");
      nodes_awaited_ = false;
      check_synced();
    };
    nodes_ = std::make_unique<kube::Informer>(*client_, *resource, kube::InformerOptions{}, std::move(events));
    nodes_->start();
  }

  void follow(const std::string& kind, const kube::Resource& resource) {
    writer_->serve(kind, resource);
    services_->serve(kind, resource);
    if (kind == "Secret") certificates_->serve(resource);
    kube::InformerOptions options;
    // Of the embedded API everything that was written is waited for (await_seen).
    if (!options_.embedded) {
      WatchSelectors selectors = selectors_of(kind);
      options.label_selector = std::move(selectors.labels);
      options.field_selector = std::move(selectors.fields);
    }
    kube::InformerEvents events;
    events.changed = [this, kind](const kube::Object& object) { changed(kind, object); };
    events.removed = [this, kind](const std::string& key) {
      const ResourceId id = key_of(kind, key);
      if (kind == "Secret") {
        certificates_->observe(id.name_space, id.name, {});
        if (own_secrets_.erase(key) != 0) return hand_on_soon();
      }
      if (kind == "ConfigMap" && revoked_->is_it(id.name_space, id.name)) revoked_->observe({});
      removed(id);
    };
    events.synced = [this, kind] {
      if (kind == "ConfigMap") {
        knows_revoked_ = true;
        revoked_->synced();
      }
      check_synced();
      check_services_known();
    };
    events.connection = [this, kind](bool connected, const kube::Failure& failure) {
      connection(kind, connected, failure);
    };
    auto informer = std::make_unique<kube::Informer>(*client_, resource, std::move(options), std::move(events));
    informer->start();
    informers_.emplace(kind, std::move(informer));
  }

  void changed(const std::string& kind, const kube::Object& object) {
    if (kind == "Secret") {
      certificates_->observe(object.name_space, object.name, object.text);
      if (acme::is_controllers_own(object.text)) {
        // Renewed every few seconds, and of no concern to a configuration.
        if (own_secrets_.insert(object.key()).second) removed(key_of(kind, object.key()));
        return hand_on_soon();
      }
      own_secrets_.erase(object.key());
    }
    if (kind == "ConfigMap" && revoked_->is_it(object.name_space, object.name)) revoked_->observe(object.text);
    auto read = read_cluster_object(object.text, options_.controller_class);
    if (!read) {
      hand_on_soon();
      return options_.log.warn(kind + " " + object.key() + ": " + read.error().text);
    }
    if (!*read) return removed(key_of(kind, object.key()));
    ClusterObject& known = **read;
    known.changed_by = object.manager;
    services_->observe(known.key, object.text);
    if (has_status(kind)) {
      writer_->observe(known.key, {known.uid, known.resource_version, std::exchange(known.status, {})});
    }
    known.status.clear();
    const ResourceId key = known.key;
    add({key, std::move(*read)});
  }

  void removed(const ResourceId& key) {
    writer_->forget(key);
    services_->forget(key);
    add({key, std::nullopt});
  }

  /// What one batch of the loop brought is handed on at once.
  void add(ObjectEdit edit) {
    edits_.push_back(std::move(edit));
    hand_on_soon();
  }

  void hand_on_soon() {
    if (std::exchange(flushing_, true)) return;
    loop_.post([this] {
      flushing_ = false;
      flush();
      check_seen();
    });
  }

  bool seen(const WrittenObject& write) const {
    const auto found = informers_.find(write.key.kind);
    if (found == informers_.end()) return synced_;
    const kube::Informer& informer = *found->second;
    if (informer.resource().group != write.group) return true;
    const ResourceId& key = write.key;
    if (write.gone) return !informer.knows(resource_path(key.name_space, key.name));
    return number_of(informer.version()) >= write.version;
  }

  void check_seen() {
    if (awaited_ == nullptr || !edits_.empty()) return;
    std::erase_if(awaited_->writes, [this](const WrittenObject& write) { return seen(write); });
    if (awaited_->writes.empty()) std::exchange(awaited_, nullptr)->seen.set_value();
  }

  void flush() {
    if (edits_.empty()) return;
    std::size_t objects = 0;
    std::map<std::string, std::uint64_t> by_kind;
    for (const auto& [kind, informer] : informers_) objects += by_kind[kind] = informer->size();
    {
      const std::lock_guard lock(mutex_);
      counts_.events += edits_.size();
      counts_.objects = objects;
      counts_.by_kind = std::move(by_kind);
    }
    events_.edited(std::exchange(edits_, {}));
  }

  void check_synced() {
    if (synced_ || first_.empty() || nodes_awaited_) return;
    if (!std::ranges::all_of(first_, [this](const std::string& kind) { return informers_.at(kind)->synced(); })) return;
    synced_ = true;
    flush();
    events_.synced();
    check_seen();
  }

  /// Nothing is deleted of a Gateway that may only not have come by yet.
  void check_services_known() {
    for (const char* kind : {"Gateway", "Service", "EndpointSlice"}) {
      const auto found = informers_.find(kind);
      if (found == informers_.end() || !found->second->synced()) return;
    }
    services_->synced();
  }

  /// Told once for all kinds: they mostly share their fate.
  void connection(const std::string& what, bool connected, const kube::Failure& failure) {
    const bool was = away_.empty();
    if (connected) {
      away_.erase(what);
    } else {
      away_.insert(what);
    }
    const bool now = away_.empty();
    {
      const std::lock_guard lock(mutex_);
      counts_.connected = now;
    }
    if (was && !now) {
      options_.log.warn("the API at " + options_.config.cluster.server.origin() + " does not answer for " + what +
                        " (" + failure.text() + "); the last known state stays in force");
    }
    if (!was && now) options_.log.info("the API answers again");
  }

  void end() {
    stopping_ = true;
    informers_.clear();
    nodes_.reset();
    waiter_.cancel();
    ordering_rights_.reset();
    recorder_.reset();
    revoked_->stop([this] {
      shared_ = true;
      finish_when_idle();
    });
    farewell_.begin(elector_.get(), [this] { finish_when_idle(); });
    writer_->stop([this] {
      written_ = true;
      finish_when_idle();
    });
    services_->stop([this] {
      made_ = true;
      finish_when_idle();
    });
    certificates_->stop([this] {
      ordered_ = true;
      finish_when_idle();
    });
    finish_when_idle();
  }

  void finish_when_idle() {
    if (!stopping_ || looking_ || farewell_.under_way() || !written_ || !made_ || !ordered_ || !shared_ ||
        std::exchange(finishing_, true))
      return;
    // Not within what has just come to its end.
    loop_.post([this] {
      elector_.reset();
      writer_.reset();
      services_.reset();
      revoked_.reset();
      {
        const std::lock_guard lock(mutex_);
        certificates_.reset();
      }
      discovery_.reset();
      client_.reset();
      // Whoever waits for this takes everything here away.
      const auto ended = ended_;
      if (own_loop_) return loop_.stop();
      ended->set_value();
    });
  }

  ClusterOptions options_;
  ClusterEvents events_;
  std::unique_ptr<net::Loop> own_loop_;  ///< null: the loop is somebody else's
  net::Loop& loop_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Discovery> discovery_;
  std::unique_ptr<StatusWriter> writer_;
  std::unique_ptr<ServiceWriter> services_;
  std::unique_ptr<kube::Recorder> recorder_;
  std::unique_ptr<RevokedAgents> revoked_;
  std::unique_ptr<OrderingRights> ordering_rights_;   ///< null: the end has begun
  std::unique_ptr<acme::Certificates> certificates_;  ///< changed under mutex_
  std::unique_ptr<kube::Elector> elector_;
  std::map<std::string, std::unique_ptr<kube::Informer>> informers_;  ///< by kind
  std::unique_ptr<kube::Informer> nodes_;
  bool nodes_awaited_ = true;    ///< by the first program: in which groups agents are
  std::set<std::string> first_;  ///< kinds that the first program waits for
  std::set<std::string> away_;   ///< kinds whose server does not answer
  std::vector<ObjectEdit> edits_;
  std::set<std::string> own_secrets_;  ///< `namespace/name` of those of acme::is_controllers_own()
  std::shared_ptr<Awaited> awaited_;   ///< who waits for writes to come by
  net::Waiter waiter_{loop_};
  kube::Farewell farewell_{loop_, kFarewell};
  std::string missing_;  ///< kinds without which nothing is compiled
  bool synced_ = false;
  bool flushing_ = false;
  bool stopping_ = false;
  bool looking_ = false;
  bool written_ = false;  ///< what was being written when the end came
  bool made_ = false;     ///< likewise, of services_
  bool ordered_ = false;  ///< likewise, of certificates_
  bool shared_ = false;   ///< likewise, of revoked_
  bool finishing_ = false;
  std::atomic<bool> knows_revoked_ = false;
  const std::shared_ptr<std::promise<void>> ended_ = std::make_shared<std::promise<void>>();
  mutable std::mutex mutex_;  ///< guards what follows
  ClusterCounts counts_;
  StatusCounts statuses_;
  std::thread thread_;
};

Result<std::unique_ptr<Cluster>> Cluster::start(ClusterOptions options, ClusterEvents events) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(events));
  if (Status status = impl->start(); !status) return status.error();
  return std::unique_ptr<Cluster>(new Cluster(std::move(impl)));
}

Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::~Cluster() { impl_->stop(); }
void Cluster::set_desired(std::vector<DesiredStatus> desired_statuses) {
  impl_->set_desired(std::move(desired_statuses));
}
void Cluster::agents(AgentsView view) { impl_->agents(std::move(view)); }
void Cluster::set_certificates(std::shared_ptr<const compiler::OrderedCertificates> ordered) {
  impl_->set_certificates(std::move(ordered));
}
void Cluster::want_names(std::vector<acme::WantedName> names) { impl_->want_names(std::move(names)); }
void Cluster::read_again(std::vector<ResourceId> objects) { impl_->read_again(std::move(objects)); }
bool Cluster::await_seen(std::vector<WrittenObject> writes, std::chrono::nanoseconds patience) {
  return impl_->await_seen(std::move(writes), patience);
}
void Cluster::share_revoked(std::function<void(Status)> done) { impl_->share_revoked(std::move(done)); }
bool Cluster::knows_revoked() const { return impl_->knows_revoked(); }
ClusterCounts Cluster::counts() const { return impl_->counts(); }
bool Cluster::answers(std::chrono::nanoseconds patience) const { return impl_->answers(patience); }

}  // namespace edge::controller
