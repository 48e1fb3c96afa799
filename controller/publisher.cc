#include "controller/publisher.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "program/read.h"

namespace edge::controller {
namespace {

/// Between two programs on disk, for the next start.
constexpr auto kBetweenStores = std::chrono::seconds(1);
/// Between two entries of the history. What is replaced sooner is not kept for itself: its cause goes with the next.
constexpr auto kBetweenEntries = std::chrono::seconds(1);
/// Numbers of programs that agents may still run.
constexpr std::size_t kMaxNumbers = 4096;

/// Today's endpoints, and for what there is none of any more those of then.
program::EndpointSet united(const program::EndpointSet& today, const program::EndpointSet& then) {
  program::EndpointSet both;
  std::ranges::set_union(today.backends, then.backends, std::back_inserter(both.backends), {},
                         &program::BackendEndpoints::backend_id, &program::BackendEndpoints::backend_id);
  return both;
}

/// What the pinned program is given of today's secrets: an agent has no use for those that it does not name.
program::SecretSet secrets_of(const PastProgram& past, const program::SecretSet& today) {
  const auto view = program::read(past.program, nullptr, program::Databases::kHashWhenSearched);
  // What is no program is given to nobody, and has no secrets.
  if (!view) return {};
  return program::named_by(view->listeners().view, view->backends().view, view->policies().view, today);
}

}  // namespace

bool listens(const std::shared_ptr<const std::vector<std::byte>>& program) {
  const auto view = program::read(program, nullptr, program::Databases::kHashWhenSearched);
  return view && view->listeners().view.header<program::ListenersHeader>().binds.count != 0;
}

Publisher::Publisher(const DataDir& data, History& history, std::function<void(Published)> publish, Logger log)
    : data_(data), history_(history), publish_(std::move(publish)), log_(std::move(log)), saver_([this] {
        save_all();
      }) {}

Publisher::~Publisher() {
  {
    const std::lock_guard lock(saving_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  saver_.join();
}

void Publisher::restore() {
  const std::lock_guard lock(mutex_);
  if (auto last = data_.last()) {
    if (const auto view = program::read(last->program)) {
      newest_hash_ = program::to_hex(view->hash());
      newest_ = std::move(*last);
    } else {
      log_.error("the last program is not given out: " + view.error().text);
    }
  } else if (last.error().code != ErrorCode::kNotFound) {
    log_.error("the last program is not given out: " + last.error().text);
  }
  pinned_hash_ = history_.pinned();
  if (!pinned_hash_.empty()) {
    auto past = history_.find(pinned_hash_);
    if (past) {
      pinned_ = std::move(*past);
      log_.info("a rollback holds agents to the program " + pinned_hash_);
    } else {
      log_.error("the pinned program cannot be read: " + past.error().text);
      pinned_hash_.clear();
    }
  }
  if (pinned_) publish_locked("the run before");
}

bool Publisher::last_listens() const {
  const std::lock_guard lock(mutex_);
  return newest_.program != nullptr && listens(newest_.program);
}

void Publisher::give_out_last() {
  const std::lock_guard lock(mutex_);
  if (!fresh_ && !pinned_) publish_locked("the run before");
}

void Publisher::publish_locked(const std::string& cause) {
  Published published;
  published.program = pinned_ ? pinned_->program : newest_.program;
  published.endpoints = pinned_ ? united(newest_.endpoints, pinned_->endpoints) : newest_.endpoints;
  published.secrets = pinned_ ? secrets_of(*pinned_, newest_.secrets) : newest_.secrets;
  published.cause = cause;
  if (published.program != nullptr) publish_(std::move(published));
}

void Publisher::take(const Reconciled& result) {
  const std::string hash = program::to_hex(result.hash);
  {
    const std::lock_guard lock(mutex_);
    newest_ = {result.program, result.endpoints, result.secrets};
    newest_hash_ = hash;
    fresh_ = true;
    if (numbers_.size() >= kMaxNumbers) numbers_.clear();
    numbers_[hash] = result.number;
    publish_locked(result.cause.line());
  }
  {
    const std::lock_guard lock(saving_mutex_);
    if (!unsaved_) unsaved_.emplace();
    unsaved_->stored = {result.program, result.endpoints, result.secrets};
    unsaved_->hash = hash;
    unsaved_->at = std::chrono::system_clock::now();
    unsaved_->program |= result.program_changed;
    if (result.program_changed) unsaved_->cause.add(result.cause);
  }
  wake_.notify_all();
}

void Publisher::save_all() {
  using Clock = std::chrono::steady_clock;
  std::optional<UnsavedProgram> for_history;
  Clock::time_point next = Clock::now();
  std::unique_lock lock(saving_mutex_);
  for (;;) {
    const auto something = [this] { return stopping_ || unsaved_; };
    if (for_history) {
      wake_.wait_until(lock, next, something);
    } else {
      wake_.wait(lock, something);
    }
    auto fresh = std::exchange(unsaved_, std::nullopt);
    const bool stores = fresh.has_value();
    const bool ending = stopping_;
    lock.unlock();
    if (stores) {
      store(*fresh);
      if (for_history && fresh->program) fresh->cause.add(for_history->cause);
      if (fresh->program) for_history = std::move(fresh);
    }
    if (for_history && (ending || Clock::now() >= next)) {
      remember(*for_history);
      for_history.reset();
      next = Clock::now() + kBetweenEntries;
    }
    lock.lock();
    if (stopping_ && !unsaved_ && !for_history) return;
    // Of a storm the disk gets the newest, once a second.
    if (stores) wake_.wait_until(lock, Clock::now() + kBetweenStores, [this] { return stopping_; });
  }
}

void Publisher::store(const UnsavedProgram& program) const {
  if (Status status = data_.store(program.stored); !status) {
    log_.error("the program could not be stored: " + status.error().text);
  }
}

void Publisher::remember(const UnsavedProgram& program) {
  const PastProgram past{program.stored.program, program.stored.endpoints};
  if (Status status = history_.add(program.hash, past, program.cause, program.at); !status) {
    log_.warn("the history could not be written: " + status.error().text);
  }
}

std::vector<HistoryEntry> Publisher::list() const {
  std::vector<HistoryEntry> entries = history_.list();
  const std::lock_guard lock(mutex_);
  const std::string& serving = pinned_ ? pinned_hash_ : newest_hash_;
  for (HistoryEntry& entry : entries) entry.serving = entry.program == serving;
  return entries;
}

Status Publisher::rollback(const std::string& program) {
  const std::lock_guard pinning(pinning_mutex_);
  auto past = history_.find(program);
  if (!past) return past.error();
  const auto hash = history_.pin(program);
  if (!hash) return hash.error();
  const std::lock_guard lock(mutex_);
  pinned_ = std::move(*past);
  pinned_hash_ = *hash;
  publish_locked("rollback to " + *hash);
  log_.info("rolled back to the program " + *hash + "; changes are compiled and wait until it is released");
  return {};
}

Status Publisher::release() {
  const std::lock_guard pinning(pinning_mutex_);
  if (Status status = history_.release(); !status) return status;
  const std::lock_guard lock(mutex_);
  if (!pinned_) return {};
  pinned_.reset();
  pinned_hash_.clear();
  publish_locked("the rollback was released");
  log_.info("the rollback was released");
  return {};
}

std::shared_ptr<const std::vector<std::byte>> Publisher::bytes(const std::string& program) const {
  {
    const std::lock_guard lock(mutex_);
    if (program == newest_hash_) return newest_.program;
  }
  auto past = history_.find(program);
  return past ? past->program : nullptr;
}

std::uint64_t Publisher::number(const std::string& program) const {
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(program);
  return found == numbers_.end() ? 0 : found->second;
}

std::string Publisher::pinned() const {
  const std::lock_guard lock(mutex_);
  return pinned_hash_;
}

bool Publisher::has_program() const {
  const std::lock_guard lock(mutex_);
  return newest_.program != nullptr;
}

}  // namespace edge::controller
