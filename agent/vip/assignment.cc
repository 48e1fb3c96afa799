#include "agent/vip/assignment.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace edge::agent::vip {
namespace {

/// A node that is not heard for so long is forgotten, with the number of its last word.
constexpr Time kForget = std::chrono::minutes(10);
constexpr std::size_t kMaxPeers = 4096;

const AddressWord* word_of(const std::vector<AddressWord>& words, std::uint64_t id) {
  const auto found = std::ranges::lower_bound(words, id, {}, &AddressWord::id);
  return found != words.end() && found->id == id ? &*found : nullptr;
}

Serves serves_in(const std::vector<AddressWord>& words, std::uint64_t id) {
  const AddressWord* const word = word_of(words, id);
  return word == nullptr ? Serves::kNone : word->serves;
}

bool has_offers(const std::vector<AddressWord>& words) {
  return std::ranges::any_of(words, [](const AddressWord& word) { return !word.offered_to.empty(); });
}

/// Of two that hold one address in one epoch the one that keeps it.
bool beats(std::uint64_t id, std::string_view node, std::string_view other) {
  return std::pair(rendezvous(id, node), node) > std::pair(rendezvous(id, other), other);
}

}  // namespace

std::uint64_t rendezvous(std::uint64_t id, std::string_view node) { return hash_bytes(hash_mix(id, ~id), node); }

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kVacant:
      return "Vacant";
    case Cause::kNodeLost:
      return "NodeLost";
    case Cause::kOffered:
      return "Offered";
    case Cause::kTaken:
      return "Taken";
    case Cause::kUnfit:
      return "Unfit";
    case Cause::kTooFew:
      return "TooFewNodes";
    case Cause::kRemoved:
      return "Removed";
    case Cause::kStopped:
      return "Stopped";
  }
  return "Unknown";
}

Assignment::Assignment(std::string node, std::uint64_t instance, Time now)
    : node_(std::move(node)), instance_(instance), began_(now), last_step_(now) {}

void Assignment::set_rules(std::vector<Rule> rules) {
  rules_ = std::move(rules);
  std::erase_if(serves_, [this](const auto& one) { return rule(one.first) == nullptr; });
}

void Assignment::set_serves(std::uint64_t id, Serves serves) {
  if (rule(id) != nullptr) serves_[id] = serves;
}

void Assignment::remember_epoch(std::uint64_t id, std::uint64_t epoch) {
  std::uint64_t& known = epochs_[id];
  known = std::max(known, epoch);
}

void Assignment::adopt(std::uint64_t id, std::uint64_t epoch) {
  held_[id] = {.epoch = epoch, .since = last_step_, .offered_to = {}};
  remember_epoch(id, epoch);
  began_ = last_step_ - kListen;
}

bool Assignment::yields_to_unheard(std::uint64_t id) const {
  std::size_t here = 1;
  const std::string* first = &node_;
  bool first_here = true;
  for (const auto& [name, peer] : peers_) {
    here += peer.live ? 1 : 0;
    if (!beats(id, name, *first)) continue;
    first = &name;
    first_here = peer.live;
  }
  const std::size_t all = peers_.size() + 1;
  return 2 * here < all || (2 * here == all && !first_here);
}

const Rule* Assignment::rule(std::uint64_t id) const {
  const auto found = std::ranges::lower_bound(rules_, id, {}, &Rule::id);
  return found != rules_.end() && found->id == id ? &*found : nullptr;
}

bool Assignment::hear(const Word& word, Time now) {
  if (word.node == node_ || word.node.empty()) return false;
  const auto found = peers_.find(word.node);
  if (found == peers_.end() && peers_.size() >= kMaxPeers) return false;
  Peer& peer = found == peers_.end() ? peers_[word.node] : found->second;
  const auto position = [](const Word& one) { return std::pair(one.instance, one.number); };
  if (found != peers_.end() && position(word) <= position(peer.word)) return false;
  if (!peer.live) peer.live_since = now;
  peer.live = true;
  peer.heard = now;
  peer.word = word;
  for (const AddressWord& address : word.addresses) {
    if (address.epoch == 0 || rule(address.id) == nullptr) continue;
    remember_epoch(address.id, address.epoch);
    last_holder_[address.id] = word.node;
  }
  return true;
}

/// A node that stood still may have been taken for dead. What it holds is not refreshed until every node that lives has
/// had the time to say that it has it.
void Assignment::note_gap(Time now) {
  if (now - last_step_ > kGap && !peers_.empty()) began_ = now;
  last_step_ = now;
  sure_ = now - began_ >= kListen;
}

void Assignment::expire(Time now) {
  for (auto it = peers_.begin(); it != peers_.end();) {
    Peer& peer = it->second;
    const Time silent = now - peer.heard;
    // As long as this node may have been standing still, its peers' silence means nothing.
    if (silent > kSilence && sure_) peer.live = false;
    it = silent > kForget ? peers_.erase(it) : std::next(it);
  }
}

void Assignment::drop(std::uint64_t id, Cause cause, const std::string& other, std::vector<Move>& moves) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  const bool planned = !other.empty() && found->second.offered_to == other;
  moves.push_back({id, false, found->second.epoch, cause, other, planned});
  held_.erase(found);
}

/// Others hold what this node holds: the higher epoch stays.
void Assignment::yield(std::vector<Move>& moves) {
  for (const auto& [name, peer] : peers_) {
    if (!peer.live) continue;
    for (const AddressWord& word : peer.word.addresses) {
      const auto own = held_.find(word.id);
      if (word.epoch == 0 || own == held_.end()) continue;
      const std::uint64_t epoch = own->second.epoch;
      if (word.epoch > epoch || (word.epoch == epoch && beats(word.id, name, node_))) {
        drop(word.id, Cause::kTaken, name, moves);
      }
    }
  }
}

std::vector<AddressWord> Assignment::own_words() const {
  std::vector<AddressWord> words;
  for (const Rule& rule : rules_) {
    const auto serves = serves_.find(rule.id);
    const auto held = held_.find(rule.id);
    AddressWord word{.id = rule.id, .offered_to = {}};
    if (serves != serves_.end()) word.serves = serves->second;
    if (held != held_.end()) {
      word.epoch = held->second.epoch;
      word.offered_to = held->second.offered_to;
      word.moved = held->second.moved;
    }
    if (word.serves != Serves::kNone || word.epoch != 0) words.push_back(std::move(word));
  }
  return words;
}

std::vector<Assignment::Node> Assignment::nodes(const std::vector<AddressWord>& own, Time now) const {
  std::vector<Node> all;
  const auto add = [&](const std::string& name, const std::vector<AddressWord>& addresses, bool drained, bool leaving,
                       Time since) {
    Node& node = all.emplace_back();
    node = {&name, &addresses, drained || leaving, leaving, now - since >= kStable, 0};
    for (const AddressWord& word : addresses) node.load += word.epoch != 0 && rule(word.id) != nullptr ? 1 : 0;
  };
  add(node_, own, drained_, leaving_, began_);
  for (const auto& [name, peer] : peers_) {
    if (peer.live) add(name, peer.word.addresses, peer.word.drained, peer.word.leaving, peer.live_since);
  }
  std::ranges::sort(all, {}, [](const Node& node) -> const std::string& { return *node.name; });
  return all;
}

/// Who is drained holds it where nobody else serves it; who leaves does not.
Assignment::Node* Assignment::choose(std::uint64_t id, std::vector<Node>& nodes, const std::string* but) const {
  std::vector<Node*> best;
  std::pair<bool, Serves> rank{false, Serves::kNone};
  for (Node& node : nodes) {
    const Serves serves = serves_in(*node.addresses, id);
    if (serves == Serves::kNone || node.leaving || (but != nullptr && *node.name == *but)) continue;
    const std::pair<bool, Serves> own{!node.drained, serves};
    if (own < rank) continue;
    if (own > rank) best.clear();
    rank = own;
    best.push_back(&node);
  }
  if (best.empty()) return nullptr;
  const auto shared = static_cast<std::size_t>(std::ranges::count(rules_, true, &Rule::shared));
  const std::size_t share = (rules_.size() - shared + best.size() - 1) / best.size();
  const auto less = [&](const Node* a, const Node* b) {
    const bool a_full = a->load >= share;
    const bool b_full = b->load >= share;
    if (a_full != b_full) return a_full;
    return beats(id, *b->name, *a->name);
  };
  return *std::ranges::max_element(best, less);
}

std::size_t Assignment::healthy_nodes(std::uint64_t id) const {
  const auto own = serves_.find(id);
  std::size_t count = own != serves_.end() && own->second != Serves::kNone && !drained_ && !leaving_ ? 1 : 0;
  for (const auto& [name, peer] : peers_) {
    const bool counts = peer.live && !peer.word.drained && !peer.word.leaving;
    if (counts && serves_in(peer.word.addresses, id) != Serves::kNone) ++count;
  }
  return count;
}

bool Assignment::enough(std::uint64_t id) const {
  const Rule* const of = rule(id);
  return of != nullptr && enough(*of);
}

bool Assignment::enough(const Rule& rule) const {
  return rule.min_healthy_nodes <= 1 || healthy_nodes(rule.id) >= rule.min_healthy_nodes;
}

void Assignment::let_go_unfit(std::vector<Move>& moves) {
  std::vector<std::pair<std::uint64_t, Cause>> unfit;
  for (const auto& [id, held] : held_) {
    const Rule* const of = rule(id);
    const auto serves = serves_.find(id);
    if (let_go_) {
      unfit.emplace_back(id, Cause::kStopped);
    } else if (of == nullptr || of->shared) {
      unfit.emplace_back(id, Cause::kRemoved);
    } else if (serves == serves_.end() || serves->second == Serves::kNone) {
      unfit.emplace_back(id, Cause::kUnfit);
    } else if (sure_ && !enough(*of)) {
      unfit.emplace_back(id, Cause::kTooFew);
    }
  }
  for (const auto& [id, cause] : unfit) drop(id, cause, {}, moves);
}

Held& Assignment::take_one(std::uint64_t id, Cause cause, const std::string& from, Time now, std::vector<Move>& moves) {
  const std::uint64_t epoch = epochs_[id] + 1;
  epochs_[id] = epoch;
  last_holder_[id] = node_;
  Held& held = held_[id];
  held = {.epoch = epoch, .since = now, .offered_to = {}};
  moves.push_back({id, true, epoch, cause, from, cause == Cause::kOffered});
  return held;
}

void Assignment::take(Time now, std::vector<Move>& moves) {
  if (!sure_ || leaving_) return;
  const std::vector<AddressWord> own = own_words();
  std::vector<Node> all = nodes(own, now);
  for (const Rule& rule : rules_) {
    if (rule.shared || held_.contains(rule.id)) continue;
    const Node* holder = nullptr;
    bool offered = false;
    bool moved = false;
    for (const Node& node : all) {
      const AddressWord* const word = word_of(*node.addresses, rule.id);
      if (word == nullptr || word->epoch == 0) continue;
      holder = &node;
      offered = word->offered_to == node_;
      moved = word->moved;
      if (!offered) break;
    }
    if (!enough(rule)) continue;
    if (holder != nullptr) {
      if (offered && serves_in(own, rule.id) != Serves::kNone) {
        take_one(rule.id, Cause::kOffered, *holder->name, now, moves).moved_here = moved;
      }
      continue;
    }
    Node* const chosen = choose(rule.id, all, nullptr);
    if (chosen == nullptr) continue;
    // Whoever is chosen counts as if he had it, so that the next ones go to others, on every node alike.
    ++chosen->load;
    if (*chosen->name != node_) continue;
    const auto last = last_holder_.find(rule.id);
    const bool lost = last != last_holder_.end() && last->second != node_;
    take_one(rule.id, lost ? Cause::kNodeLost : Cause::kVacant, lost ? last->second : std::string(), now, moves);
  }
}

bool Assignment::offer(std::uint64_t id, const std::string& to, Time now) {
  const auto held = held_.find(id);
  const auto peer = peers_.find(to);
  if (held == held_.end() || peer == peers_.end() || !peer->second.live || peer->second.word.leaving) return false;
  if (serves_in(peer->second.word.addresses, id) == Serves::kNone) return false;
  held->second.offered_to = to;
  held->second.offered_at = now;
  held->second.moved = true;
  return true;
}

/// What another node is to hold instead: all, when this one is drained; what another one serves better; and one at a
/// time, what this one has more of than others.
void Assignment::make_offers(Time now) {
  if (!sure_) return;
  const std::vector<AddressWord> own = own_words();
  std::vector<Node> all = nodes(own, now);
  bool offers = false;
  for (auto& [id, held] : held_) {
    const auto peer = peers_.find(held.offered_to);
    const bool over = peer == peers_.end() || !peer->second.live || now - held.offered_at > kOffer;
    if (!held.offered_to.empty() && over) {
      held.offered_to.clear();
      held.moved = false;
    }
    if (held.offered_to.empty()) {
      Node* const other = choose(id, all, &node_);
      const bool gives = drained_ || leaving_;
      const bool better =
          other != nullptr && !other->drained && other->stable && serves_in(*other->addresses, id) > serves_in(own, id);
      if (other != nullptr && ((gives && !other->drained) || better)) {
        held.offered_to = *other->name;
        held.offered_at = now;
        ++other->load;
      }
    }
    offers = offers || !held.offered_to.empty();
  }
  if (!offers && now - last_even_ >= kBetweenOffers) even_out(all, now);
}

/// What of this node's another one is to be given first; null: it serves nothing of it as well.
Held* Assignment::best_for(const Node& node) {
  Held* best = nullptr;
  std::uint64_t best_id = 0;
  for (auto& [id, held] : held_) {
    if (held.moved_here || serves_in(*node.addresses, id) < serves_[id]) continue;
    if (best != nullptr && rendezvous(id, *node.name) <= rendezvous(best_id, *node.name)) continue;
    best = &held;
    best_id = id;
  }
  return best;
}

void Assignment::even_out(std::vector<Node>& nodes, Time now) {
  // What others are about to give away would be counted twice, and what is to be taken not at all.
  if (std::ranges::any_of(nodes, [](const Node& node) { return has_offers(*node.addresses); })) return;
  const auto is_held = [&](const Rule& rule) {
    return rule.shared || held_.contains(rule.id) || !holder(rule.id).empty();
  };
  if (!std::ranges::all_of(rules_, is_held)) return;
  // One that serves nothing of what this node holds, as it is not chosen for it, has the fewest for ever.
  const Node* fewest = nullptr;
  Held* best = nullptr;
  for (const Node& node : nodes) {
    const bool takes = *node.name != node_ && !node.drained && node.stable && held_.size() >= node.load + 2;
    if (!takes || (fewest != nullptr && node.load >= fewest->load)) continue;
    Held* const one = best_for(node);
    if (one == nullptr) continue;
    fewest = &node;
    best = one;
  }
  if (best == nullptr) return;
  best->offered_to = *fewest->name;
  best->offered_at = now;
  last_even_ = now;
}

std::vector<Move> Assignment::step(Time now) {
  std::vector<Move> moves;
  note_gap(now);
  expire(now);
  yield(moves);
  let_go_unfit(moves);
  take(now, moves);
  make_offers(now);
  return moves;
}

Word Assignment::word() {
  return {.node = node_,
          .instance = instance_,
          .number = ++number_,
          .drained = drained_,
          .leaving = leaving_,
          .addresses = own_words()};
}

std::uint64_t Assignment::epoch(std::uint64_t id) const {
  const auto found = epochs_.find(id);
  return found == epochs_.end() ? 0 : found->second;
}

std::string Assignment::holder(std::uint64_t id) const {
  if (held_.contains(id)) return node_;
  std::string best;
  std::uint64_t epoch = 0;
  for (const auto& [name, peer] : peers_) {
    const AddressWord* const word = peer.live ? word_of(peer.word.addresses, id) : nullptr;
    if (word == nullptr || word->epoch <= epoch) continue;
    epoch = word->epoch;
    best = name;
  }
  return best;
}

std::string Assignment::successor(std::uint64_t id) const {
  const std::vector<AddressWord> own = own_words();
  std::vector<Node> all = nodes(own, last_step_);
  const std::string holds = holder(id);
  const Node* const chosen = choose(id, all, &holds);
  return chosen == nullptr ? std::string() : *chosen->name;
}

const AddressWord* Assignment::word_of_node(const std::string& node, std::uint64_t id) const {
  const auto peer = peers_.find(node);
  return peer == peers_.end() || !peer->second.live ? nullptr : word_of(peer->second.word.addresses, id);
}

std::vector<std::string> Assignment::live_nodes() const {
  std::vector<std::string> names = {node_};
  for (const auto& [name, peer] : peers_) {
    if (peer.live) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace edge::agent::vip
