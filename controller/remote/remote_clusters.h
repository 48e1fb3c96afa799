// The hub's side of every EdgeRemoteCluster: which clusters may connect, which are connected, and the phase of each.
//
//   objects (Cluster) --> RemoteClusters <-- connections (remote_service.h)
//                             |
//                             +--> views: statuses, metrics, pages
//
// A cluster that is away costs nothing and is waited for by nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/authority/authority.h"
#include "controller/remote/link.h"
#include "controller/remote/phase.h"
#include "controller/remote/traffic.h"

namespace edge::controller::remote {

/// Of an EdgeRemoteCluster, what the connection depends on.
struct RemoteSpec {
  Heartbeat heartbeat{};
  bool suspended = false;
  std::string created{};       ///< RFC 3339: of two objects of one name the older one holds it
  bool was_connected = false;  ///< by its status
  /// That agents behind its relay may be in, ascending; empty: it has a controller, and no relay.
  std::vector<std::string> agent_groups{};
  std::string region{};
  /// Namespaces whose exported services are passed on to other clusters; `*`: all.
  std::vector<std::string> export_namespaces{};
  WallTime revoked_before{};  ///< certificates that were issued until then are refused
  /// What some controller of this cluster has recorded, by its status; without a key: nothing.
  ShownCertificate shown{};
  friend bool operator==(const RemoteSpec&, const RemoteSpec&) = default;
};
/// `document`: the object as JSON.
RemoteSpec read_remote_spec(std::string_view document);
/// `fields`: as ClusterObject::shown_certificate. What is none has no key.
ShownCertificate read_shown_certificate(std::string_view fields);

/// A cluster as statuses, metrics and pages show it.
struct RemoteView {
  PhaseView phase;
  std::string version{};
  std::string cluster_uid{};
  std::optional<Report> report{};
  WallTime heard{};              ///< when it was last heard; while it is, at most a minute old
  WallTime certificate_until{};  ///< of the certificate that it showed last
  std::string certificate_key{};
  WallTime certificate_shown{};  ///< for the first time
  std::string address{};         ///< that it has connected from
  net::Duration round_trip{};
  net::Duration silence{};        ///< since it was heard; 0 without a connection
  std::uint64_t connections = 0;  ///< in this run
  std::uint64_t refused = 0;      ///< connections and words, in this run
};
/// By `namespace/name`.
using RemoteViews = std::map<std::string, RemoteView>;

/// A stream of one cluster. Called without a lock held, from any thread.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void say(std::vector<Word> words) = 0;
  virtual void end(const Error& why) = 0;
};

struct RemoteClustersOptions {
  std::string cluster_uid;
  std::string version;
  /// Called after a view changed, without a lock held: gather, do not work.
  std::function<void()> changed{};
  /// Whether this controller writes statuses; null: it does.
  std::function<bool()> leads{};
  /// What is told of services between clusters; null: nothing. Must outlive the clusters.
  Traffic* traffic = nullptr;
  bool shares_traffic = false;  ///< TrafficOptions::shared
  Logger log{};
  std::function<WallTime()> clock{};    ///< null: the system's
  std::function<net::Time()> steady{};  ///< null: the system's, and a thread that looks at it
};

/// Thread-safe.
class RemoteClusters {
 public:
  static constexpr std::size_t kMostClusters = 1024;
  /// Streams without a first word yet, of all clusters.
  static constexpr std::size_t kMostGuests = 64;

  explicit RemoteClusters(RemoteClustersOptions options);
  ~RemoteClusters();
  RemoteClusters(const RemoteClusters&) = delete;
  RemoteClusters& operator=(const RemoteClusters&) = delete;

  /// Must be set before there are connections, and outlive them.
  void set_authority(Authority& authority) { authority_ = &authority; }
  /// Ends every connection and the thread.
  void stop();

  // Objects.
  void put(const std::string& name_space, const std::string& name, RemoteSpec spec);
  void remove(const std::string& name_space, const std::string& name);
  /// All objects that there are have been put.
  void synced();
  /// What is told to other clusters: agents, those of them that run `program`, its hash in hex.
  void set_own(std::uint32_t agents, std::uint32_t ready, const std::string& program);
  /// The same with how long agents have been behind, until now.
  Report own() const;

  // Connections.
  /// A stream before its first word; it is ended when that does not come. kResourceExhausted.
  Status welcome(const std::shared_ptr<Connection>& guest);
  /// The first word. \returns what is said first. Otherwise the stream is to end with the error.
  Result<Hello> enter(const std::shared_ptr<Connection>& guest, const CertificateFacts& certificate, const Hello& hello,
                      const std::string& address);
  /// Each later word. After an error the stream is to end.
  Status hear(const Connection& connection, const Word& word);
  void left(const Connection& connection, const std::string& why);
  /// Somebody with this certificate was refused. Whoever shows an old one, a copy perhaps, says nothing of the cluster.
  void refused(const CertificateFacts& certificate, const Error& why);
  /// Whether this controller speaks for the hub. kUnavailable: another one does.
  Status may_speak() const;
  /// Whether a call of this cluster is not one too many.
  bool may_call(const std::string& name);

  /// Returns the UID of a cluster that is connected now.
  std::optional<std::string> connected_uid(const std::string& name) const;

  /// Returns the groups of agents behind the relay of a cluster that is connected. kUnavailable: it is not;
  /// kPermissionDenied: its object names none.
  Result<std::vector<std::string>> relayed_groups(const std::string& name) const;

  RemoteViews views() const;
  /// Changes when a view does, but for round trips and counts.
  std::uint64_t changes() const;
  /// Does what is due; the thread calls it.
  void tick();

 private:
  struct Bucket {
    double tokens = 5;
    net::Time filled{};
  };
  struct Entry {
    std::map<std::string, RemoteSpec> specs;  ///< by namespace
    std::shared_ptr<Connection> connection;
    std::optional<Link> link;
    CertificateFacts certificate{};
    std::string version, cluster_uid, address;
    std::optional<Report> report;
    WallTime heard{};
    bool was_connected = false;
    std::string refusal, refusal_message, last_error;
    std::uint64_t connections = 0, refused = 0;
    Bucket calls;
    NewsCursor news{};
    net::Time next_news{};
    RemoteView told{};  ///< without times and counts that change all the time
  };
  struct Guest {
    std::weak_ptr<Connection> connection;
    net::Time until;
  };
  struct Ended {
    std::shared_ptr<Connection> connection;
    Error why;
  };
  struct Said {
    std::shared_ptr<Connection> connection;
    std::vector<Word> words;
  };

  net::Time now() const { return options_.steady ? options_.steady() : net::Clock().now(); }
  WallTime wall() const { return options_.clock ? options_.clock() : std::chrono::system_clock::now(); }
  static const std::pair<const std::string, RemoteSpec>& holder_of(const Entry& entry);
  ClusterFacts facts_of(const Entry& entry) const;
  /// Whether its view is another than was told.
  bool refresh(const std::string& name, Entry& entry);
  std::optional<Error> fault_of(const std::string& name, Entry& entry) const;
  void close(Entry& entry, const Error& why, std::vector<Ended>& ended);
  bool end_at_fault(const std::string& name, Entry& entry, std::vector<Ended>& ended);
  std::optional<Said> follow_holder(const std::string& name, Entry& entry, std::vector<Ended>& ended);
  Report own_report() const;
  Entry* entry_of(const Connection& connection);
  void refuse(const std::string& name, Entry& entry, const Error& why);
  /// What another controller of this cluster has revoked, and which certificate was shown there.
  void learn(const std::string& name, const Entry& entry) const;
  void add_news(const std::string& name, Entry& entry, std::vector<Word>& words) const;
  void tell_traffic();
  void take_exports(const Connection& connection, const Exports& exports);
  void announce(bool changed);
  void run();
  void need_thread();

  const RemoteClustersOptions options_;
  Authority* authority_ = nullptr;
  std::mutex
      traffic_turn_;  ///< held before `mutex_` by who tells `options_.traffic`, so that of two the later comes last
  mutable std::mutex mutex_;  ///< guards all that follows
  std::condition_variable wake_;
  std::map<std::string, Entry> entries_;
  std::map<const Connection*, std::string> connected_;
  std::vector<Guest> guests_;
  bool synced_ = false;
  bool stopping_ = false;
  std::uint64_t changes_ = 0;
  Report own_{};
  std::optional<net::Time> behind_since_;
  std::string roots_;
  net::Time roots_at_{};
  net::Time traffic_at_{};
  std::thread thread_;
};

}  // namespace edge::controller::remote
