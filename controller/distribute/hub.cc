#include "controller/distribute/hub.h"

#include <algorithm>
#include <random>

#include "controller/distribute/values_feed.h"

namespace edge::controller {
namespace {

/// How often what depends on the clock is looked at.
constexpr auto kTick = std::chrono::seconds(1);
constexpr unsigned kRefusalsASecond = 5;

std::string random_word() {
  std::random_device device;
  return std::to_string(device()) + "-" + std::to_string(device());
}

/// A value that no message carries is left out: what needs it is denied at the agents, and the operator is told.
void leave_out_large(program::SecretSet& secrets, const Logger& log) {
  for (program::NamedSecret& secret : secrets.secrets) {
    const auto is_large = [](const auto& value) { return value.value->size() > ValuesFeed::kMaxValueBytes; };
    if (std::erase_if(secret.values, is_large) == 0) continue;
    log.warn("a value larger than 8 MiB is not sent to agents", {{"secret", secret.name_space + "/" + secret.name}});
  }
}

}  // namespace

Hub::Hub(const DistributorOptions& options, std::unique_ptr<Authority> authority)
    : authority_(std::move(authority)),
      own_pages_(options.own_pages),
      history_(options.history),
      progress_(options.progress),
      run_(random_word()),
      most_pinned_(options.most_pinned),
      program_key_(options.program_key),
      log_(options.log),
      clock_(options.clock),
      thread_([this] { loop(); }) {}

Hub::~Hub() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

WallTime Hub::now() const { return clock_ ? clock_() : std::chrono::system_clock::now(); }

void Hub::publish(Published published) {
  auto pending = std::make_unique<Published>(std::move(published));
  {
    const std::lock_guard lock(mutex_);
    pending_.swap(pending);
    ++version_;
  }
  work_.notify_one();
}

std::uint64_t Hub::announced() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::shared_ptr<const Publication> Hub::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::shared_ptr<const Outline> Hub::outline(std::string_view hash) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(outlines_, [&](const auto& known) {
    return hash.size() == known->program.size() &&
           std::equal(known->program.begin(), known->program.end(), reinterpret_cast<const std::uint8_t*>(hash.data()));
  });
  return found == outlines_.end() ? nullptr : *found;
}

void Hub::take(Published published, std::uint64_t version) {
  if (published.program == nullptr) return;
  leave_out_large(published.secrets, log_);
  auto made = Publication::make(std::move(published), version);
  if (!made) return log_.error("the program is given to no agent", {{"reason", made.error().text}});
  std::shared_ptr<const Publication> next = std::move(*made);
  {
    const std::lock_guard lock(mutex_);
    const bool same = current_ && current_->outline().program == next->outline().program;
    if (!same) {
      // A program that was published before, and is again, stands once.
      std::erase_if(outlines_, [&](const auto& known) { return known->program == next->outline().program; });
      outlines_.push_back(next->shared_outline());
      if (outlines_.size() > kRememberedOutlines) outlines_.pop_front();
    }
    current_.swap(next);
    if (next) overtaken_.push_back({next, next->values()});
  }
  next.reset();
  let_go_of_old();
  registry_.published(version);
  wake_all();
}

/// Bytes that are there for it alone: of other endpoints beside the same program its bytes are there once, and so are
/// secrets that did not change.
std::size_t Hub::pinned_by(const Overtaken& overtaken, std::set<const void*>& counted) {
  std::size_t bytes = 0;
  if (const auto whole = overtaken.whole.lock(); whole && counted.insert(whole->bytes().get()).second) {
    bytes += whole->bytes()->size();
  }
  const auto values = overtaken.values.lock();
  if (!values) return bytes;
  bytes += values->bytes;
  for (const program::NamedSecret& secret : values->secrets.secrets) {
    for (const auto& value : secret.values) {
      if (counted.insert(value.value.get()).second) bytes += value.value->size();
    }
  }
  return bytes;
}

/// Of what slow agents pin the newest stays, as much as there is room for.
void Hub::let_go_of_old() {
  const std::lock_guard lock(mutex_);
  // A publication holds its values.
  std::erase_if(overtaken_, [](const Overtaken& overtaken) { return overtaken.values.expired(); });
  if (overtaken_.empty()) return;
  std::set<const void*> counted = {current_->bytes().get()};
  for (const program::NamedSecret& secret : current_->values()->secrets.secrets) {
    for (const auto& value : secret.values) counted.insert(value.value.get());
  }
  std::size_t pinned = 0;
  for (auto overtaken = overtaken_.rbegin(); overtaken != overtaken_.rend(); ++overtaken) {
    pinned += pinned_by(*overtaken, counted);
    if (pinned <= most_pinned_) continue;
    if (const auto values = overtaken->values.lock()) oldest_sent_ = std::max(oldest_sent_, values->version + 1);
    return;
  }
}

std::uint64_t Hub::oldest_sent() const {
  const std::lock_guard lock(mutex_);
  return oldest_sent_;
}

void Hub::wake_all() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams.assign(streams_.begin(), streams_.end());
  }
  for (const auto& stream : streams) stream->wake();
}

void Hub::loop() {
  auto tick = std::chrono::steady_clock::now() + kTick;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    work_.wait_until(lock, tick, [&] { return stopping_ || pending_ || changed_ || !replaced_.empty(); });
    const std::unique_ptr<Published> pending = std::move(pending_);
    const std::uint64_t version = version_;
    const bool changed = std::exchange(changed_, false);
    const std::vector<Replaced> replaced = std::exchange(replaced_, {});
    const bool due = std::chrono::steady_clock::now() >= tick;
    lock.unlock();
    for (const Replaced& which : replaced) {
      end_streams(which, {ErrorCode::kAborted, "another process has connected as " + which.name});
    }
    if (pending) take(std::move(*pending), version);
    if (changed) {
      const std::lock_guard calling(callback_mutex_);
      if (callback_) callback_();
    }
    if (due) {
      tick = std::chrono::steady_clock::now() + kTick;
      if (const auto tended = authority_->tend(); !tended) {
        log_.error("the authority of agents cannot be renewed", {{"reason", tended.error().text}});
      }
      wake_all();
    }
    lock.lock();
  }
}

bool Hub::add(std::shared_ptr<Stream> stream) {
  const std::lock_guard lock(mutex_);
  if (streams_.size() >= kMaxStreams) return false;
  std::size_t& own = streams_of_[stream->name()];
  if (own >= kMaxStreamsOfOne) return false;
  ++own;
  stream->order_ = ++last_order_;
  streams_.insert(std::move(stream));
  return true;
}

void Hub::remove(const Stream& stream) {
  std::shared_ptr<Stream> last;  // let go of without the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(streams_, &stream, &std::shared_ptr<Stream>::get);
  if (found == streams_.end()) return;
  last = *found;
  streams_.erase(found);
  const auto own = streams_of_.find(stream.name());
  if (--own->second == 0) streams_of_.erase(own);
}

void Hub::end_streams(const Replaced& which, const Error& why) {
  std::vector<std::shared_ptr<Stream>> ending;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) {
      if (stream->name() == which.name && stream->order() < which.before) ending.push_back(stream);
    }
  }
  for (const auto& stream : ending) stream->end(why);
}

// Not at once: whoever calls holds the lock of his own stream, and two of one name would wait for each other.
void Hub::end_older(const Stream& stream) {
  {
    const std::lock_guard lock(mutex_);
    replaced_.push_back({stream.name(), stream.order()});
  }
  work_.notify_one();
}

Status Hub::revoke(const std::string& name) {
  if (Status status = authority_->revoke(name); !status) return status;
  log_.info("an agent's certificates are revoked", {{"agent", name}});
  end_streams({name, UINT64_MAX}, {ErrorCode::kUnauthenticated, "the certificate of " + name + " is revoked"});
  return {};
}

void Hub::changed() {
  {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  work_.notify_one();
}

void Hub::on_change(std::function<void()> callback) {
  const std::lock_guard calling(callback_mutex_);
  callback_ = std::move(callback);
}

void Hub::log_refusal(const std::string& peer, const std::string& reason) {
  unsigned before = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto time = std::chrono::steady_clock::now();
    if (time - refusals_from_ >= std::chrono::seconds(1)) {
      refusals_from_ = time;
      before = std::exchange(refusals_, 0);
    }
    if (++refusals_ > kRefusalsASecond) return;
  }
  if (before > kRefusalsASecond) {
    log_.warn("more were refused than told", {{"count", std::to_string(before - kRefusalsASecond)}});
  }
  log_.warn("a call is refused", {{"from", peer}, {"reason", reason}});
}

}  // namespace edge::controller
