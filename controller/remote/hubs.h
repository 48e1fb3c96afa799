// EdgeRemoteClusters that say where this cluster's hub is: those whose client certificate is of another authority than
// this cluster's own. Each is a connection out (spoke.h), in place of the flags `--hub` and `--hub-join`.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/remote/remote_clusters.h"
#include "controller/remote/spoke.h"

namespace edge::controller::remote {

struct HubsOptions {
  SpokeOptions spoke;  ///< of each, but for the hub and what it joins with
  /// Whether a certificate, PEM, is of this cluster's authority.
  std::function<bool(const std::string& certificate)> issued_here;
};

/// Thread-safe; one thread changes it.
class Hubs {
 public:
  static constexpr std::size_t kMostHubs = 16;

  explicit Hubs(HubsOptions options) : options_(std::move(options)) {}
  ~Hubs() { stop(); }
  Hubs(const Hubs&) = delete;
  Hubs& operator=(const Hubs&) = delete;

  /// `document`: the object as JSON.
  void put(const std::string& name_space, const std::string& name, std::string_view document);
  void remove(const std::string& name_space, const std::string& name);
  /// `document` empty: the Secret was deleted. Returns false for one of which nothing is kept.
  bool put_secret(const std::string& name_space, const std::string& name, std::string_view document);
  /// Whether the object is a connection to a hub, and none of a spoke's.
  bool has(const std::string& name_space, const std::string& name) const;
  /// By `namespace/name`.
  RemoteViews views() const;
  /// Ends all connections.
  void stop();

 private:
  using Name = std::pair<std::string, std::string>;
  struct Object {
    std::string hub;
    Name client_secret;
    Name ca_secret;  ///< without a name: the client's
    bool suspended = false;
    std::string joins_with{};  ///< text of the identity; empty: it is none of ours, or a Secret is missing
    std::string called{};      ///< the hub that the connection is to
    std::string fault{};       ///< why it cannot be started
    std::unique_ptr<Spoke> spoke{};
  };
  struct Secret {
    std::string certificate, key, authorities;
  };

  void look(const Name& name, Object& object);
  void retire(std::unique_ptr<Spoke> spoke);

  const HubsOptions options_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::map<Name, Object> objects_;
  std::map<Name, Secret> secrets_;  ///< certificates of clusters, and authorities
  std::vector<std::future<void>> retired_;
};

}  // namespace edge::controller::remote
