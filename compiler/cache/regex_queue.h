// Databases of patterns that no program waits for, made one after the other on a thread of their own. Part of
// `compile`.
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

/// How far the databases are that were asked for since all were there last, in patterns.
struct DatabaseProgress {
  std::size_t made = 0;
  std::size_t asked = 0;
  /// Nothing more is under way: all are made, or there is no worker.
  bool ended = false;
};

struct RegexQueueOptions {
  std::string worker;
  std::string cache_dir;  ///< empty: nothing is kept on disk
  std::uint64_t cache_bytes = DiskCache::kDefaultBytes;
  /// Called on the queue's thread after each set. May be empty.
  std::function<void(const DatabaseProgress&)> progressed;
};

/// Thread-safe. The thread lasts as long as there are sets to make.
class RegexQueue {
 public:
  explicit RegexQueue(RegexQueueOptions options) : options_(std::move(options)) {}
  /// Waits for the set that is under way.
  ~RegexQueue();
  RegexQueue(const RegexQueue&) = delete;
  RegexQueue& operator=(const RegexQueue&) = delete;

  /// Queues a set that is not queued yet.
  void ask(std::uint64_t set_id, std::vector<std::string> patterns);
  /// Drops the sets that wait and are none of these.
  void keep(const std::set<std::uint64_t>& set_ids);

  struct Taken {
    std::map<std::uint64_t, MadeSet> made;
    std::optional<Error> fault;  ///< there is no worker; what waited was dropped
  };
  /// What came since the last call.
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
