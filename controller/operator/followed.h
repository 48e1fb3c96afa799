// What the API has of EdgeClusters and of what the operator has made for them, kept by informers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/log.h"
#include "controller/kube/client.h"
#include "controller/kube/discovery.h"
#include "controller/kube/informer.h"

namespace edge::cluster_operator {

using ObjectPtr = std::shared_ptr<const nlohmann::json>;

struct FollowedEvents {
  /// `namespace/name` of an EdgeCluster, or of the one whose object has changed.
  std::function<void(const std::string& cluster)> changed;
  std::function<void()> synced;
};

/// Every function on the client's loop.
class Followed {
 public:
  /// `name_space`: whose EdgeClusters are kept; empty: all.
  Followed(kube::Client& client, std::string name_space, Logger log, FollowedEvents events);
  ~Followed();
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  /// Follows what the table has. \returns the kinds that it lacks, without which nothing can be installed.
  std::string follow(const kube::ResourceTable& table);
  void stop();

  bool synced() const;
  bool connected() const { return away_.empty(); }
  /// Null: the API does not serve the kind.
  const kube::Resource* resource(std::string_view kind) const;
  /// Null: there is none, or it is not the operator's.
  ObjectPtr find(std::string_view kind, const std::string& key) const;
  std::vector<ObjectPtr> all(std::string_view kind) const;

 private:
  struct OfKind {
    kube::Resource resource;
    std::map<std::string, ObjectPtr> objects{};
    std::unique_ptr<kube::Informer> informer{};
  };
  void follow(const std::string& kind, const kube::Resource& resource);
  void told(const std::string& kind, const nlohmann::json& object);
  void connection(const std::string& kind, bool connected, const kube::Failure& failure);
  void check_synced();

  kube::Client& client_;
  std::string name_space_;
  Logger log_;
  FollowedEvents events_;
  std::map<std::string, OfKind, std::less<>> kinds_;
  std::map<std::string, bool> away_;  ///< kinds whose server does not answer
  bool complete_ = false;             ///< no kind that is needed is missing
  bool told_synced_ = false;
};

/// Whose object it is: `namespace/name` of the EdgeCluster, by its labels; empty: nobody's.
std::string cluster_of(const nlohmann::json& object);

}  // namespace edge::cluster_operator
