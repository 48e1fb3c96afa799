// What agents are assigned apart from programs and values: virtual addresses that they may hold, and the links of the
// SD-WAN's sites.
//
//   ProxyVIPs, Secrets --> VipIndex --+--> virtual addresses, with who holds the tunnels of each site
//   labels of Nodes ------------------+
//   linked SD-WAN, Secrets --> WanFeed ---> links of the sites
//
// Owned by the controller. Its callbacks lead to the distributor, which must be there before the first call.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/log.h"
#include "controller/distribute/agents/node_labels.h"
#include "controller/distribute/site_links.h"
#include "controller/distribute/virtual_addresses.h"
#include "controller/reconcile/program_builder.h"
#include "controller/sdwan/wan_feed.h"
#include "controller/vip/vip_index.h"
#include "program/sign.h"

namespace edge::controller {

/// Called with a lock held: they queue what they are given.
struct AssignmentsOptions {
  std::string data_dir;
  const program::SigningKey& key;  ///< of which the keys of agents' messages and of tunnels are derived
  std::function<void(std::shared_ptr<const VirtualAddresses>)> addresses;
  std::function<void(std::shared_ptr<const std::vector<SiteLinks>>)> links;
  std::function<void(const std::string& node, Labels labels)> node_labels;
  Logger log;
};

/// Thread-safe.
class Assignments {
 public:
  explicit Assignments(const AssignmentsOptions& options);
  Assignments(const Assignments&) = delete;
  Assignments& operator=(const Assignments&) = delete;

  /// Passes on the labels of nodes of the run before. Before anything else.
  void restore();
  /// ProxyVIPs, passwords of BGP peers, private keys of sites.
  void take(const std::vector<ObjectEdit>& edits);
  /// All objects that there are have been taken: addresses are published from now on.
  void synced();
  /// All labels of a node; empty: it has none, or is gone.
  void set_node_labels(const std::string& node, Labels labels);
  void nodes_synced();
  /// As published last; null: they were not yet.
  std::shared_ptr<const VirtualAddresses> addresses() const;

  /// WanFeed, which has its own lock.
  void take_wan(std::shared_ptr<const compiler::LinkedWan> wan) { wan_.take(std::move(wan)); }
  void look_at_wan(std::map<std::string, std::vector<IpAddress>> found, std::chrono::system_clock::time_point now) {
    wan_.look(std::move(found), now);
  }

 private:
  void take_vips(const std::vector<ObjectEdit>& edits);
  void publish_vips();
  void publish_sites(std::shared_ptr<const std::vector<SiteLinks>> sites);

  const std::function<void(std::shared_ptr<const VirtualAddresses>)> publish_addresses_;
  const std::function<void(std::shared_ptr<const std::vector<SiteLinks>>)> publish_links_;
  const std::string agents_key_;  ///< empty: it could not be derived
  mutable std::mutex mutex_;      ///< guards all that follows but the feed
  VipIndex vips_;
  NodeLabels node_labels_;
  bool known_ = false;
  std::shared_ptr<const VirtualAddresses> published_;
  std::vector<VirtualAddress> sites_;  ///< who holds the tunnels of each
  sdwan::WanFeed wan_;
};

}  // namespace edge::controller
