#include "controller/distribute/hub.h"

#include <algorithm>
#include <future>
#include <memory>
#include <random>

#include "base/resource_id.h"
#include "controller/distribute/values_feed.h"

namespace edge::controller {
namespace {

/// How often what depends on the clock is looked at.
constexpr auto kTick = std::chrono::seconds(1);
/// How long a command waits for what it has revoked to be known elsewhere.
constexpr auto kSharing = std::chrono::seconds(10);
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
      wanted_(options.wanted),
      progress_(options.progress),
      group_label_(options.group_label),
      group_came_(options.group_came),
      share_revoked_(options.share_revoked),
      knows_revoked_(options.knows_revoked),
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

std::uint64_t Hub::publish(Published published) {
  Pending replaced;  // let go of without the lock
  std::uint64_t version = 0;
  {
    const std::lock_guard lock(mutex_);
    version = ++version_;
    Group& to = groups_[published.group];
    if (published.values) {
      to.values_version = version_;
      replaced.values = std::exchange(to.pending.values, std::move(published.values));
      to.pending.values_version = version_;
      to.pending.lacks_secrets = published.lacks_secrets;
    }
    if (published.program != nullptr) {
      replaced.program = std::exchange(to.pending.program, std::move(published.program));
      to.pending.program_version = {.version = version_, .values = to.values_version};
    }
    if (to.pending.has_something()) pending_.insert(std::move(published.group));
  }
  work_.notify_one();
  return version;
}

Hub::Announced Hub::announced() const {
  const std::lock_guard lock(mutex_);
  Announced announced;
  for (const auto& [name, group] : groups_) {
    announced.by_group.emplace(name, group.values_version);
    announced.newest = std::max(announced.newest, group.values_version);
  }
  return announced;
}

Result<Hub::Membership> Hub::enter_group(const AgentState& agent) {
  const auto label = agent.labels.find(group_label_);
  return enter({.label = label == agent.labels.end() ? std::string() : label->second, .node = agent.node});
}

Result<Hub::Membership> Hub::enter_group(const std::string& group) {
  if (!is_label_value(group) || group.empty()) {
    return Error{ErrorCode::kInvalidArgument, "a group's name is that of a label's value"};
  }
  return enter({.label = group});
}

Result<Hub::Membership> Hub::enter(Membership membership) {
  {
    const std::lock_guard lock(mutex_);
    std::string& name = membership.group;
    name = group_of(membership);
    if (name != kDefaultGroup && !groups_.contains(name) && groups_.size() >= kMaxGroups) {
      return Error{ErrorCode::kResourceExhausted,
                   "agents are in more than " + std::to_string(kMaxGroups) + " groups: " + name + " is one too many"};
    }
    if (std::exchange(groups_[name].entered, true)) return membership;
    groups_entered_.push_back(name);
  }
  work_.notify_one();
  return membership;
}

/// Under the lock. Who starts an agent says it nearer than who labels its node.
std::string Hub::group_of(const Membership& membership) const {
  if (!membership.label.empty()) return membership.label;
  const auto node = node_groups_.find(membership.node);
  return node == node_groups_.end() ? std::string(kDefaultGroup) : node->second;
}

bool Hub::is_moved(const Membership& membership) const {
  const std::lock_guard lock(mutex_);
  return group_of(membership) != membership.group;
}

void Hub::set_node_group(const std::string& node, std::string group) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = node_groups_.find(node);
    if (group.empty()) {
      if (known == node_groups_.end()) return;
      node_groups_.erase(known);
    } else {
      if (known != node_groups_.end() && known->second == group) return;
      node_groups_[node] = std::move(group);
    }
    nodes_changed_ = true;
  }
  work_.notify_one();
}

Hub::Current Hub::current(std::string_view group) const {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(group);
  if (found == groups_.end()) return {};
  const Current& current = found->second.current;
  return current.program && current.values ? current : Current();
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
void Hub::leave_out_large(const std::string& group, program::ValueSet& values) {
  std::set<std::string>& before = large_[group];
  std::set<std::string> large;
  for (auto& secret : values.secrets) {
    const auto is_large = [](const auto& value) { return value.value->size() > ValuesFeed::kMaxValueBytes; };
    if (std::ranges::none_of(secret->values, is_large)) continue;
    program::NamedSecret small = *secret;
    std::erase_if(small.values, is_large);
    std::string name = secret->name_space + "/" + secret->name;
    if (!before.contains(name)) log_.warn("a value larger than 8 MiB is not sent to agents", {{"secret", name}});
    large.insert(std::move(name));
    secret = std::make_shared<const program::NamedSecret>(std::move(small));
  }
  before = std::move(large);
}

void Hub::take(const std::string& group, Pending pending) {
  Current next;
  if (pending.program != nullptr) {
    auto made = Publication::make(std::move(pending.program), pending.program_version);
    if (!made) return log_.error("the program is not sent to agents", {{"reason", made.error().text}});
    next.program = std::move(*made);
  }
  if (pending.values) {
    leave_out_large(group, *pending.values);
    const std::size_t bytes = program::bytes_of(*pending.values);
    next.values = std::make_shared<const Values>(
        Values{pending.values_version, *std::move(pending.values), bytes, pending.lacks_secrets});
    registry_.published_values(group, pending.values_version);
  }
  {
    const std::lock_guard lock(mutex_);
    Group& to = groups_[group];
    if (next.program) {
      registry_.published_program(group, program::to_hex(next.program->outline().program));
      remember(to, *next.program);
      to.current.program.swap(next.program);
      if (next.program) overtaken_.push_back({.program = next.program});
    }
    if (next.values) {
      to.current.values.swap(next.values);
      if (next.values) overtaken_.push_back({.values = next.values});
    }
  }
  next = {};
  let_go_of_old();
  wake_all();
}

/// Under the lock. A program that was published before, and is again, stands once.
void Hub::remember(const Group& group, const Publication& publication) {
  const program::Hash& program = publication.outline().program;
  const auto& before = group.current.program;
  if (before && before->outline().program == program) return;
  std::erase_if(outlines_, [&](const auto& known) { return known->program == program; });
  outlines_.push_back(publication.shared_outline());
  if (outlines_.size() > kRememberedOutlines * groups_.size()) outlines_.pop_front();
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
  for (const auto& [name, group] : groups_) {
    if (group.current.program) counted.insert(group.current.program->bytes().get());
    if (!group.current.values) continue;
    for (const auto& backend : group.current.values->set.backends) counted.insert(backend.get());
    for (const auto& secret : group.current.values->set.secrets) {
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

/// What came since the last time. \returns without the lock.
void Hub::do_changes(std::unique_lock<std::mutex>& lock) {
  std::vector<std::pair<std::string, Pending>> pending;
  for (const std::string& name : pending_) pending.emplace_back(name, std::exchange(groups_[name].pending, {}));
  pending_.clear();
  const bool changed = std::exchange(changed_, false);
  const bool addresses = std::exchange(addresses_changed_, false);
  const bool nodes = std::exchange(nodes_changed_, false);
  const std::vector<Replaced> replaced = std::exchange(replaced_, {});
  const std::vector<std::string> entered = std::exchange(groups_entered_, {});
  lock.unlock();
  for (const Replaced& which : replaced) {
    end_streams(which, {ErrorCode::kAborted, "another process has connected as " + which.name});
  }
  for (const std::string& name : entered) {
    if (group_came_) group_came_(name);
  }
  for (auto& [name, what] : pending) take(name, std::move(what));
  if (addresses || nodes) wake_all();
  if (!changed) return;
  const std::lock_guard calling(callback_mutex_);
  if (callback_) callback_();
}

void Hub::loop() {
  auto tick = std::chrono::steady_clock::now() + kTick;
  std::string reported;  // why the authority could not be renewed at the last tick
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    work_.wait_until(lock, tick, [&] {
      return stopping_ || !pending_.empty() || changed_ || addresses_changed_ || nodes_changed_ || !replaced_.empty() ||
             !groups_entered_.empty();
    });
    do_changes(lock);
    if (std::chrono::steady_clock::now() >= tick) {
      tick = std::chrono::steady_clock::now() + kTick;
      const auto tended = authority_->tend();
      std::string fault = tended ? std::string() : tended.error().text;
      if (!fault.empty() && fault != reported) {
        log_.error("the agents' certificate authority cannot be renewed", {{"reason", fault}});
      }
      reported = std::move(fault);
      wake_all();
    }
    lock.lock();
  }
}

void Hub::publish_addresses(std::shared_ptr<const VirtualAddresses> addresses) {
  {
    const std::lock_guard lock(mutex_);
    addresses_.set = std::move(addresses);
    ++addresses_.version;
    addresses_changed_ = true;
  }
  work_.notify_one();
}

CurrentAddresses Hub::current_addresses() const {
  const std::lock_guard lock(mutex_);
  return addresses_.set == nullptr ? CurrentAddresses() : addresses_;
}

std::pair<std::uint64_t, std::uint64_t> Hub::address_versions() const {
  const std::lock_guard lock(mutex_);
  return {addresses_.version, addresses_.labels_version};
}

void Hub::publish_links(std::shared_ptr<const std::vector<SiteLinks>> sites) {
  {
    const std::lock_guard lock(mutex_);
    links_.sites = std::move(sites);
    ++links_.version;
    addresses_changed_ = true;
  }
  work_.notify_one();
}

CurrentLinks Hub::current_links() const {
  const std::lock_guard lock(mutex_);
  return links_;
}

std::pair<std::uint64_t, std::uint64_t> Hub::link_versions() const {
  const std::lock_guard lock(mutex_);
  return {links_.version, addresses_.labels_version};
}

void Hub::set_node_labels(const std::string& node, Labels labels) {
  {
    const std::lock_guard lock(mutex_);
    if (labels.empty()) {
      if (node_labels_.erase(node) == 0) return;
    } else {
      node_labels_[node] = std::move(labels);
    }
    ++addresses_.labels_version;
    nodes_changed_ = true;
  }
  work_.notify_one();
}

Labels Hub::node_labels(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = node_labels_.find(node);
  return found == node_labels_.end() ? Labels() : found->second;
}

void Hub::note_member(const std::string& name, const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    auto& members = addresses_.members;
    const auto found = members.find(name);
    if (address.empty() || (found != members.end() && found->second == address)) return;
    if (found == members.end() && members.size() >= AgentRegistry::kMaxAgents) return;
    members[name] = address;
    ++addresses_.version;
    addresses_changed_ = true;
  }
  work_.notify_one();
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
  if (const std::string cluster(split_cluster(name).cluster); !cluster.empty()) {
    return Error{ErrorCode::kFailedPrecondition, "the relay of " + cluster + " has issued the certificate of " + name +
                                                     ", and alone can refuse it; edgectl cluster revoke " + cluster +
                                                     " refuses the whole site"};
  }
  if (Status status = authority_->revoke(name); !status) return status;
  log_.info("an agent's certificates are revoked", {{"agent", name}});
  end_streams({name, UINT64_MAX}, {ErrorCode::kUnauthenticated, "the certificate of " + name + " is revoked"});
  if (!share_revoked_) return {};
  const auto done = std::make_shared<std::promise<Status>>();
  auto shared = done->get_future();
  share_revoked_([done](Status status) { done->set_value(std::move(status)); });
  Status status = Error{ErrorCode::kDeadlineExceeded, "the API does not answer"};
  if (shared.wait_for(kSharing) == std::future_status::ready) status = shared.get();
  if (status) return {};
  return Error{ErrorCode::kUnavailable, name +
                                            " is revoked at this controller; the others do not know it yet, and are "
                                            "told as soon as that can be done: " +
                                            status.error().text};
}

void Hub::share_revoked() const {
  if (share_revoked_) share_revoked_({});
}

void Hub::changed() {
  {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  work_.notify_one();
}

void Hub::want(std::vector<WantedName> names, std::span<const std::string> groups) const {
  if (!wanted_ || names.empty()) return;
  std::vector<std::shared_ptr<const Values>> given;
  for (const std::string& group : groups) {
    if (auto values = current(group).values) given.push_back(std::move(values));
  }
  std::erase_if(names, [&given](const WantedName& one) {
    return std::ranges::none_of(given, [&one](const auto& values) { return is_on_demand(values->set, one); });
  });
  if (!names.empty()) wanted_(std::move(names));
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
    log_.warn("further refusals were not logged", {{"count", std::to_string(before - kRefusalsASecond)}});
  }
  log_.warn("a call is refused", {{"from", peer}, {"reason", reason}});
}

}  // namespace edge::controller
