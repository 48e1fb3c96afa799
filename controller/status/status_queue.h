// Decides which statuses to write, and when, from the observed and the desired status of every resource. The caller
// passes the time, writes what `next` returns, and reports each result to `done`. Without changes nothing is written.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/status/agents_view.h"
#include "controller/status/desired_status.h"
#include "controller/status/status_document.h"
#include "controller/status/status_events.h"
#include "controller/status/write_pace.h"
#include "net/clock.h"

namespace edge::controller {

struct StatusQueueOptions {
  std::string controller_class;
  /// Rate limit of writes, per second, with its burst.
  double rate = 100;
  double burst = 200;
  std::size_t in_flight = 8;
  /// How long a write that only says `pending` is delayed, so that agents may install the program first.
  net::Duration patience = std::chrono::milliseconds(500);
  /// Minimum time between two writes of one status where only responses to health checks have changed.
  net::Duration between_checks = std::chrono::seconds(10);
  /// Writes that virtual addresses cause, statuses of ProxyVIPs and their events together: at most so many in any
  /// window. A node that is lost moves many addresses at once.
  std::size_t vip_writes = 2;
  net::Duration vip_window = std::chrono::seconds(1);
  /// Statuses of ProxyVIPs precede their events: while fewer of these wait, and so many in a row.
  std::size_t events_behind = 32;
  std::size_t statuses_in_a_row = 4;
  net::Duration first_delay = std::chrono::milliseconds(500);
  net::Duration longest_delay = std::chrono::seconds(60);
};

/// Not thread-safe.
class StatusQueue {
 public:
  explicit StatusQueue(StatusQueueOptions options)
      : options_(std::move(options)), vip_pace_(options_.vip_writes, options_.vip_window), tokens_(options_.burst) {}

  /// A resource's status in the cluster.
  struct Observed {
    std::string uid, resource_version, status;
  };
  void observe(const ResourceId& key, Observed observed, net::Time now);
  void forget(const ResourceId& key);
  void set_desired(DesiredStatus desired, net::Time now);
  void agents(AgentsView view, net::Time now);

  struct Write {
    ResourceId key;
    std::string uid;
    std::string patch;                 ///< merge patch of the status subresource, conditional on the observed version
    std::vector<ConditionFlip> flips;  ///< none of a ProxyVIP: see next_event
  };
  /// Returns the next write that is due. `wall`: the time by RFC 3339.
  std::optional<Write> next(net::Time now, const std::string& wall);
  struct VipEvent {
    ResourceId key;
    std::string uid;
    Event event;
  };
  /// Returns an event of a ProxyVIP whose status has been written, once `next` returns nothing. `event_done` reports
  /// that it was sent or dropped.
  std::optional<VipEvent> next_event(net::Time now);
  void event_done(net::Time now) { vip_pace_.end(now); }
  /// When `next` or `next_event` may return something; kNever while nothing waits.
  net::Time due() const;

  enum class WriteResult : std::uint8_t {
    kWritten,  ///< `observed` is the current status
    kStale,    ///< changed by another writer: `observed` is the current status
    kGone,
    kFailed,  ///< to be retried
  };
  void done(const ResourceId& key, WriteResult outcome, std::optional<Observed> observed, net::Time now);

  /// Events that wait are of statuses that the one who led before has not told of, and the window of its writes may not
  /// be over.
  void begin_to_lead(net::Time now);

  std::size_t writing() const { return writing_; }
  std::size_t waiting() const { return by_time_.size() + vips_.size() + events_.size(); }

 private:
  struct Entry {
    Observed observed;
    bool seen = false;
    std::optional<DesiredStatus> desired;
    net::Time desired_at{};
    std::optional<net::Time> written;  ///< when it was last
    net::Time at = net::kNever;        ///< place in by_time_; kNever: none
    std::optional<net::Time> in_vips;  ///< place in vips_
    std::vector<Event> events;         ///< of a ProxyVIP, of the status that is being written
    std::uint32_t failures = 0;
    /// Hashes of the last written status, and of the server's reply: a field that a server drops is not written again
    /// and again.
    std::uint64_t wrote = 0, answered = 0;
    bool writing = false;
    bool again = false;  ///< changed while it was being written
  };

  void schedule(const ResourceId& key, Entry& entry, net::Time at);
  void unschedule(const ResourceId& key, Entry& entry);
  void refill(net::Time now);
  const ResourceId* first_due(net::Time now) const;
  bool events_first() const {
    return !events_.empty() && (events_.size() >= options_.events_behind || in_a_row_ >= options_.statuses_in_a_row);
  }
  bool vip_may_be_written(net::Time now) const { return !events_first() && vip_pace_.may_begin(now); }
  bool wait_for_others(const ResourceId& key, Entry& entry, bool allocates, net::Time now);
  /// The number of the oldest program that not all agents run.
  std::uint64_t first_pending() const { return agents_.programs.empty() ? 0 : agents_.programs.front() + 1; }

  StatusQueueOptions options_;
  std::map<ResourceId, Entry> entries_;
  std::set<std::pair<net::Time, ResourceId>> by_time_;
  /// Servable resources, by the first program with them: when agents advance, only the resources of the programs in
  /// between are processed.
  std::set<std::pair<std::uint64_t, ResourceId>> by_program_;
  AgentsView agents_;
  std::size_t writing_ = 0;
  /// ProxyVIPs with something to be written, the one first that was written longest ago: one that moves on and on does
  /// not keep the others waiting. Before them pools of which an address is given away, or given back.
  std::set<std::pair<net::Time, ResourceId>> vips_;
  std::deque<VipEvent> events_;  ///< of statuses of ProxyVIPs that have been written; bounded by events_behind
  WritePace vip_pace_;
  std::size_t in_a_row_ = 0;  ///< statuses of ProxyVIPs since the last event
  double tokens_;
  net::Time refilled_{};
};

}  // namespace edge::controller
