// Plans the SD-WAN anew whenever something that it depends on is another, and publishes what sites are given then.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/sdwan/wan_plan.h"

namespace edge::controller::sdwan {

using PublishLinks = std::function<void(std::shared_ptr<const std::vector<SiteLinks>>)>;

/// Threads: any.
class WanFeed {
 public:
  /// `publish` is called with a lock held: pass on, do not work.
  WanFeed(std::string master, PublishLinks publish) : publish_(std::move(publish)) {
    facts_.master = std::move(master);
  }

  /// Adds or replaces a Secret; `document` empty: it was deleted. Private keys are read from it.
  void put_secret(const std::string& name_space, const std::string& name, const std::string& document);
  void take(std::shared_ptr<const compiler::LinkedWan> wan);
  /// The addresses that agents have found. To be called once in a while, too: keys change with time.
  void look(std::map<std::string, std::vector<IpAddress>> found, std::chrono::system_clock::time_point now);

  /// What was linked last; null: nothing yet.
  std::shared_ptr<const compiler::LinkedWan> wan() const;
  /// What was published last; null: nothing yet.
  std::shared_ptr<const std::vector<SiteLinks>> sites() const;

 private:
  void plan();

  const PublishLinks publish_;
  mutable std::mutex mutex_;  ///< guards all that follows
  WanFacts facts_;
  std::shared_ptr<const compiler::LinkedWan> wan_;
  std::shared_ptr<const std::vector<SiteLinks>> sites_;
  std::chrono::system_clock::time_point due_{};
};

}  // namespace edge::controller::sdwan
