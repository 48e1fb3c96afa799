// Decides which objects of Gateways are made, changed and deleted, from those that there are and those that are wanted.
// The caller passes the time, makes the call that `next` returns, and reports its result to `done`. Without changes
// nothing is written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "controller/infrastructure/gateway_service.h"
#include "net/clock.h"

namespace edge::controller {

/// Not thread-safe.
class ServiceQueue {
 public:
  explicit ServiceQueue(std::string controller_class) : controller_class_(std::move(controller_class)) {}

  /// What a Gateway asks for; null: nothing, or it is another controller's.
  void set_desired(const ResourceId& gateway, const std::shared_ptr<const GatewayService>& service);
  /// A Gateway of the cluster, of any class.
  void observe_gateway(const ResourceId& gateway) { gateways_.insert(gateway); }
  /// It is gone, and with it what was made for it, also where nobody else collects that.
  void forget_gateway(const ResourceId& gateway);
  /// A Service or EndpointSlice of the cluster. `text`: the whole object.
  void observe(const ResourceId& key, std::string_view text);
  void forget(const ResourceId& key);
  /// All Gateways, Services and EndpointSlices have been observed: what is for a Gateway that there is not may go.
  void synced();

  struct Call {
    enum class Verb : std::uint8_t { kCreate, kPatch, kDelete };
    Verb verb = Verb::kCreate;
    ResourceId key;
    std::string body{};  ///< the object, or the patch
    std::string uid{};   ///< of the object to be deleted
    ResourceId gateway{};
    std::string gateway_uid{};
  };
  std::optional<Call> next(net::Time now);
  /// When `next` may return something; kNever while nothing waits.
  net::Time due() const;

  enum class Result : std::uint8_t {
    kDone,    ///< `text` is the object; empty: it is gone
    kTaken,   ///< somebody else's object has the name
    kFailed,  ///< to be tried again, as one that was changed meanwhile is
  };
  /// `asked`: seconds that the server wants to be left alone.
  void done(const Call& call, Result result, std::string_view text, int asked, net::Time now);

 private:
  struct Wanted {
    ResourceId gateway;
    std::string gateway_uid;
    std::string text;  ///< empty: it is left as it is
  };
  struct Present {
    std::string text;
    MadeFor made_for;
    std::string uid;
  };
  std::optional<Call> call_for(const ResourceId& key) const;
  bool may_go(const ResourceId& key, const Present& present) const;
  void touch(const ResourceId& key);

  const std::string controller_class_;
  std::set<ResourceId> gateways_;  ///< that there are
  /// Gateways of which it is known what they ask for, and the objects of each.
  std::map<ResourceId, std::set<ResourceId>> decided_;
  std::map<ResourceId, Wanted> wanted_;
  std::map<ResourceId, Present> present_;  ///< with the label of a Gateway's name
  std::map<ResourceId, net::Time> waiting_;
  std::map<ResourceId, std::uint32_t> failures_;
  std::set<ResourceId> calling_;
  bool synced_ = false;
};

}  // namespace edge::controller
