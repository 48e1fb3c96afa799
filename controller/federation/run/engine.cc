#include "controller/federation/run/engine.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "controller/remote/tunnel.h"

namespace edge::federation {
namespace {

using namespace std::chrono_literals;
using controller::remote::TunnelPeer;

constexpr auto kTick = 1s;
constexpr auto kBeginAgain = 5s;
constexpr std::size_t kMostEvents = 20;

}  // namespace

Engine::Engine(net::Loop& loop, const FederationOptions& options, std::function<void(Statuses)> tell)
    : loop_(loop), options_(options), tell_(std::move(tell)) {
  running_ = true;
  run();
}

Engine::~Engine() = default;

std::int64_t Engine::wall() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Of intervals: a clock that is set back must not stop them.
std::int64_t Engine::steady() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now().time_since_epoch()).count();
}

net::Detached Engine::run() {
  while (!stopping_) {
    const net::Time next = loop_.now() + kTick;
    co_await waiter_.wait(next);
    if (!stopping_) tick();
  }
  running_ = false;
  if (done_ && api_ == nullptr && !ending_) loop_.post(std::exchange(done_, nullptr));
}

void Engine::tick() {
  const bool wanted = std::ranges::any_of(specs_, [](const PeerSpec& spec) { return spec.enabled; });
  const bool leads = options_.leads == nullptr || options_.leads();
  if (wanted != is_wanted_) {
    is_wanted_ = wanted;
    if (!wanted) {
      options_.tunnels->set_events({});
    } else {
      const auto post = [this](std::function<void()> what) { loop_.post(std::move(what)); };
      options_.tunnels->set_events(
          {.opened = [this, post](const TunnelPeer& peer) { post([this, peer] { opened(peer); }); },
           .closed = [this, post](const std::string& cluster) { post([this, cluster] { closed(cluster); }); },
           .received =
               [this, post](const std::string& cluster, std::string frame, std::function<void(Status)> done) {
                 post([this, cluster, frame = std::move(frame), done = std::move(done)]() mutable {
                   received(cluster, std::move(frame), std::move(done));
                 });
               }});
    }
  }
  if (runs() && (!wanted || !leads)) end(wanted ? "another controller leads" : "no peer is federated with");
  if (!runs() && wanted && leads && !ending_ && loop_.now() >= begin_again_) begin();
  if (wanted && !leads) fault_ = "another controller of this cluster leads, and runs the federation";
  if (runs()) {
    event_tokens_ = std::min(event_tokens_ + 1, kMostEvents);
    refusal_tokens_ = std::min(refusal_tokens_ + 1, kMostEvents);
    state_->replica.collect();
    api_->look();
    for (const auto& [key, retry] : retries_) {
      if (loop_.now() >= retry.at) dirty_.insert(key);
    }
    work();
    // Its state may not be writable.
    if (runs()) look_who_is_behind();
  }
  tell_statuses();
}

void Engine::begin() {
  begin_again_ = loop_.now() + kBeginAgain;
  keys_ = std::make_unique<ClusterKeys>(options_.key);
  keys_version_ = 0;
  if (Status status = keys_->add(options_.cluster_uid, options_.key.public_pem()); !status) return fail(status.error());
  auto opened =
      StateFile::open(options_.data_dir + "/federation", options_.cluster_uid, keys_->signatures(), options_.log);
  if (!opened) return fail(opened.error());
  auto client = kube::Client::make(loop_, options_.config);
  if (!client) return fail(client.error());
  client_ = std::move(*client);
  file_ = std::move(opened->file);
  state_.emplace(std::move(opened->state));
  state_->replica.begin_life(wall(), std::random_device{}());
  if (Status status = file_->save(*state_); !status) {
    state_.reset();
    file_.reset();
    client_.reset();
    return fail(status.error());
  }
  fault_.clear();
  options_.log.info("federation runs", {{"objects", std::to_string(state_->replica.counts().objects)},
                                        {"state", opened->is_new ? "new" : "as it was"}});
  recorder_ = std::make_unique<kube::Recorder>(*client_);
  api_ = std::make_unique<ApiFollower>(
      *client_, options_.log,
      ApiEvents{.changed =
                    [this](const ObjectKey& key) {
                      dirty_.insert(key);
                      work_soon();
                    },
                .wrote = [this](const ObjectKey& key, const ApiWrite& write) { wrote(key, write); },
                .listed =
                    [this](const std::string& kind) {
                      mark_all(kind, false);
                      work_soon();
                    }});
  learn_keys();
  for (const auto& [key, siblings] : state_->replica.objects()) {
    if (siblings.size() > 1) dirty_.insert(key);
  }
  find_conflicts();
  apply_specs();
  for (auto& [cluster, connection] : connections_) begin_session(connection);
  work();
}

void Engine::fail(const Error& why) {
  if (fault_ != why.text) options_.log.error("federation does not run", {{"reason", why.text}});
  fault_ = why.text;
}

void Engine::end(const std::string& why) {
  options_.log.info("federation ends", {{"reason", why}});
  for (auto& [cluster, connection] : connections_) drop(connection, {ErrorCode::kUnavailable, why});
  state_.reset();
  file_.reset();
  recorder_.reset();
  dirty_.clear();
  restored_.clear();
  lists_.clear();
  applying_.clear();
  to_write_.clear();
  retries_.clear();
  conflicts_.clear();
  refused_told_.clear();
  ending_ = true;
  // Its writes end first.
  api_->stop([this] {
    api_.reset();
    client_.reset();
    ending_ = false;
    if (done_ && !running_) loop_.post(std::exchange(done_, nullptr));
  });
}

void Engine::stop(std::function<void()> done) {
  done_ = std::move(done);
  if (is_wanted_) options_.tunnels->set_events({});
  work();
  if (runs()) end("the controller ends");
  stopping_ = true;
  waiter_.cancel();
}

void Engine::work_soon() {
  if (std::exchange(working_, true)) return;
  loop_.post([this] {
    working_ = false;
    work();
  });
}

void Engine::work() {
  if (!runs()) return;
  take_frames();
  look_for_restored();
  follow_dirty();
  look_at_conflicts();
  if (Status status = file_->save(*state_); !status) {
    fail(status.error());
    begin_again_ = loop_.now() + kBeginAgain;
    return end("its state cannot be written");
  }
  state_written_ = wall();
  send_frames();
  start_writes();
}

}  // namespace edge::federation
