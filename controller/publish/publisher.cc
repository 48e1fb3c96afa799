#include "controller/publish/publisher.h"

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
/// Between two tries to store what could not be stored, as on a full disk.
constexpr auto kBetweenTries = std::chrono::seconds(5);
/// How long the thread that stores waits for more. Longer than the pauses above, which do not outlive it.
constexpr auto kLinger = std::chrono::seconds(2);
/// Numbers of programs that agents may still run.
constexpr std::size_t kMaxNumbers = 4096;

/// What the pinned program is given of today's secrets: an agent has no use for those that it does not name.
program::ValueSet named_of(const PastProgram& past, program::ValueSet today) {
  const auto view = program::read(past.program, nullptr, program::Databases::kHashWhenSearched);
  // What is no program is given to nobody, and has no secrets.
  program::SecretSet named;
  if (view) {
    named = program::named_by(view->listeners().view, view->backends().view, view->policies().view,
                              program::secrets_of(today));
  }
  today.secrets = program::value_set({}, std::move(named)).secrets;
  return today;
}

}  // namespace

bool listens(const std::shared_ptr<const std::vector<std::byte>>& program) {
  const auto view = program::read(program, nullptr, program::Databases::kHashWhenSearched);
  return view && view->listeners().view.header<program::ListenersHeader>().binds.count != 0;
}

Publisher::Publisher(const DataDir& data, History& history, std::function<void(Published)> publish, Logger log)
    : data_(data), history_(history), publish_(std::move(publish)), log_(std::move(log)) {}

Publisher::~Publisher() {
  {
    const std::lock_guard lock(saving_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (saver_.joinable()) saver_.join();
}

void Publisher::restore() {
  const std::lock_guard lock(mutex_);
  if (auto last = data_.last()) {
    if (const auto view = program::read(last->program)) {
      newest_hash_ = program::to_hex(view->hash());
      newest_ = std::move(*last);
    } else {
      log_.error("the last program is not sent to agents: " + view.error().text);
    }
  } else if (last.error().code != ErrorCode::kNotFound) {
    log_.error("the last program is not sent to agents: " + last.error().text);
  }
  pinned_hash_ = history_.pinned();
  if (!pinned_hash_.empty()) {
    auto past = history_.find(pinned_hash_);
    if (past) {
      pinned_ = std::move(*past);
      log_.info("a rollback pins agents to the program " + pinned_hash_);
    } else {
      log_.error("the pinned program cannot be read: " + past.error().text);
      pinned_hash_.clear();
    }
  }
  if (pinned_) publish_locked(true, true);
}

bool Publisher::last_listens() const {
  const std::lock_guard lock(mutex_);
  return newest_.program != nullptr && listens(newest_.program);
}

void Publisher::give_out_last() {
  const std::lock_guard lock(mutex_);
  if (!fresh_ && !pinned_) publish_locked(true, true);
}

/// For a pinned program today's endpoints, and for what there is none of any more those of then.
program::ValueSet Publisher::values_locked() const {
  if (!pinned_) return newest_.values;
  return named_of(*pinned_, program::with_backends_of(newest_.values, program::value_set(pinned_->endpoints, {})));
}

void Publisher::publish_locked(bool program, bool values) {
  const auto& bytes = pinned_ ? pinned_->program : newest_.program;
  if (bytes == nullptr || (!program && !values)) return;
  Published published;
  if (program) published.program = bytes;
  if (values) published.values = values_locked();
  publish_(std::move(published));
}

void Publisher::take(const ReconcileResult& result) {
  const std::string hash = program::to_hex(result.hash);
  Unsaved unsaved;
  {
    const std::lock_guard lock(mutex_);
    if (result.program == nullptr && !fresh_) return;
    unsaved.program = result.program != nullptr && (!fresh_ || hash != newest_hash_);
    unsaved.values = !fresh_ || !(result.values == newest_.values);
    newest_.values = result.values;
    if (unsaved.program) {
      newest_.program = result.program;
      newest_hash_ = hash;
      fresh_ = true;
    }
    // It may have another number though it is the same: that of another group changed.
    if (result.program != nullptr) {
      if (numbers_.size() >= kMaxNumbers) numbers_.clear();
      numbers_[hash] = result.number;
    }
    unsaved.stored = newest_;
    // Agents are held to a pinned program: changes of others are for when it is released.
    publish_locked(unsaved.program && !pinned_, unsaved.values);
  }
  {
    const std::lock_guard lock(saving_mutex_);
    if (!unsaved_) unsaved_.emplace();
    unsaved_->stored = std::move(unsaved.stored);
    unsaved_->values |= unsaved.values;
    if (unsaved.program) {
      unsaved_->program = true;
      unsaved_->lacks_databases = result.lacks_databases;
      unsaved_->hash = hash;
      unsaved_->at = std::chrono::system_clock::now();
      unsaved_->cause.add(result.cause);
    }
    if (!std::exchange(saving_, true)) {
      if (saver_.joinable()) saver_.join();  // it has ended, or does so now
      saver_ = std::thread([this] { save_all(); });
    }
  }
  wake_.notify_all();
}

/// The thread ends when nothing came for a while: most of the time there is nothing to write.
void Publisher::save_all() {
  using Clock = std::chrono::steady_clock;
  std::optional<Unsaved> for_history;
  std::optional<StoredProgram> unstored;
  Owed owed;
  Clock::time_point next = Clock::now();
  Clock::time_point retry = Clock::now();
  std::unique_lock lock(saving_mutex_);
  for (;;) {
    const auto something = [this] { return stopping_ || unsaved_; };
    const bool remembers = for_history && !for_history->lacks_databases;
    if (remembers || unstored) {
      wake_.wait_until(lock, std::min(remembers ? next : retry, unstored ? retry : next), something);
    } else if (for_history) {
      wake_.wait(lock, something);
    } else if (!wake_.wait_for(lock, kLinger, something)) {
      saving_ = false;
      return;
    }
    auto fresh = std::exchange(unsaved_, std::nullopt);
    if (fresh) {
      owed.values |= fresh->values;
      owed.program |= fresh->program;
      unstored = fresh->stored;
    }
    const bool ending = stopping_;
    lock.unlock();
    if (unstored && (fresh || ending || Clock::now() >= retry)) {
      if (store(*unstored, owed)) unstored.reset();
      retry = Clock::now() + kBetweenTries;
    }
    const bool storm = fresh.has_value();
    if (fresh && fresh->program) {
      if (for_history) fresh->cause.add(for_history->cause);
      for_history = std::move(fresh);
    }
    if (for_history && (ending || (Clock::now() >= next && !for_history->lacks_databases))) {
      remember(*for_history);
      for_history.reset();
      next = Clock::now() + kBetweenEntries;
    }
    lock.lock();
    if (stopping_ && !unsaved_ && !for_history) return;
    // Of a storm the disk gets the newest, once a second.
    if (storm) wake_.wait_until(lock, Clock::now() + kBetweenStores, [this] { return stopping_; });
  }
}

/// Values first: a program never lies on disk beside older ones than it needs. \returns whether nothing is owed.
bool Publisher::store(const StoredProgram& stored, Owed& owed) const {
  const auto failed = [&](std::string fault) {
    if (owed.fault != fault) log_.error(fault);
    owed.fault = std::move(fault);
    return false;
  };
  if (owed.values) {
    if (Status status = data_.store_values(stored.values); !status) {
      return failed("endpoints and secrets could not be stored: " + status.error().text);
    }
    owed.values = false;
  }
  if (owed.program) {
    if (Status status = data_.store_program(*stored.program); !status) {
      return failed("the program could not be stored: " + status.error().text);
    }
    owed.program = false;
  }
  if (!owed.fault.empty()) log_.info("the program, endpoints and secrets are stored again");
  owed.fault.clear();
  return true;
}

void Publisher::remember(const Unsaved& program) {
  const PastProgram past{program.stored.program, program::endpoints_of(program.stored.values)};
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
  publish_locked(true, true);
  log_.info("rolled back to the program " + *hash + "; changes are compiled, and sent once it is released");
  return {};
}

Status Publisher::release() {
  const std::lock_guard pinning(pinning_mutex_);
  if (Status status = history_.release(); !status) return status;
  const std::lock_guard lock(mutex_);
  if (!pinned_) return {};
  pinned_.reset();
  pinned_hash_.clear();
  publish_locked(true, true);
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
