// Writes statuses to the cluster: takes due writes from the queue, patches the status subresource, and records events
// for changed conditions. Writes only as the leader, and only when something changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/log.h"
#include "controller/kube/client.h"
#include "controller/kube/recorder.h"
#include "controller/status/status_queue.h"

namespace edge::controller {

struct StatusCounts {
  std::uint64_t written = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t failed = 0;
  std::uint64_t waiting = 0;  ///< waiting or in progress; 0 unless leader
};

/// Runs on the client's loop.
class StatusWriter {
 public:
  struct Callbacks {
    /// Called when the counts change.
    std::function<void(const StatusCounts&)> counted;
    /// Called after each write with the time that it took.
    std::function<void(std::chrono::nanoseconds)> wrote;
  };
  StatusWriter(kube::Client& client, StatusQueueOptions options, Logger log, Callbacks callbacks);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  /// Sets the API resource that a kind is written through.
  void serve(const std::string& kind, const kube::Resource& resource) { resources_[kind] = resource; }
  void observe(const ResourceId& key, StatusQueue::Observed observed);
  void forget(const ResourceId& key);
  void set_desired(std::vector<DesiredStatus> desired_statuses);
  void agents(AgentsView view);
  void lead(bool leads);
  /// Cancels writes; calls `done` when none is left.
  void stop(std::function<void()> done);

 private:
  net::Detached pump();
  net::Detached write(StatusQueue::Write write);
  net::Task<StatusQueue::WriteResult> read_reply(net::Waiter& waiter, const StatusQueue::Write& write,
                                                 kube::ObjectReply reply,
                                                 std::optional<StatusQueue::Observed>& observed);
  void tell_events(const StatusQueue::Write& write);
  void tell_vip(StatusQueue::VipEvent told);
  /// Records an event for a rejection that no condition reports. Requires the object's uid, and leadership.
  void tell_rejection(const ResourceId& key);
  void complain(const StatusQueue::Write& write, const kube::Failure& failure);
  void wake();
  void tell_counts();
  void finish_when_idle();

  kube::Client& client_;
  Logger log_;
  Callbacks callbacks_;
  StatusQueue queue_;
  kube::Recorder recorder_;
  /// Of ProxyVIPs, which wait for their turn in the queue, and for nothing else's.
  kube::Recorder vip_recorder_;
  std::map<std::string, kube::Resource> resources_;
  std::map<std::string, std::string> complaints_;  ///< the last logged messages, by kind
  /// Of rejections that are reported by events: the object's uid, the text to report, the text that was reported last.
  struct Rejection {
    std::string uid, text, reported;
  };
  std::map<ResourceId, Rejection> rejections_;
  StatusCounts counts_;
  net::Waiter waiter_;
  std::set<net::Waiter*> writing_;
  /// The server wants no write before.
  net::Time not_before_{};
  bool leads_ = false;
  bool stopping_ = false;
  bool pumping_ = false;
  std::function<void()> done_;
};

}  // namespace edge::controller
