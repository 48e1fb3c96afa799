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
  Pending replaced;  // let go of without the lock
  {
    const std::lock_guard lock(mutex_);
    ++version_;
    if (published.values) {
      values_version_ = version_;
      replaced.values = std::exchange(pending_.values, std::move(published.values));
      pending_.values_version = version_;
    }
    if (published.program != nullptr) {
      replaced.program = std::exchange(pending_.program, std::move(published.program));
      pending_.program_version = {.version = version_, .values = values_version_};
    }
  }
  work_.notify_one();
}

std::uint64_t Hub::announced() const {
  const std::lock_guard lock(mutex_);
  return values_version_;
}

Hub::Current Hub::current() const {
  const std::lock_guard lock(mutex_);
  return current_.program && current_.values ? current_ : Current();
}

std::shared_ptr<const Outline> Hub::outline(std::string_view hash) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(outlines_, [&](const auto& known) {
    return hash.size() == known->program.size() &&
           std::equal(known->program.begin(), known->program.end(), reinterpret_cast<const std::uint8_t*>(hash.data()));
  });
  return found == outlines_.end() ? nullptr : *found;
}

/// A value that no message carries is left out: what needs it is denied at the agents, and the operator is told.
void Hub::leave_out_large(program::ValueSet& values) {
  std::set<std::string> large;
  for (auto& secret : values.secrets) {
    const auto is_large = [](const auto& value) { return value.value->size() > ValuesFeed::kMaxValueBytes; };
    if (std::ranges::none_of(secret->values, is_large)) continue;
    program::NamedSecret small = *secret;
    std::erase_if(small.values, is_large);
    std::string name = secret->name_space + "/" + secret->name;
    if (!large_.contains(name)) log_.warn("a value larger than 8 MiB is not sent to agents", {{"secret", name}});
    large.insert(std::move(name));
    secret = std::make_shared<const program::NamedSecret>(std::move(small));
  }
  large_ = std::move(large);
}

void Hub::take(Pending pending) {
  Current next;
  if (pending.program != nullptr) {
    auto made = Publication::make(std::move(pending.program), pending.program_version);
    if (!made) return log_.error("the program is given to no agent", {{"reason", made.error().text}});
    next.program = std::move(*made);
  }
  if (pending.values) {
    leave_out_large(*pending.values);
    const std::size_t bytes = program::bytes_of(*pending.values);
    next.values = std::make_shared<const Values>(Values{pending.values_version, *std::move(pending.values), bytes});
    registry_.published(pending.values_version);
  }
  {
    const std::lock_guard lock(mutex_);
    if (next.program) {
      remember(*next.program);
      current_.program.swap(next.program);
      if (next.program) overtaken_.push_back({.program = next.program});
    }
    if (next.values) {
      current_.values.swap(next.values);
      if (next.values) overtaken_.push_back({.values = next.values});
    }
  }
  next = {};
  let_go_of_old();
  wake_all();
}

/// Under the lock. A program that was published before, and is again, stands once.
void Hub::remember(const Publication& publication) {
  const program::Hash& program = publication.outline().program;
  if (current_.program && current_.program->outline().program == program) return;
  std::erase_if(outlines_, [&](const auto& known) { return known->program == program; });
  outlines_.push_back(publication.shared_outline());
  if (outlines_.size() > kRememberedOutlines) outlines_.pop_front();
}

/// Bytes that are there for it alone: a program that is published again has its bytes once, and so have backends and
/// secrets that did not change.
std::size_t Hub::pinned_by(const Overtaken& overtaken, std::set<const void*>& counted) {
  const auto first = [&](const auto& shared) { return counted.insert(shared.get()).second; };
  if (const auto program = overtaken.program.lock()) return first(program->bytes()) ? program->bytes()->size() : 0;
  const auto values = overtaken.values.lock();
  if (!values) return 0;
  std::size_t bytes = 0;
  for (const auto& backend : values->set.backends) {
    bytes += sizeof backend;
    if (first(backend)) bytes += sizeof *backend + backend->endpoints.size() * sizeof(program::Endpoint);
  }
  for (const auto& secret : values->set.secrets) {
    bytes += sizeof secret;
    for (const auto& value : secret->values) {
      if (first(value.value)) bytes += value.value->size();
    }
  }
  return bytes;
}

/// Of what slow agents pin the newest stays, as much as there is room for.
void Hub::let_go_of_old() {
  const std::lock_guard lock(mutex_);
  std::erase_if(overtaken_, [](const Overtaken& overtaken) { return overtaken.is_gone(); });
  std::size_t at_most = 0;
  for (const Overtaken& overtaken : overtaken_) {
    if (const auto program = overtaken.program.lock()) at_most += program->bytes()->size();
    if (const auto values = overtaken.values.lock()) at_most += values->bytes;
  }
  if (at_most <= most_pinned_) return;
  std::set<const void*> counted;
  if (current_.program) counted.insert(current_.program->bytes().get());
  if (current_.values) {
    for (const auto& backend : current_.values->set.backends) counted.insert(backend.get());
    for (const auto& secret : current_.values->set.secrets) {
      for (const auto& value : secret->values) counted.insert(value.value.get());
    }
  }
  std::size_t pinned = 0;
  for (auto overtaken = overtaken_.rbegin(); overtaken != overtaken_.rend(); ++overtaken) {
    pinned += pinned_by(*overtaken, counted);
    if (pinned <= most_pinned_) continue;
    const auto program = overtaken->program.lock();
    const auto values = overtaken->values.lock();
    const std::uint64_t version = program ? program->version().version : values ? values->version : 0;
    oldest_sent_ = std::max(oldest_sent_, version + 1);
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
    work_.wait_until(lock, tick,
                     [&] { return stopping_ || pending_.has_something() || changed_ || !replaced_.empty(); });
    Pending pending = std::exchange(pending_, {});
    const bool changed = std::exchange(changed_, false);
    const std::vector<Replaced> replaced = std::exchange(replaced_, {});
    const bool due = std::chrono::steady_clock::now() >= tick;
    lock.unlock();
    for (const Replaced& which : replaced) {
      end_streams(which, {ErrorCode::kAborted, "another process has connected as " + which.name});
    }
    if (pending.has_something()) take(std::move(pending));
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
