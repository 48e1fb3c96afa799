// Watches: places in the history of a collection (store.h), read on when their clients have room.
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
  /// `now`, `log` and `Store` outlive this; streams may outlive it.
  Watches(const Store& store, std::size_t most, std::function<std::int64_t()> now, Logger log);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  /// The answer to a watch: a stream, or what is wrong with it.
  ApiReply open(const Operation& op, const Collection& collection);

  /// There is something new.
  void wake(std::span<const Committed> committed);
  /// The kind has changed or gone: its watches end, and clients begin anew.
  void end(std::string_view collection);
  /// Bookmarks and timeouts that are due. \returns how long until the next may be.
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
