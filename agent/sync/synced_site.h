// The agent's site of the SD-WAN, as the controller assigns it: started with the first assignment that is for one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "agent/service.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent {

namespace wan {
class Site;
}

struct SyncedSiteOptions {
  std::string lock_file;  ///< that the process of the node which has its site locks; created when missing
  /// Whether this node is the one of its site that has the tunnels.
  std::function<bool(const std::string& site)> holds;
};

/// Threads: any.
class SyncedSite {
 public:
  SyncedSite(Service& service, SyncedSiteOptions options) : service_(service), options_(std::move(options)) {}
  ~SyncedSite();
  SyncedSite(const SyncedSite&) = delete;
  SyncedSite& operator=(const SyncedSite&) = delete;

  /// Takes a LinksDown. An error: it is none, or there is more in it than an agent takes; the assignment before stays.
  Status take(const std::string& message);
  /// A LinksReport, once there is something new, else every few seconds; empty: not now.
  std::string report();
  /// Removes everything, or leaves it to the process that has taken over from this one; nothing is taken any more.
  void end();

 private:
  Status start();
  void set(const std::string& message);
  void run();

  Service& service_;
  const SyncedSiteOptions options_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::shared_ptr<wan::Site> site_;
  std::string name_;  ///< of the site; empty: none
  int figures_ = 0;   ///< its number in the metrics page
  net::Fd lock_;
  std::optional<std::string> waiting_;  ///< the last message, while another process has the site
  bool ended_ = false;
  std::uint64_t reported_ = 0;
  std::chrono::steady_clock::time_point next_report_{};
  std::thread thread_;  ///< follows who holds the site, and waits for the process before
};

}  // namespace edge::agent
