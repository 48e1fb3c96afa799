// Watches: positions in the history of a collection (store.h), from which events are read as clients take them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/resource_api/api.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

class Watch;

class Watches {
 public:
  /// `now`, `log` and `Store` must outlive this object; streams may outlive it.
  Watches(const Store& store, std::size_t most, std::function<std::int64_t()> now, Logger log);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  /// Returns the response to a watch: a stream, or an error.
  ApiReply open(const Operation& op, const Collection& collection);

  /// Notifies the watches of new events.
  void wake(std::span<const Committed> committed);
  /// Ends the watches of a kind that was changed or removed; clients start over.
  void end(std::string_view collection);
  /// Sends due bookmarks and ends watches at their timeout. \returns the time until the next may be due.
  std::chrono::milliseconds work();

  std::size_t count() const { return count_; }

 private:
  friend class Watch;
  void leave(Watch& watch);

  const Store& store_;
  std::size_t most_;
  std::function<std::int64_t()> now_;
  Logger log_;
  std::unordered_map<const Collection*, std::vector<Watch*>> watches_{};
  std::size_t count_ = 0;
};

}  // namespace edge::resource_api
