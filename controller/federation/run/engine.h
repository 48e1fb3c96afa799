// What the federation's thread does: follows the API, keeps the state, talks with peers. Federation (federation.h) is
// its face for other threads.
//
//   frames, changes in the API --> replica, in memory
//            --> StateFile::save     nothing that was not synced is acknowledged or sent
//            --> frames out, writes to the API
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/federation/keys.h"
#include "controller/federation/run/api_follower.h"
#include "controller/federation/run/connection.h"
#include "controller/federation/run/federation.h"
#include "controller/federation/run/state_file.h"
#include "controller/kube/backoff.h"
#include "controller/kube/recorder.h"
#include "net/loop.h"

namespace edge::federation {

/// On one loop. Not thread-safe.
class Engine {
 public:
  using Statuses = std::map<std::string, PeerStatus>;

  /// `tell`: called with the statuses when they are others.
  Engine(net::Loop& loop, const FederationOptions& options, std::function<void(Statuses)> tell);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void set_peers(std::vector<PeerSpec> peers);
  // Of the tunnels (remote::TunnelEvents).
  void opened(const controller::remote::TunnelPeer& peer);
  void closed(const std::string& cluster);
  void received(const std::string& cluster, std::string frame, std::function<void(Status)> done);
  /// Ends all; `done` is called when nothing is under way any more.
  void stop(std::function<void()> done);

  // As View (view.h).
  Result<StatusView> view_status();
  Result<std::vector<PeerView>> view_peers();
  Result<ConflictsView> view_conflicts(const ConflictsQuestion& question);
  Result<ClockView> view_clock(const ObjectKey& key);
  Result<PreviewView> view_preview(const PreviewQuestion& question);
  Result<std::vector<SyncStarted>> sync(const std::string& peer);
  Status resolve(const ObjectKey& key, const Dot& chosen, const std::string& by);

 private:
  struct Retry {
    net::Time at{};
    kube::Backoff backoff;
    std::string fault;
  };
  struct Applying {
    VersionPtr version;            ///< a deletion: it is being deleted
    std::string uid;               ///< of what is deleted
    std::string resource_version;  ///< of the object when that was decided; empty: there was none
  };

  std::int64_t wall() const;
  std::int64_t steady() const;
  net::Detached run();
  void tick();
  /// Opens the state, and begins to follow; does nothing while that is not possible.
  void begin();
  void end(const std::string& why);
  void fail(const Error& why);
  bool runs() const { return state_.has_value(); }
  void work_soon();
  void work();

  // Peers (engine_peers.cc).
  const PeerSpec* spec_of(const controller::remote::TunnelPeer& peer) const;
  const PeerSpec* spec_of(const std::string& cluster, const Peer& peer) const;
  const PeerSpec* own_hub() const;
  bool takes_part(const PeerSpec& spec) const;
  /// Why a peer does not that is a hub: a sentence.
  std::string another_hub() const;
  PeerSettings settings_of(const PeerSpec& spec) const;
  void apply_specs();
  void begin_session(Connection& connection);
  void take_frames();
  Status take_frame(Connection& connection, const std::string& bytes);
  Status take_hello(const Connection& connection, const Hello& hello);
  void take_refusals(const Connection& connection, const Ack& ack);
  void tell_refusals(const std::string& cluster, const Ack& ack);
  void learn_keys();
  void send_frames();
  void count(Connection& connection);
  void look_who_is_behind();
  void drop(Connection& connection, const Error& why);
  std::string name_of(const std::string& cluster) const;

  // What people are shown (engine_view.cc).
  class PreviewPage;
  void preview_own(PreviewPage& page);
  void preview_peer(const std::string& name, const std::string& cluster, const Peer& peer, PreviewPage& page);

  // The API (engine_api.cc).
  bool is_covered(const ObjectKey& key) const;
  void follow_dirty();
  void follow_one(const ObjectKey& key);
  std::string content_in_api(const ObjectKey& key, const ApiObject& object, const VersionPtr& base) const;
  void take_echo(const ObjectKey& key, const ApiObject* object);
  void start_writes();
  void wrote(const ObjectKey& key, const ApiWrite& write);
  void look_for_restored();
  bool is_older(const ObjectKey& key, const ApiObject& object) const;
  void mark_all(const std::string& kind, bool restored);
  void find_conflicts();
  void look_at_conflicts();
  /// `tokens`: one is spent; none: nothing is told.
  void tell_event(std::size_t& tokens, const ObjectKey& key, kube::EventLevel level, const char* reason,
                  const std::string& message);
  void tell_statuses();
  PeerStatus status_of(const PeerSpec& spec) const;
  bool was_synced(const PeerSpec& spec) const;
  const PeerCounts* counts_of(const std::string& cluster) const;

  // Views (engine_view.cc).
  Error not_running() const;
  VersionView view_of(const Version& version, bool with_content) const;
  PeerView peer_view(const std::string& cluster, const Peer* peer, const PeerSpec& spec) const;
  std::string own_name(const std::string& cluster) const;

  net::Loop& loop_;
  const FederationOptions options_;
  const std::function<void(Statuses)> tell_;
  net::Waiter waiter_{loop_};
  std::vector<PeerSpec> specs_;
  ConflictPolicy policy_ = ConflictPolicy::kOldestWins;  ///< of the hub: of the oldest object
  std::unique_ptr<ClusterKeys> keys_;
  std::uint64_t keys_version_ = 0;
  std::unique_ptr<StateFile> file_;
  std::optional<ClusterState> state_;
  std::int64_t state_written_ = 0;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Recorder> recorder_;
  std::unique_ptr<ApiFollower> api_;
  std::map<std::string, Connection> connections_;  ///< by UID
  std::map<std::string, PeerCounts> counts_;       ///< by UID

  std::set<ObjectKey> dirty_;                   ///< to be looked at, in the API and the state
  std::set<ObjectKey> restored_;                ///< of an API that is older than it was
  std::map<std::string, std::uint64_t> lists_;  ///< by kind, the list that was looked at
  std::map<ObjectKey, Applying> applying_;
  std::deque<ObjectKey> to_write_;
  std::map<ObjectKey, Retry> retries_;
  std::map<ObjectKey, std::size_t> conflicts_;  ///< losers that say something else than the winner
  std::size_t objects_ = 0;                     ///< when statuses were told last
  std::size_t event_tokens_ = 20;
  std::size_t refusal_tokens_ = 20;  ///< of events about what peers sent
  std::set<NamedDot> refused_told_;

  std::string fault_;  ///< why it does not run
  net::Time begin_again_{};
  Statuses told_;
  net::Time told_at_{};
  bool is_wanted_ = false;
  bool working_ = false;
  bool running_ = false;  ///< `run` is
  bool ending_ = false;   ///< what is under way in the API ends
  bool stopping_ = false;
  std::function<void()> done_;
};

}  // namespace edge::federation
