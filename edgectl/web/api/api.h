// Answers the calls of the JSON API, with the rights of whoever runs the server.
//
// For the loop's thread. What blocks runs on two threads of its own: one asks agents, the other compiles.
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
#include "edgectl/web/api/call_table.h"
#include "edgectl/web/api/explainer.h"
#include "edgectl/web/api/fleet.h"
#include "edgectl/web/api/object_store.h"
#include "edgectl/web/server/event_hub.h"
#include "edgectl/web/server/jobs.h"
#include "net/server/message.h"

namespace edge::edgectl::web {

struct ApiOptions {
  cli::Arguments arguments;  ///< how edgectl finds controller and agents
  kube::Config config;       ///< of the resource API
  std::string controller_class{};
  bool read_only = false;
};

class Api {
 public:
  static Result<std::unique_ptr<Api>> make(net::Loop& loop, ApiOptions options);
  ~Api();

  void start();
  /// Ends what is in progress. To be called on the loop's thread before the loop ends.
  void stop();
  /// `request.path` begins with `/api/`.
  net::Task<net::server::Reply> answer(const net::server::Request& request);

 private:
  using Reply = net::server::Reply;
  class Waiting;

  Api(net::Loop& loop, ApiOptions options, std::unique_ptr<kube::Client> client);

  Reply session() const;
  Reply kinds() const;
  Reply problems() const;
  Reply objects(const std::string& plural) const;
  net::Task<Reply> object(std::string plural, std::string name_space, std::string name);
  net::Task<Reply> explain(std::string body);
  net::Task<Reply> of_fleet(std::function<Result<std::string>()> ask);
  Reply events();

  /// Adds the objects that are not kept, and `notes` of what cannot be read.
  net::Task<bool> add_unkept(std::shared_ptr<SourceMap> sources, std::shared_ptr<std::vector<std::string>> notes);
  net::Detached poll_agents();
  net::Detached publish_changes();
  void changed(std::string_view plural);

  net::Loop& loop_;
  ApiOptions options_;
  std::unique_ptr<kube::Client> client_;
  ObjectStore store_;
  EventHub hub_;
  Fleet fleet_;
  Explainer explainer_;
  Jobs fleet_jobs_;
  Jobs compile_jobs_;
  net::Waiter poll_;
  net::Waiter soon_;
  std::set<std::string, std::less<>> changed_;  ///< kinds, not published yet
  bool publishing_ = false;
  std::set<net::Waiter*> calls_;  ///< of calls to the resource API
  bool stopping_ = false;
  std::optional<std::uint64_t> compiled_version_;  ///< of the store
  net::Time compiled_until_{};
  std::vector<std::string> compiled_notes_;
};

}  // namespace edge::edgectl::web
