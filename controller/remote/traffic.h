// What a controller knows of the traffic between clusters: which services each exports, where its gateway is, by what
// certificate this cluster's agents are known to others, and whom those may believe. Decision 342.
//
//   a spoke's ServiceExports --Exports--> hub --ClusterNews--> every other spoke
//                                          |                        |
//                                          +---> directory --------> values of the agents
//
// All of it is kept in `<data-dir>/clusters.json` (mode 0600), so that neither the hub's absence nor a restart takes
// anything away. A cluster is forgotten when the hub says that it is gone, or has told of all others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/authority/authority.h"
#include "controller/remote/words.h"

namespace edge::controller::remote {

/// What a hub allows one of its clusters.
struct TrafficTerms {
  std::string region{};
  std::vector<std::string> namespaces{};  ///< whose services are passed on; `*`: all
  std::uint64_t issued_after_ms = 0;      ///< older certificates of it do not count
  bool connected = false;
  friend bool operator==(const TrafficTerms&, const TrafficTerms&) = default;
};

/// The certificate by which agents of this cluster call others and are called.
struct TrafficIdentity {
  std::string cluster{};  ///< its name at the hub
  std::string certificate{};
  std::string key{};
  std::string authorities{};  ///< whom to believe
  std::string hub{};          ///< of whom it is; empty: this cluster is the hub
  std::string joined_with{};  ///< RemoteIdentity::joined_with when it was made
  WallTime from{};
  WallTime until{};
};

struct TrafficOptions {
  std::string file;
  /// Several controllers of this cluster have the file: who leads writes it, the others `follow` it.
  bool shared = false;
  /// Called with the new directory (traffic.cc), under a lock: queue it, do not call back.
  std::function<void(std::string directory)> changed{};
  Logger log{};
  std::function<WallTime()> clock{};  ///< null: the system's
};

/// Tells whether a file is the one that was read.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Where a connection to a spoke stands in what it is told.
struct NewsCursor {
  std::uint64_t told = 0;
  bool told_all = false;
};

/// Thread-safe.
class Traffic {
 public:
  explicit Traffic(TrafficOptions options);

  /// Says the directory once, from what was kept.
  void begin();
  /// Of this cluster.
  void set_own(Exports exports);
  Exports own() const;
  /// Of a controller that does not lead: takes what the one that leads has kept, and writes nothing from now on, until
  /// it talks with other clusters itself. To be called now and then; nothing where the file is not shared.
  void follow();

  // ---- The hub ----
  /// All clusters of this hub, by name. An identity of the hub's own is made by `authority` when there are some.
  void set_clusters(std::map<std::string, TrafficTerms> clusters, Authority& authority);
  /// What one of them has said.
  void take_exports(const std::string& cluster, Exports exports);
  /// Returns at most `most` words that `cluster` was not told, and moves the cursor.
  std::vector<Word> news_for(const std::string& cluster, NewsCursor& cursor, std::size_t most) const;

  // ---- A spoke ----
  /// Whether a certificate is to be asked of this hub now. A second hub's is never taken.
  bool needs_identity(const std::string& hub, const std::string& joined_with) const;
  /// kFailedPrecondition: it is for another key or cluster.
  Status take_identity(TrafficIdentity identity);
  /// Whether this hub's news are taken: it has given the certificate.
  bool takes_from(const std::string& hub) const;
  void trust(const std::string& hub, const std::string& authorities);
  /// A connection begins: what was known stays until all was told.
  void begin_news(const std::string& hub);
  void take_news(const std::string& hub, const ClusterNews& news);
  void end_news(const std::string& hub);

 private:
  struct Known {
    ClusterNews news{};
    std::uint64_t version = 0;
    bool told = false;  ///< by the connection that there is
  };

  WallTime now() const { return options_.clock ? options_.clock() : std::chrono::system_clock::now(); }
  bool is_of(const std::string& hub) const { return !identity_.certificate.empty() && identity_.hub == hub; }
  void make_own(Authority& authority);
  void publish(std::unique_lock<std::mutex> lock);
  ClusterNews news_of(const std::string& name, const TrafficTerms& terms) const;
  bool set_known(const std::string& name, ClusterNews news);
  std::string directory() const;
  std::string text() const;
  void load();
  void take_kept(std::string text);

  const TrafficOptions options_;
  mutable std::mutex mutex_;  ///< guards what follows
  Exports own_{};
  TrafficIdentity identity_{};
  std::map<std::string, TrafficTerms> terms_;  ///< of a hub's clusters
  std::map<std::string, Exports> said_;        ///< by them
  std::map<std::string, Known> known_;         ///< every other cluster, and for others' news this one
  std::uint64_t version_ = 0;
  std::string kept_{};       ///< text of the file
  FileStamp stamp_{};        ///< of the file when it was read
  bool follows_ = false;     ///< another controller writes the file
  std::string published_{};  ///< the last directory
};

/// Returns the part of `exports` in these namespaces.
Exports allowed(const Exports& exports, const std::vector<std::string>& namespaces);

}  // namespace edge::controller::remote
