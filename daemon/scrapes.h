// Answers /metrics: in the format and coding that are asked for, at a cost that no storm of scrapes raises. Once making
// texts took its share of a second, or those that are being sent take their share of memory, the last one is given out
// again, shared by all who are being answered.
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
  /// Writes everything. On the thread that asks, one at a time.
  using Write = std::function<void(metrics::Exposition& out)>;

  explicit Scrapes(Write write, std::function<Clock::time_point()> clock = &Clock::now)
      : write_(std::move(write)), clock_(std::move(clock)) {}

  /// From any thread. 405 for what is neither GET nor HEAD, 429 when too much was asked for within a second.
  AdminReply answer(const AdminRequest& request);
  /// The same as a whole body, without a coding, for who cannot take a stream.
  AdminReply answer_whole(const AdminRequest& request);

 private:
  /// `coded`: in gzip. One that would not shrink is not, whoever takes it.
  struct Text {
    std::string body;
    bool coded = false;
  };
  /// In which texts differ.
  struct Form {
    metrics::Format format;
    bool gzip = false;
    friend bool operator==(const Form&, const Form&) = default;
  };
  struct Made {
    Form form;
    Clock::time_point at;
    std::weak_ptr<const Text> text;    ///< gone when the last has taken it
    std::shared_ptr<const Text> kept;  ///< for whoever comes within this second
  };
  std::shared_ptr<const Text> text(const Form& form);
  std::shared_ptr<const Text> make(const Form& form, Clock::time_point now);
  std::shared_ptr<const Text> last_of_this_second(const Form& form) const;
  void begin_second(Clock::time_point now);
  bool holds_much() const;

  const Write write_;
  const std::function<Clock::time_point()> clock_;
  std::mutex mutex_;
  // Under the mutex, of the second that began then:
  Clock::time_point second_{};
  Clock::duration spent_{};  ///< on texts
  std::size_t bytes_ = 0;    ///< given out
  // And of all time:
  std::vector<Made> made_;           ///< what somebody has still to take, or may be given
  std::size_t last_plain_size_ = 0;  ///< of a text before it was compressed
};

}  // namespace edge::daemon
