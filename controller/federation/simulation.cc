#include "controller/federation/simulation.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "base/hash.h"
#include "controller/federation/replica.h"
#include "controller/federation/session.h"
#include "controller/federation/state.h"

namespace edge::federation {
namespace {

constexpr std::int64_t kDay = 86'400'000;
constexpr std::int64_t kBegin = 1'700'000'000'000;
constexpr std::size_t kObjects = 3;
constexpr std::size_t kReordered = 4;

/// A signature of 64 bytes that only the same texts give: Ed25519 would take most of the time, and is tested elsewhere.
std::string quick_signature(std::string_view cluster, std::string_view domain, std::string_view message) {
  std::string text;
  for (const std::string_view part : {cluster, domain, message}) {
    text += part;
    text += '\0';
  }
  std::string signature = std::to_string(hash_bytes(0x5eed, text));
  signature.resize(64, '.');
  return signature;
}

Signatures signatures_of(const std::string& cluster) {
  return {.sign = [cluster](std::string_view domain, std::string_view message) -> Result<std::string> {
            return quick_signature(cluster, domain, message);
          },
          .verify = [](const std::string& author, std::string_view domain, std::string_view message,
                       std::string_view signature) { return quick_signature(author, domain, message) == signature; }};
}

ObjectKey key_of(std::uint64_t choice) { return {"ProxyRoute", "shop", "route-" + std::to_string(choice % kObjects)}; }

/// Takes choices out of one number, so that an event says all of them.
class Choices {
 public:
  explicit Choices(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t below(std::uint64_t limit) {
    const std::uint64_t chosen = bits_ % limit;
    bits_ = hash_mix(bits_ + 1, 0x9e3779b97f4a7c15);
    return chosen;
  }

 private:
  std::uint64_t bits_;
};

struct Node {
  std::string cluster;
  std::unique_ptr<Replica> replica;
  std::int64_t skew = 0;
  std::string backup{};
  std::set<Dot> knows{};  ///< of which it has ever had
  std::set<Dot> knew_at_backup{};
};

struct Direction {
  std::unique_ptr<Session> session;  ///< of the side that sends
  std::deque<std::string> frames;
};

struct Link {
  std::size_t a = 0;
  std::size_t b = 0;
  bool up = false;
  bool suspended = false;
  bool removed = false;
  std::array<Direction, 2> ways{};
  std::size_t side(std::size_t way) const { return way == 0 ? a : b; }
};

/// What the checks know of a version, apart from the code under test.
struct Truth {
  VersionPtr version;
  std::set<Dot> past;    ///< with itself
  bool by_list = false;  ///< written as a whole list did not have what it replaces
  bool lost = false;     ///< with the disk of its cluster
};

class World {
 public:
  explicit World(std::uint64_t seed) {
    Choices choices(seed * 2 + 1);
    const std::size_t clusters = 3 + choices.below(3);
    star_ = clusters > 3 || choices.below(2) == 0;
    rules_.policy = static_cast<ConflictPolicy>(choices.below(3));
    rules_.hub = name_of(0);
    for (std::size_t i = 0; i < clusters; ++i) {
      nodes_.push_back({.cluster = name_of(i), .replica = nullptr});
      nodes_[i].replica = std::make_unique<Replica>(name_of(i), rules_, signatures_of(name_of(i)));
      start(i);
    }
    for (std::size_t i = 0; i < clusters; ++i) {
      for (std::size_t j = i + 1; j < clusters; ++j) {
        if (star_ && i != 0) continue;
        links_.push_back({.a = i, .b = j});
        set_peers(links_.back());
      }
    }
  }

  SimulationResult run(const Schedule& schedule) {
    for (const SimulatedEvent& event : schedule.events) {
      if (!result_.failure.empty()) return result_;
      now_ += 1000;
      apply(event);
    }
    if (result_.failure.empty()) heal();
    if (result_.failure.empty()) check();
    return result_;
  }

 private:
  static std::string name_of(std::size_t i) { return "cluster-" + std::string(1, static_cast<char>('a' + i)); }
  std::int64_t time_at(const Node& node) const { return now_ + node.skew; }
  void fail(const std::string& what) {
    if (result_.failure.empty()) result_.failure = what;
  }

  PeerSettings settings(std::size_t peer, bool suspended) const {
    return {.name = name_of(peer), .hub = star_ && peer == 0, .suspended = suspended};
  }
  void set_peers(const Link& link) {
    for (const auto& [own, other] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
      // Only the hub suspends, and forgets.
      const bool suspends = own == link.a;
      if (link.removed && suspends) continue;
      nodes_[own].replica->set_peer(name_of(other), settings(other, link.suspended && suspends));
    }
  }
  void start(std::size_t i) {
    Node& node = nodes_[i];
    node.replica->begin_life(time_at(node), hash_mix(++starts_, 0x51ed));
    for (std::size_t j = 0; j < 5; ++j) node.replica->add_member({.cluster = name_of(j)});
  }

  void apply(const SimulatedEvent& event) {
    Choices choices(event.choice);
    using Kind = SimulatedEvent::Kind;
    switch (event.kind) {
      case Kind::kWrite:
      case Kind::kRemove:
      case Kind::kResolve:
        change(event.kind, choices);
        break;
      case Kind::kDeliver:
        for (std::uint64_t i = 1 + choices.below(8); i > 0; --i) deliver(links_[choices.below(links_.size())], choices);
        break;
      case Kind::kConnect:
        connect(links_[choices.below(links_.size())]);
        break;
      case Kind::kPartition:
        disconnect(links_[choices.below(links_.size())]);
        break;
      case Kind::kCrash:
        crash(choices.below(nodes_.size()));
        break;
      case Kind::kBackup:
        back_up(choices.below(nodes_.size()));
        break;
      case Kind::kRestore:
        restore(choices.below(nodes_.size()));
        break;
      case Kind::kSkew:
        nodes_[choices.below(nodes_.size())].skew = (static_cast<std::int64_t>(choices.below(21)) - 10) * kDay;
        break;
      case Kind::kCompare:
        compare(links_[choices.below(links_.size())]);
        break;
      case Kind::kSuspend:
        suspend(links_[choices.below(links_.size())]);
        break;
      case Kind::kCollect:
        collect(nodes_[choices.below(nodes_.size())]);
        break;
      case Kind::kForget:
        forget(links_[choices.below(links_.size())]);
        break;
    }
  }

  void change(SimulatedEvent::Kind kind, Choices& choices) {
    Node& node = nodes_[choices.below(nodes_.size())];
    const ObjectKey key = key_of(choices.below(kObjects));
    std::vector<VersionPtr> over;
    if (const auto* siblings = node.replica->siblings(key)) {
      over.push_back(siblings->front().version);
      if (kind == SimulatedEvent::Kind::kResolve) {
        if (siblings->size() < 2) return;
        over.clear();
        for (const HeldVersion& held : *siblings) over.push_back(held.version);
      }
    } else if (kind != SimulatedEvent::Kind::kWrite) {
      return;
    }
    Result<VersionPtr> written = Error{ErrorCode::kInternal, ""};
    if (kind == SimulatedEvent::Kind::kWrite) {
      written = node.replica->write(key, std::to_string(++contents_), time_at(node));
    } else if (kind == SimulatedEvent::Kind::kRemove) {
      if (node.replica->winner(key) == nullptr) return;
      written = node.replica->remove(key, time_at(node));
    } else {
      written = node.replica->resolve(key, over[choices.below(over.size())]->dot, time_at(node));
    }
    if (!written) return fail("a change failed: " + written.error().text);
    if (node.replica->siblings(key)->front().version != *written) return fail("a write over the winner does not win");
    Truth truth{.version = *written, .past = {(*written)->dot}};
    for (const VersionPtr& version : over) {
      const auto& before = truths_.at(version->dot).past;
      truth.past.insert(before.begin(), before.end());
    }
    truths_[(*written)->dot] = std::move(truth);
    ++result_.writes;
    after(node);
    send(node);
  }

  /// What a step of a session did to the state: versions that it wrote by itself, and what they took away.
  void after(Node& node) {
    for (const auto& [key, siblings] : node.replica->objects()) {
      for (const HeldVersion& held : siblings) {
        node.knows.insert(held.version->dot);
        if (truths_.contains(held.version->dot)) continue;
        Truth truth{.version = held.version, .past = {held.version->dot}, .by_list = true};
        for (const auto& [dot, other] : truths_) {
          if (other.version->key == key && held.version->past.contains(dot) && dot != held.version->dot) {
            truth.past.insert(dot);
          }
        }
        ++result_.retired;
        truths_[held.version->dot] = std::move(truth);
      }
    }
  }

  void send(Node& node) {
    for (Link& link : links_) {
      for (std::size_t way = 0; way < 2; ++way) {
        if (link.up && &nodes_[link.side(way)] == &node) flush(link, way);
      }
    }
  }
  void flush(Link& link, std::size_t way) {
    Direction& direction = link.ways[way];
    for (const Frame& frame : direction.session->take(time_at(nodes_[link.side(way)]))) {
      direction.frames.push_back(encode(frame));
    }
  }

  bool deliver(Link& link, Choices& choices, bool in_order = false) {
    if (!link.up) return false;
    const std::size_t first = in_order ? 0 : choices.below(2);
    for (const std::size_t way : {first, 1 - first}) {
      auto& frames = link.ways[way].frames;
      if (frames.empty()) continue;
      const std::size_t at = in_order ? 0 : choices.below(std::min(frames.size(), kReordered));
      const std::string bytes = frames[at];
      const bool again = !in_order && choices.below(8) == 0;
      if (!again) frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(at));
      receive(link, 1 - way, bytes, !in_order && choices.below(64) == 0);
      return true;
    }
    return false;
  }

  /// `crashes`: after the step, and before it was persisted or anything was sent.
  void receive(Link& link, std::size_t way, const std::string& bytes, bool crashes) {
    Node& node = nodes_[link.side(way)];
    auto frame = decode_frame(bytes);
    if (!frame) return fail("a frame cannot be read: " + frame.error().text);
    const std::string before = crashes ? encode_state(*node.replica) : std::string();
    const Status status = link.ways[way].session->receive(std::move(*frame), time_at(node));
    if (!status) return fail("a session ended: " + status.error().text);
    if (crashes) return restart(link.side(way), before);
    after(node);
    check_retired(node);
    result_.collected += node.replica->collect();
    send(node);
  }

  /// Versions written by a session take away only what somebody had replaced.
  void check_retired(const Node& node) {
    for (const auto& [key, siblings] : node.replica->objects()) {
      for (const HeldVersion& held : siblings) {
        const Truth& truth = truths_.at(held.version->dot);
        if (!truth.by_list) continue;
        for (const Dot& dot : truth.past) {
          const Version& before = *truths_.at(dot).version;
          // The winner is written again, as it stands; and a deletion is over where a cluster was suspended that had
          // changed the object meanwhile (decision 0271).
          if (dot == held.version->dot || before.deleted || agree(before, *held.version)) continue;
          const bool replaced = std::ranges::any_of(truths_, [&](const auto& other) {
            return !other.second.by_list && other.first != dot && other.second.past.contains(dot);
          });
          if (!replaced && !truths_.at(dot).by_list && !truths_.at(dot).lost) {
            return fail(node.cluster + " removed what nobody had replaced: " + describe(dot));
          }
        }
      }
    }
  }

  void connect(Link& link) {
    if (link.up || link.suspended || link.removed) return;
    link.up = true;
    for (std::size_t way = 0; way < 2; ++way) {
      Node& node = nodes_[link.side(way)];
      link.ways[way].frames.clear();
      link.ways[way].session =
          std::make_unique<Session>(*node.replica, name_of(link.side(1 - way)), SessionOptions{}, time_at(node));
      flush(link, way);
    }
  }
  void disconnect(Link& link) {
    link.up = false;
    for (Direction& direction : link.ways) {
      direction.session.reset();
      direction.frames.clear();
    }
  }
  void disconnect_all_of(std::size_t i) {
    for (Link& link : links_) {
      if (link.a == i || link.b == i) disconnect(link);
    }
  }
  void compare(Link& link) {
    if (!link.up) return;
    for (std::size_t way = 0; way < 2; ++way) {
      link.ways[way].session->compare_now();
      flush(link, way);
    }
  }

  void crash(std::size_t i) { restart(i, encode_state(*nodes_[i].replica)); }
  void restart(std::size_t i, const std::string& state) {
    disconnect_all_of(i);
    auto loaded = decode_state(state, name_of(i), rules_, signatures_of(name_of(i)));
    if (!loaded) return fail("a state cannot be read: " + loaded.error().text);
    nodes_[i].replica = std::make_unique<Replica>(std::move(*loaded));
    start(i);
    for (const Link& link : links_) {
      if (link.a == i || link.b == i) set_peers(link);
    }
  }
  void back_up(std::size_t i) {
    nodes_[i].backup = encode_state(*nodes_[i].replica);
    nodes_[i].knew_at_backup = nodes_[i].knows;
  }

  /// One disaster at a time: while a cluster compares after one, what only it knows is nowhere else yet.
  bool is_whole() const {
    for (const Link& link : links_) {
      if (link.removed || link.suspended) return false;
      for (const auto& [own, other] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
        const auto& peers = nodes_[own].replica->peers();
        const auto peer = peers.find(name_of(other));
        if (peer == peers.end() || peer->second.removed || peer->second.stale) return false;
      }
    }
    if (!recovering_) return true;
    return std::ranges::all_of(links_, [&](const Link& link) {
      if (link.a != *recovering_ && link.b != *recovering_) return true;
      return link.up && std::ranges::all_of(link.ways, [](const Direction& way) {
               const SessionFacts facts = way.session->facts();
               return facts.greeted && !facts.comparing && facts.lag == 0;
             });
    });
  }

  void restore(std::size_t i) {
    Node& node = nodes_[i];
    if (node.backup.empty() || !is_whole()) return;
    recovering_ = i;
    ++result_.restores;
    node.knows = node.knew_at_backup;
    for (auto& [dot, truth] : truths_) {
      truth.lost = truth.lost || std::ranges::none_of(nodes_, [&](const Node& n) { return n.knows.contains(dot); });
    }
    restart(i, node.backup);
  }

  void suspend(Link& link) {
    if (link.suspended) {
      link.suspended = false;
      set_peers(link);
      return;
    }
    if (recovering_ && !is_whole()) return;
    recovering_.reset();
    disconnect(link);
    link.suspended = true;
    set_peers(link);
  }
  void forget(Link& link) {
    if (link.removed) {
      link.removed = false;
      set_peers(link);
      return;
    }
    if (recovering_ && !is_whole()) return;
    recovering_.reset();
    disconnect(link);
    link.removed = true;
    nodes_[link.a].replica->remove_peer(name_of(link.b));
  }
  void collect(Node& node) { result_.collected += node.replica->collect(); }

  void heal() {
    for (Link& link : links_) {
      link.suspended = link.removed = false;
      set_peers(link);
      connect(link);
    }
    for (int round = 0; round < 6 && result_.failure.empty(); ++round) {
      drain();
      now_ += 1000;
      for (Link& link : links_) compare(link);
      drain();
      for (Node& node : nodes_) collect(node);
    }
  }
  void drain() {
    Choices choices(1);
    for (std::size_t steps = 0; result_.failure.empty(); ++steps) {
      bool moved = false;
      for (Link& link : links_) {
        connect(link);
        moved |= deliver(link, choices, true);
      }
      if (!moved) return;
      if (steps > 20'000) return fail("the clusters never come to rest");
    }
  }

  std::string describe(const Dot& dot) const {
    const Version& version = *truths_.at(dot).version;
    return version.key.name + " of " + dot.replica.cluster + " number " + std::to_string(dot.counter) +
           (version.deleted ? " (deletion)" : " (" + version.content + ")");
  }

  std::string describe(const std::set<Dot>& dots) const {
    std::string text;
    for (const Dot& dot : dots) text += (text.empty() ? "" : ", ") + describe(dot);
    return text.empty() ? "nothing" : text;
  }

  static std::set<Dot> dots_of(const Replica& replica, const ObjectKey& key) {
    std::set<Dot> dots;
    if (replica.winner(key) == nullptr && replica.siblings(key) == nullptr) return dots;
    for (const HeldVersion& held : *replica.siblings(key)) dots.insert(held.version->dot);
    return dots;
  }

  void check() {
    for (std::size_t i = 0; i < kObjects; ++i) check(key_of(i));
    for (const Node& node : nodes_) {
      if (node.replica->counts().tombstones > 0) fail(node.cluster + " never collects a deletion");
    }
    result_.conflicts = nodes_.front().replica->counts().conflicts;
  }

  void check(const ObjectKey& key) {
    const Replica& first = *nodes_.front().replica;
    const std::set<Dot> held = dots_of(first, key);
    for (const Node& node : nodes_) {
      if (const std::set<Dot> other = dots_of(*node.replica, key); other != held) {
        return fail(key.name + " differs at " + node.cluster + ": " + describe(other) + ", not " + describe(held));
      }
      const VersionPtr a = first.winner(key);
      const VersionPtr b = node.replica->winner(key);
      if ((a == nullptr) != (b == nullptr) || (a != nullptr && (a->dot != b->dot || a->content != b->content))) {
        return fail(key.name + " has another winner at " + node.cluster);
      }
    }
    for (const auto& entry : truths_) {
      const Dot& dot = entry.first;
      const Truth& truth = entry.second;
      if (truth.version->key != key || truth.lost) continue;
      const bool replaced = std::ranges::any_of(
          truths_, [&](const auto& other) { return other.first != dot && other.second.past.contains(dot); });
      if (!replaced && !truth.version->deleted && !held.contains(dot)) return fail("a write is lost: " + describe(dot));
      const bool gone = std::ranges::any_of(truths_, [&](const auto& other) {
        return other.first != dot && !other.second.lost && other.second.past.contains(dot);
      });
      if (gone && held.contains(dot)) return fail("what was replaced is there again: " + describe(dot));
    }
    check_order(key, held);
  }

  /// The same versions in another order give the same.
  void check_order(const ObjectKey& key, const std::set<Dot>& held) {
    std::vector<VersionPtr> versions;
    for (const Dot& dot : held) versions.push_back(truths_.at(dot).version);
    for (const auto& entry : truths_) {
      const bool replaced_by_held = std::ranges::any_of(
          held, [&](const Dot& by) { return by != entry.first && truths_.at(by).past.contains(entry.first); });
      if (entry.second.version->key == key && replaced_by_held) versions.push_back(entry.second.version);
    }
    std::mt19937_64 random(versions.size());
    for (int round = 0; round < 2; ++round) {
      std::ranges::shuffle(versions, random);
      Siblings siblings;
      for (const VersionPtr& version : versions) merge(siblings, version, rules_);
      std::set<Dot> merged;
      for (const VersionPtr& version : siblings) merged.insert(version->dot);
      if (merged != held) return fail("another order gives another result for " + key.name);
      const auto* have = nodes_.front().replica->siblings(key);
      if (have != nullptr && siblings.front()->dot != have->front().version->dot) {
        return fail("another order gives another winner for " + key.name);
      }
    }
  }

  bool star_ = true;
  MergeRules rules_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::map<Dot, Truth> truths_;
  std::int64_t now_ = kBegin;
  std::uint64_t starts_ = 0;
  std::uint64_t contents_ = 0;
  std::optional<std::size_t> recovering_;
  SimulationResult result_;
};

constexpr std::array<std::string_view, 14> kNames = {"write",     "remove",  "resolve", "deliver", "connect",
                                                     "partition", "crash",   "backup",  "restore", "skew",
                                                     "compare",   "suspend", "collect", "forget"};
/// How often each kind comes.
constexpr std::array<unsigned, 14> kShares = {20, 7, 3, 40, 14, 6, 2, 3, 3, 2, 3, 1, 3, 1};

}  // namespace

Schedule random_schedule(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Schedule schedule{.seed = seed, .events = {}};
  std::discrete_distribution<unsigned> kinds(kShares.begin(), kShares.end());
  const std::size_t length = 20 + random() % 100;
  for (std::size_t i = 0; i < length; ++i) {
    schedule.events.push_back({static_cast<SimulatedEvent::Kind>(kinds(random)), random()});
  }
  return schedule;
}

SimulationResult simulate(const Schedule& schedule) { return World(schedule.seed).run(schedule); }

Schedule shortened(Schedule schedule) {
  for (std::size_t piece = schedule.events.size() / 2; piece > 0; piece /= 2) {
    for (std::size_t at = 0; at < schedule.events.size();) {
      Schedule without = schedule;
      const auto first = without.events.begin() + static_cast<std::ptrdiff_t>(at);
      without.events.erase(first, first + static_cast<std::ptrdiff_t>(std::min(piece, without.events.size() - at)));
      if (simulate(without).failure.empty()) {
        at += piece;
      } else {
        schedule = std::move(without);
      }
    }
  }
  return schedule;
}

std::string text_of(const Schedule& schedule) {
  std::string text = "seed " + std::to_string(schedule.seed) + '\n';
  for (const SimulatedEvent& event : schedule.events) {
    text += std::string(kNames[static_cast<std::size_t>(event.kind)]) + ' ' + std::to_string(event.choice) + '\n';
  }
  return text;
}

}  // namespace edge::federation
