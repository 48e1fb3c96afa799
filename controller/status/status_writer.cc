#include "controller/status/status_writer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>

#include "controller/cluster_object.h"
#include "schemas/schema.h"

namespace edge::controller {

namespace {

/// Kinds of which a status may have no condition.
bool told_by_event(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"Ingress", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

}  // namespace

StatusWriter::StatusWriter(kube::Client& client, StatusQueueOptions options, Logger log, Callbacks callbacks)
    : client_(client),
      log_(std::move(log)),
      callbacks_(std::move(callbacks)),
      queue_(std::move(options)),
      recorder_(client),
      vip_recorder_(client),
      waiter_(client.loop()) {
  pumping_ = true;
  pump();
}

StatusWriter::~StatusWriter() = default;

void StatusWriter::observe(const ResourceId& key, StatusQueue::Observed observed) {
  if (told_by_event(key.kind)) {
    rejections_[key].uid = observed.uid;
    tell_rejection(key);
  }
  queue_.observe(key, std::move(observed), client_.loop().now());
  wake();
}

void StatusWriter::forget(const ResourceId& key) {
  rejections_.erase(key);
  queue_.forget(key);
}

void StatusWriter::set_desired(std::vector<DesiredStatus> desired_statuses) {
  for (DesiredStatus& desired : desired_statuses) {
    if (told_by_event(desired.key.kind)) {
      const auto known = rejections_.find(desired.key);
      const std::string text = desired.told_by_event ? desired.rejection : std::string();
      if (known != rejections_.end() || !text.empty()) {
        rejections_[desired.key].text = text;
        tell_rejection(desired.key);
      }
    }
    queue_.set_desired(std::move(desired), client_.loop().now());
  }
  wake();
}

void StatusWriter::agents(AgentsView view) {
  queue_.agents(std::move(view), client_.loop().now());
  wake();
}

void StatusWriter::lead(bool leads) {
  if (leads && !leads_) queue_.begin_to_lead(client_.loop().now());
  leads_ = leads;
  for (const auto& [key, rejection] : rejections_) tell_rejection(key);
  wake();
}

void StatusWriter::wake() {
  if (waiter_.waiting()) waiter_.wake_later();
}

net::Detached StatusWriter::pump() {
  while (!stopping_) {
    while (leads_ && !stopping_ && client_.loop().now() >= not_before_) {
      auto due = queue_.next(client_.loop().now(), timestamp_text(std::chrono::system_clock::now()));
      auto event = due ? std::nullopt : queue_.next_event(client_.loop().now());
      if (!due && !event) break;
      if (due) write(*std::move(due));
      if (event) tell_vip(*std::move(event));
    }
    tell_counts();
    const net::Time until = leads_ ? std::max(queue_.due(), not_before_) : net::kNever;
    co_await waiter_.wait(until);
  }
  pumping_ = false;
  finish_when_idle();
}

net::Detached StatusWriter::write(StatusQueue::Write write) {
  net::Waiter waiter(client_.loop());
  writing_.insert(&waiter);
  const auto began = std::chrono::steady_clock::now();
  const kube::Resource resource = resources_[write.key.kind];
  kube::WriteOptions options;
  options.subresource = "status";
  kube::ObjectReply reply = co_await client_.patch(waiter, resource, write.key.name_space, write.key.name,
                                                   kube::PatchType::kMerge, write.patch, options);
  std::optional<StatusQueue::Observed> observed;
  const StatusQueue::WriteResult outcome = co_await read_reply(waiter, write, std::move(reply), observed);
  writing_.erase(&waiter);
  callbacks_.wrote(std::chrono::steady_clock::now() - began);
  queue_.done(write.key, outcome, std::move(observed), client_.loop().now());
  tell_counts();
  if (stopping_) {
    finish_when_idle();
  } else {
    wake();
  }
}

void StatusWriter::tell_counts() {
  counts_.waiting = leads_ ? queue_.waiting() + queue_.writing() : 0;
  callbacks_.counted(counts_);
}

namespace {

std::optional<StatusQueue::Observed> observed_of(const kube::Object& object) {
  // The class does not matter to a status.
  auto read = read_cluster_object(object.text, {});
  if (!read || !*read) return std::nullopt;
  return StatusQueue::Observed{(*read)->uid, (*read)->resource_version, std::move((*read)->status)};
}

}  // namespace

net::Task<StatusQueue::WriteResult> StatusWriter::read_reply(net::Waiter& waiter, const StatusQueue::Write& write,
                                                             kube::ObjectReply reply,
                                                             std::optional<StatusQueue::Observed>& observed) {
  using enum StatusQueue::WriteResult;
  if (reply.ok()) {
    ++counts_.written;
    complaints_.erase(write.key.kind);
    observed = observed_of(reply.object);
    tell_events(write);
    co_return kWritten;
  }
  if (reply.failure.not_found()) co_return kGone;
  if (!reply.failure.conflict()) {
    complain(write, reply.failure);
    co_return kFailed;
  }
  ++counts_.conflicts;
  const kube::Resource resource = resources_[write.key.kind];
  const kube::ObjectReply now = co_await client_.get(waiter, resource, write.key.name_space, write.key.name);
  if (now.failure.not_found()) co_return kGone;
  if (now.ok()) observed = observed_of(now.object);
  co_return observed ? kStale : kFailed;
}

void StatusWriter::complain(const StatusQueue::Write& write, const kube::Failure& failure) {
  ++counts_.failed;
  // One that is busy (429) is asked for nothing else meanwhile.
  if (failure.retry_after > 0) not_before_ = client_.loop().now() + std::chrono::seconds(failure.retry_after);
  // A server that is away is told by the informers; of a kind that it refuses once is enough.
  if (failure.kind != kube::Failure::Kind::kRefused) return;
  std::string& reported = complaints_[write.key.kind];
  std::string text = failure.text();
  if (reported == text) return;
  log_.warn("the status of " + write.key.text() + " cannot be written: " + text);
  reported = std::move(text);
}

namespace {

std::optional<kube::Regarding> regarding(const ResourceId& key, const std::string& uid) {
  const schemas::Kind* kind = schemas::find_kind(key.kind);
  if (kind == nullptr) return std::nullopt;
  return kube::Regarding{std::string(kind->api_version), key.kind, key.name_space, key.name, uid};
}

}  // namespace

void StatusWriter::tell_events(const StatusQueue::Write& write) {
  const auto object = regarding(write.key, write.uid);
  if (!object) return;
  for (Event& event : events_of(write.key, write.flips)) {
    recorder_.record(*object, event.level, std::move(event.reason), std::move(event.message));
  }
}

void StatusWriter::tell_vip(StatusQueue::VipEvent told) {
  const auto done = [this] {
    queue_.event_done(client_.loop().now());
    wake();
  };
  const auto object = regarding(told.key, told.uid);
  if (!object) return done();
  vip_recorder_.record(*object, told.event.level, std::move(told.event.reason), std::move(told.event.message), done);
}

void StatusWriter::tell_rejection(const ResourceId& key) {
  Rejection& rejection = rejections_.at(key);
  if (!leads_ || rejection.uid.empty() || rejection.reported == rejection.text) return;
  const auto object = regarding(key, rejection.uid);
  if (!object) return;
  const bool mended = rejection.text.empty();
  recorder_.record(*object, mended ? kube::EventLevel::kNormal : kube::EventLevel::kWarning,
                   mended ? "Accepted" : "Rejected", mended ? std::string("it is at fault no longer") : rejection.text);
  rejection.reported = rejection.text;
}

void StatusWriter::stop(std::function<void()> done) {
  stopping_ = true;
  done_ = std::move(done);
  for (net::Waiter* waiter : std::set<net::Waiter*>(writing_)) waiter->cancel();
  waiter_.cancel();
  finish_when_idle();
}

void StatusWriter::finish_when_idle() {
  if (!stopping_ || pumping_ || !writing_.empty() || !done_) return;
  std::exchange(done_, nullptr)();
}

}  // namespace edge::controller
