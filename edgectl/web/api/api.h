// Answers the calls of the JSON API, with the rights of whoever looks (access/viewers.h).
//
// For the loop's thread. What blocks runs on two threads of its own: one asks agents, the other waits for the
// compiler's process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "controller/kube/client.h"
#include "edgectl/web/access/store_view.h"
#include "edgectl/web/access/viewers.h"
#include "edgectl/web/api/call_table.h"
#include "edgectl/web/api/call_waiters.h"
#include "edgectl/web/api/compiler_calls.h"
#include "edgectl/web/api/desk.h"
#include "edgectl/web/api/object_store.h"
#include "edgectl/web/api/ranges.h"
#include "edgectl/web/api/request_log.h"
#include "edgectl/web/api/views/federation.h"
#include "edgectl/web/api/views/fleet.h"
#include "edgectl/web/api/views/traces.h"
#include "edgectl/web/server/event_hub.h"
#include "edgectl/web/server/jobs.h"
#include "net/server/message.h"

namespace edge::edgectl::web {

struct ApiOptions {
  cli::Arguments arguments;  ///< how edgectl finds controller and agents
  kube::Config config;       ///< of the resource API
  std::string controller_class{};
  bool read_only = false;
  std::string public_origin{};        ///< by which browsers reach the server through a proxy; lower case; empty: none
  std::string metrics_url{};          ///< of a Prometheus server; empty: none
  std::vector<std::string> claims{};  ///< that every difference is held against
};

class Api {
 public:
  static Result<std::unique_ptr<Api>> make(net::Loop& loop, ApiOptions options);
  ~Api();

  void start();
  /// Ends what is in progress. To be called on the loop's thread before the loop ends.
  void stop();
  /// `request.path` begins with `/api/`. `login`: null: the server has none, and the viewer has the kubeconfig's
  /// rights.
  net::Task<net::server::Reply> answer(const net::server::Request& request, const LoggedIn* login);
  /// Ends the streams of a session.
  void logged_out(const std::string& session);

 private:
  using Reply = net::server::Reply;

  /// Who asks, and what they may list.
  struct Viewing {
    std::shared_ptr<Viewer> viewer{};
    std::shared_ptr<const Visible> visible{};
    std::string session{};
    std::int64_t until = 0;  ///< end of the login, seconds since 1970
    std::string fault{};     ///< why it cannot be found; empty: it was
  };
  /// Takes out of a reply what a viewer may not list.
  using Filter = std::string (*)(std::string json, const StoreView& view);

  Api(net::Loop& loop, ApiOptions options, std::unique_ptr<kube::Client> client);

  net::Task<Viewing> viewing_of(const LoggedIn* login);
  net::Task<Viewing> find_viewing(std::shared_ptr<Viewer> viewer, std::string session, std::int64_t until);
  /// Valid as long as `viewing`.
  StoreView view_of(const Viewing& viewing) const { return {store_, *viewing.visible}; }
  net::Task<Reply> answer_call(const Call& call, std::vector<std::string> at, std::string body, Viewing viewing);
  /// A call that needs no right but to the objects that it shows.
  net::Task<Reply> of_store(const Call& call, std::vector<std::string> at, std::string body, Viewing viewing);
  /// One that needs the right to agents as well; it has been looked at.
  net::Task<Reply> of_agents(const Call& call, std::vector<std::string> at, std::string body, Viewing viewing);
  net::Task<Reply> of_desk(const Call& call, std::vector<std::string> at, std::string body, Acting acting);

  Reply session(const Viewing& viewing) const;
  net::Task<Reply> rights(Viewing viewing, std::string plural, std::string name_space);
  Reply kinds(const Viewing& viewing) const;
  Reply problems(const Viewing& viewing) const;
  Reply objects(const Viewing& viewing, const std::string& plural) const;
  net::Task<Reply> object(Viewing viewing, std::string plural, std::string name_space, std::string name);
  net::Task<Reply> explain(Viewing viewing, std::string body);
  net::Task<Reply> of_fleet(Viewing viewing, std::function<Result<std::string>()> ask, Filter filter);
  Reply events(const Viewing& viewing);
  Reply topology(const Viewing& viewing, const std::string& query) const;
  net::Task<Reply> certificates(Viewing viewing);
  net::Task<Reply> access_log(Viewing viewing, std::string query);
  net::Task<Reply> traces(Viewing viewing, std::string query);
  net::Task<Reply> history(Viewing viewing, std::string query);
  net::Task<Reply> resolve(Viewing viewing, std::string body);

  Listable listable() const;
  net::Detached poll_agents();
  net::Detached poll_traffic();
  void rest();
  net::Task<bool> refresh_watching();
  net::Detached publish_changes();
  void changed(std::string_view plural);

  net::Loop& loop_;
  ApiOptions options_;
  std::unique_ptr<kube::Client> client_;
  CallWaiters waiters_;
  ObjectStore store_;
  Viewers viewers_;
  EventHub hub_;
  Fleet fleet_;
  Ranges ranges_;
  RequestLog request_log_;  ///< fetched by fleet_jobs_
  Traces traces_;           ///< of fleet_jobs_
  Federation federation_;   ///< likewise
  Jobs fleet_jobs_;         ///< of these five
  Fleet watched_fleet_;     ///< for `agents` of the streams: not behind agents that take their time
  Jobs watch_jobs_;
  CompilerCalls compiler_;
  Desk desk_;
  net::Waiter poll_;
  net::Waiter traffic_poll_;
  net::Waiter soon_;
  std::set<std::string, std::less<>> changed_;  ///< kinds, not published yet
  bool publishing_ = false;
  bool stopping_ = false;
  std::uint64_t answered_ = 0;         ///< calls
  std::uint64_t answered_before_ = 0;  ///< by the last poll
  std::uint64_t released_ = 0;         ///< calls and changes by when memory was released
  net::Time release_after_{};
  std::set<std::string, std::less<>> ended_;  ///< sessions that were logged out; at most kMostEnded
  std::vector<std::weak_ptr<const std::shared_ptr<Viewer>>> watching_;  ///< one for each stream of who has logged in
};

}  // namespace edge::edgectl::web
