// The calls behind editing and time: drafts, differences, claims, applying, deleting, progress, kept programs.
//
//   draft -> check -> difference -> apply -> progress, agent by agent
//
// For the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/kube/client.h"
#include "edgectl/web/access/store_view.h"
#include "edgectl/web/access/viewers.h"
#include "edgectl/web/api/call_waiters.h"
#include "edgectl/web/api/compiler_calls.h"
#include "edgectl/web/api/draft_text.h"
#include "edgectl/web/api/object_store.h"
#include "edgectl/web/api/views/fleet.h"
#include "edgectl/web/server/jobs.h"
#include "net/server/message.h"

namespace edge::edgectl::web {

/// An object that somebody edits.
struct EditTarget {
  const StoredKind* kind = nullptr;
  std::string name_space, name;  ///< an empty name: a new object
  std::string yaml;
  std::string version;  ///< as `version_of`, of the object that the draft began with

  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
  /// `ProxyRoute shop/cart`
  std::string title() const { return std::string(kind->kind.kind) + " " + key(); }
};

/// Who asks, and what they may list.
struct Acting {
  std::shared_ptr<Viewer> viewer{};
  std::shared_ptr<const Visible> visible{};
};

class Desk {
 public:
  using Reply = net::server::Reply;

  struct Parts {
    const ObjectStore& store;
    CallWaiters& waiters;
    CompilerCalls& compiler;
    Fleet& fleet;
    Jobs& fleet_jobs;
  };
  /// `claims`: those that every difference is held against.
  Desk(const Parts& parts, std::vector<std::string> claims) : parts_(parts), claims_(std::move(claims)) {}

  Reply fields(const Acting& acting, const std::string& plural) const;
  Reply given_claims() const;
  net::Task<Reply> edit(Acting acting, std::string plural, std::string name_space, std::string name);
  net::Task<Reply> check(Acting acting, std::string body);
  net::Task<Reply> difference(Acting acting, std::string body);
  net::Task<Reply> prove(Acting acting, std::string body);
  net::Task<Reply> analyse(Acting acting, std::string plural, std::string name_space, std::string name);
  net::Task<Reply> apply(Acting acting, std::string body);
  net::Task<Reply> remove(Acting acting, std::string body);

  // For viewers who may see agents, or change them.
  net::Task<Reply> compare(Acting acting, std::string body);
  net::Task<Reply> explain_kept(Acting acting, std::string program, std::string body);
  net::Task<Reply> progress(std::string body);
  net::Task<Reply> roll_back(std::string body);
  net::Task<Reply> release(std::string body);

 private:
  struct Live {
    kube::Failure failure{};
    nlohmann::json object{};  ///< null: there is none
    std::string resource_version{};
  };
  /// A write that met another one is to be tried again.
  struct Written {
    bool again = false;
    Reply reply{};
  };

  StoreView view_of(const Acting& acting) const { return {parts_.store, *acting.visible}; }
  /// nullopt: `refused` is the reply.
  std::optional<EditTarget> target_of(const Acting& acting, const nlohmann::json& body, Reply& refused) const;
  /// The claims of the server and of the body. nullopt: too many.
  std::optional<nlohmann::json> claims_of(const nlohmann::json& body) const;
  /// Of the copy, for drafts. Null: it has no such object.
  nlohmann::json stored(const Acting& acting, const EditTarget& target) const;
  net::Task<Live> read_live(Acting acting, EditTarget target);
  net::Task<Written> write(Acting acting, EditTarget target, Live live);
  net::Task<Written> erase(Acting acting, EditTarget target, Live live);
  /// `draft`: the one that was compiled, or null.
  net::Task<Reply> ask_compiler(Acting acting, std::string call, nlohmann::json parameters,
                                std::shared_ptr<const Draft> draft);
  /// `sides`: members of `parameters` that may be programs, whose bytes the controller has.
  net::Task<CompilerCalls::Outcome> ask_with_programs(std::string call, nlohmann::json parameters,
                                                      std::vector<std::string> sides);
  net::Task<Reply> of_fleet(Jobs::Work work);

  const Parts parts_;
  const std::vector<std::string> claims_;
};

/// Refuses a draft that is not of its target.
void check_identity(Draft& draft, const EditTarget& target, bool exists);
/// `{"object": {...}}`: what `progress` is asked about.
nlohmann::ordered_json written_json(const EditTarget& target, const kube::Object& object, bool gone);
/// Status by the failure; with the causes that the API names.
net::server::Reply failure_reply(const kube::Failure& failure);

}  // namespace edge::edgectl::web
