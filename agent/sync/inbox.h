// Passes what the streams receive to the installing thread: only the newest program and the newest values.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agent/received/received_program.h"
#include "agent/received/received_values.h"
#include "base/result.h"

namespace edge::agent {

class SyncInbox {
 public:
  struct Content {
    std::optional<ReceivedProgram> program;
    std::optional<ReceivedValues> values;
    std::optional<std::string> addresses;  ///< a message with virtual addresses
    std::optional<std::string> links;      ///< a message with links of the SD-WAN
    /// A stream has ended, and why (kCancelled: by ourselves).
    std::optional<Error> ended;
    bool stopping = false;
  };

  void put(ReceivedProgram program) {
    change([&](Content& content) { content.program = std::move(program); });
  }
  void put(ReceivedValues values) {
    change([&](Content& content) {
      if (content.values) values.replace(*content.values);
      content.values = std::move(values);
    });
  }
  void put_addresses(std::string message) {
    change([&](Content& content) { content.addresses = std::move(message); });
  }
  void put_links(std::string message) {
    change([&](Content& content) { content.links = std::move(message); });
  }
  /// The first reason stays.
  void end(const Error& why) {
    change([&](Content& content) {
      if (!content.ended) content.ended = why;
    });
  }
  void stop() {
    change([](Content& content) { content.stopping = true; });
  }

  /// Takes the content; waits for it up to `patience`. Ends and stops are returned repeatedly.
  Content take(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] {
      return content_.program || content_.values || content_.addresses || content_.links || content_.ended ||
             content_.stopping;
    });
    Content taken = std::move(content_);
    content_ = Content{};
    content_.ended = taken.ended;
    content_.stopping = taken.stopping;
    return taken;
  }
  /// \returns whether it was stopped before `time` had passed.
  bool stopped_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return content_.stopping; });
  }
  /// Resets for the next session.
  void clear() {
    change([](Content& content) {
      content =
          Content{.program = {}, .values = {}, .addresses = {}, .links = {}, .ended = {}, .stopping = content.stopping};
    });
  }

 private:
  template <typename Change>
  void change(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change(content_);
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Content content_;
};

}  // namespace edge::agent
