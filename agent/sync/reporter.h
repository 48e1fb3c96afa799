// What an agent says of itself in a session, however it is connected: its hello, and when a report is due.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "agent/sync/report.h"
#include "agent/sync/session.h"

namespace edge::agent {

namespace v1 {
class Applied;
class Hello;
}  // namespace v1

std::string bytes_of(const program::Hash& hash);
/// Into empty messages.
void write_hello(const AgentWords& words, const std::vector<runtime::UnboundListener>& unbound, v1::Hello& into);
void write_applied(const program::Hash& program, const std::vector<runtime::UnboundListener>& unbound,
                   v1::Applied& into);

class Reporter {
 public:
  explicit Reporter(const ReportSource& source) : source_(source) {}

  /// Fills an empty report. \returns whether it is due: something has changed, or nothing was said for long.
  bool fill(v1::Report& report);
  /// Returns when to fill the next one: at once where there is more to be said, else soon enough that who looks on sees
  /// a change at once, and as seldom as takes a hundredth of a processor.
  std::chrono::milliseconds pause() const;

 private:
  const ReportSource& source_;
  ReportWriter backends_;
  std::chrono::steady_clock::time_point last_{};
  std::vector<runtime::UnboundListener> said_unbound_;
  std::vector<vip::AddressState> said_vips_;
  bool has_more_ = true;
  std::chrono::nanoseconds took_{};  ///< the last one
};

}  // namespace edge::agent
