// Serves /metrics in the requested format and coding, at a bounded cost for any number of scrapes: once generating
// texts has used its share of a second, or texts being sent use their share of memory, the last one is sent again,
// shared by all responses.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/admin.h"
#include "metrics/exposition.h"

namespace edge::daemon {

class Scrapes {
 public:
  using Clock = std::chrono::steady_clock;
  /// Writes all metrics. On the requesting thread, one at a time.
  using Write = std::function<void(metrics::Exposition& out)>;

  explicit Scrapes(Write write, std::function<Clock::time_point()> clock = &Clock::now)
      : write_(std::move(write)), clock_(std::move(clock)) {}

  /// Any thread. 405 for methods other than GET and HEAD, 429 when too much was requested within a second.
  AdminReply answer(const AdminRequest& request);
  /// The same as a complete body, without a coding, for callers that cannot take a stream.
  AdminReply answer_whole(const AdminRequest& request);

 private:
  /// `coded`: compressed with gzip. One that would not shrink is not compressed.
  struct Text {
    std::string body;
    bool coded = false;
  };
  /// The variants of a text.
  struct Form {
    metrics::Format format;
    bool gzip = false;
    friend bool operator==(const Form&, const Form&) = default;
  };
  struct Made {
    Form form;
    Clock::time_point at;
    std::weak_ptr<const Text> text;    ///< expired when the last response has been sent
    std::shared_ptr<const Text> kept;  ///< for requests within this second
  };
  std::shared_ptr<const Text> text(const Form& form);
  std::shared_ptr<const Text> make(const Form& form, Clock::time_point now);
  std::shared_ptr<const Text> last_of_this_second(const Form& form) const;
  void begin_second(Clock::time_point now);
  bool holds_much() const;

  const Write write_;
  const std::function<Clock::time_point()> clock_;
  std::mutex mutex_;
  // Guarded by the mutex; for the second that began at `second_`:
  Clock::time_point second_{};
  Clock::duration spent_{};  ///< on generating texts
  std::size_t bytes_ = 0;    ///< sent
  // Regardless of seconds:
  std::vector<Made> made_;           ///< texts still being sent, or reusable
  std::size_t last_plain_size_ = 0;  ///< of a text before compression
};

}  // namespace edge::daemon
