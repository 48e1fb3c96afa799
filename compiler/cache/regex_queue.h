// Makes pattern databases that no program waits for, one after the other on a thread of its own. Part of `compile`.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compiler/cache/regex_maker.h"

namespace edge::compiler {

/// The progress of the queued databases since the queue was last empty, in patterns.
struct DatabaseProgress {
  std::size_t made = 0;
  std::size_t asked = 0;
  /// Nothing is in progress: all are made, or there is no worker.
  bool ended = false;
};

struct RegexQueueOptions {
  std::string worker;
  std::string cache_dir;  ///< empty: no disk cache
  std::uint64_t cache_bytes = DiskCache::kDefaultBytes;
  /// Called on the queue's thread after each set. May be empty.
  std::function<void(const DatabaseProgress&)> progressed;
};

/// Thread-safe. The thread runs while there are sets to make.
class RegexQueue {
 public:
  explicit RegexQueue(RegexQueueOptions options) : options_(std::move(options)) {}
  /// Waits for the set in progress.
  ~RegexQueue();
  RegexQueue(const RegexQueue&) = delete;
  RegexQueue& operator=(const RegexQueue&) = delete;

  /// Queues a set, unless it is queued already.
  void ask(std::uint64_t set_id, std::vector<std::string> patterns);
  /// Drops queued sets that are not in `set_ids`.
  void keep(const std::set<std::uint64_t>& set_ids);

  struct Taken {
    std::map<std::uint64_t, MadeSet> made;
    std::optional<Error> fault;  ///< there is no worker; queued sets were dropped
  };
  /// Returns the results since the last call.
  Taken take();

 private:
  struct Asked {
    std::uint64_t set_id;
    std::vector<std::string> patterns;
  };
  void run();

  const RegexQueueOptions options_;
  std::mutex mutex_;
  std::deque<Asked> waiting_;
  std::optional<std::uint64_t> under_way_;
  Taken taken_;
  std::size_t made_ = 0;   ///< patterns, since the queue was empty
  std::size_t asked_ = 0;  ///< likewise
  bool running_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edge::compiler
