#include "controller/kube/recorder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"
#include "controller/kube/backoff.h"
#include "controller/kube/time_text.h"

namespace edge::kube {

const Resource& event_resource() {
  static const Resource kEvent{.group = {}, .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
  return kEvent;
}

namespace {

constexpr std::size_t kMaxMessage = 1024;
constexpr int kTries = 3;
constexpr net::Duration kFirstDelay = std::chrono::seconds(1);
constexpr net::Duration kLongestDelay = std::chrono::seconds(10);

std::string object_key(const Regarding& of) {
  return of.api_version + "|" + of.kind + "|" + of.name_space + "|" + of.name + "|" + of.uid;
}

/// Cut where a character begins.
std::string shortened(std::string text) {
  if (text.size() <= kMaxMessage) return text;
  std::size_t size = kMaxMessage - 3;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  text.resize(size);
  return text + "...";
}

}  // namespace

struct Recorder::State {
  using Wall = std::chrono::system_clock::time_point;

  State(Client& of, RecorderOptions chosen)
      : client(of),
        options(std::move(chosen)),
        waiter(of.loop()),
        wall(options.wall ? options.wall : std::chrono::system_clock::now) {}

  /// One kind of happening with one object.
  struct RecordedEvent {
    Regarding regarding;
    EventLevel level = EventLevel::kNormal;
    std::string reason, message;
    std::uint64_t count = 0;
    Wall first{}, last{};
    net::Time seen{};
    /// Of the Event in the API; empty: it is to be created.
    std::string name;
    bool queued = false;
    std::function<void()> done;  ///< of the one that made it wait
  };
  struct Bucket {
    double tokens = 0;
    net::Time filled{};
  };

  bool admitted(const std::string& object);
  void make_room();
  std::string created(RecordedEvent& reported) const;
  std::string counted(const RecordedEvent& reported) const;
  net::Task<Failure> deliver(RecordedEvent& reported);
  net::Detached run(std::shared_ptr<State> self);

  Client& client;
  const RecorderOptions options;
  net::Waiter waiter;
  std::function<Wall()> wall;
  /// Nodes keep their addresses; what is queued is not forgotten.
  std::unordered_map<std::string, RecordedEvent> reported;
  std::unordered_map<std::string, Bucket> buckets;
  std::deque<RecordedEvent*> queue;
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
  bool running = false;
  bool stopped = false;
};

bool Recorder::State::admitted(const std::string& object) {
  const net::Time now = client.loop().now();
  const auto [position, fresh] = buckets.try_emplace(object);
  Bucket& bucket = position->second;
  if (fresh) {
    bucket.tokens = options.burst;
  } else {
    const auto passed = std::chrono::duration<double>(now - bucket.filled);
    const double gained = passed / std::chrono::duration<double>(options.interval);
    bucket.tokens = std::min<double>(options.burst, bucket.tokens + gained);
  }
  bucket.filled = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

void Recorder::State::make_room() {
  const net::Time now = client.loop().now();
  if (reported.size() >= options.max_known) {
    std::erase_if(reported,
                  [&](const auto& one) { return !one.second.queued && now - one.second.seen >= options.same_within; });
  }
  if (buckets.size() >= options.max_known) {
    std::erase_if(buckets, [&](const auto& one) { return now - one.second.filled >= options.interval; });
  }
}

std::string Recorder::State::created(RecordedEvent& of) const {
  const std::string seed = object_key(of.regarding) + of.reason + of.message + micro_time_text(of.first);
  std::array<char, 24> mark;
  std::snprintf(mark.data(), mark.size(), ".%016llx", static_cast<unsigned long long>(hash_bytes(0, seed)));
  of.name = of.regarding.name + mark.data();
  const std::string name_space = of.regarding.name_space.empty() ? "default" : of.regarding.name_space;
  nlohmann::json source = {{"component", options.component}};
  if (!options.instance.empty()) source["host"] = options.instance;
  return json_line(nlohmann::json{{"apiVersion", "v1"},
                                  {"kind", "Event"},
                                  {"metadata", {{"name", of.name}, {"namespace", name_space}}},
                                  {"involvedObject",
                                   {{"apiVersion", of.regarding.api_version},
                                    {"kind", of.regarding.kind},
                                    {"namespace", of.regarding.name_space},
                                    {"name", of.regarding.name},
                                    {"uid", of.regarding.uid}}},
                                  {"type", of.level == EventLevel::kNormal ? "Normal" : "Warning"},
                                  {"reason", of.reason},
                                  {"message", of.message},
                                  {"count", of.count},
                                  {"firstTimestamp", time_text(of.first)},
                                  {"lastTimestamp", time_text(of.last)},
                                  {"source", std::move(source)},
                                  {"reportingComponent", options.component},
                                  {"reportingInstance", options.instance}});
}

std::string Recorder::State::counted(const RecordedEvent& of) const {
  return json_line(nlohmann::json{{"count", of.count}, {"lastTimestamp", time_text(of.last)}});
}

net::Task<Failure> Recorder::State::deliver(RecordedEvent& of) {
  const std::string name_space = of.regarding.name_space.empty() ? "default" : of.regarding.name_space;
  const WriteOptions by{.field_manager = options.component};
  if (!of.name.empty()) {
    ObjectReply patched =
        co_await client.patch(waiter, event_resource(), name_space, of.name, PatchType::kMerge, counted(of), by);
    // Events do not live for ever: then it is told anew.
    if (!patched.failure.not_found()) co_return patched.failure;
    of.first = of.last;
    of.count = 1;
  }
  ObjectReply reply = co_await client.create(waiter, event_resource(), name_space, created(of), by);
  if (!reply.ok()) of.name.clear();
  co_return reply.failure;
}

net::Detached Recorder::State::run(std::shared_ptr<State> self) {
  State& state = *self;
  Backoff backoff(kFirstDelay, kLongestDelay, nullptr);
  while (!state.stopped && !state.queue.empty()) {
    RecordedEvent& next = *state.queue.front();
    state.queue.pop_front();
    bool done = false;
    for (int tries = 0; !done && !state.stopped; ++tries) {
      const Failure failure = co_await state.deliver(next);
      if (failure.kind == Failure::Kind::kCancelled) break;
      done = failure.none() || !failure.temporary() || tries + 1 == kTries;
      if (failure.none()) {
        ++state.sent;
        backoff.reset();
      } else if (done) {
        ++state.dropped;
      }
      if (done) break;
      const net::Wake wake = co_await state.waiter.wait(state.client.loop().now() + backoff.next());
      if (wake == net::Wake::kCancelled) break;
    }
    next.queued = false;
    const auto finished = std::exchange(next.done, nullptr);
    if (finished && !state.stopped) finished();
  }
  state.running = false;
}

Recorder::Recorder(Client& client, RecorderOptions options)
    : state_(std::make_shared<State>(client, std::move(options))) {}

Recorder::~Recorder() {
  state_->stopped = true;
  state_->waiter.cancel();
}

void Recorder::record(const Regarding& regarding, EventLevel level, std::string reason, std::string message,
                      std::function<void()> done) {
  State& state = *state_;
  const net::Time now = state.client.loop().now();
  const std::string object = object_key(regarding);
  message = shortened(std::move(message));
  state.make_room();
  const bool full = state.queue.size() >= state.options.max_waiting ||
                    state.reported.size() >= state.options.max_known || state.buckets.size() >= state.options.max_known;
  const std::string key = object + "|" + (level == EventLevel::kNormal ? "N|" : "W|") + reason + "|" + message;
  const auto known = state.reported.find(key);
  if (known != state.reported.end() && known->second.queued) {
    // It is on its way: what is sent will count this one, too.
    ++known->second.count;
    known->second.last = state.wall();
    known->second.seen = now;
    if (done) done();
    return;
  }
  if (full || state.stopped || !state.admitted(object)) {
    ++state.dropped;
    if (done) done();
    return;
  }
  State::RecordedEvent& reported = state.reported[key];
  if (reported.count == 0 || now - reported.seen >= state.options.same_within) {
    reported = {};
    reported.regarding = regarding;
    reported.level = level;
    reported.reason = std::move(reason);
    reported.message = std::move(message);
    reported.first = state.wall();
  }
  ++reported.count;
  reported.last = state.wall();
  reported.seen = now;
  reported.queued = true;
  reported.done = std::move(done);
  state.queue.push_back(&reported);
  if (state.running) return;
  state.running = true;
  state.run(state_);
}

std::uint64_t Recorder::sent() const { return state_->sent; }
std::uint64_t Recorder::dropped() const { return state_->dropped; }

}  // namespace edge::kube
