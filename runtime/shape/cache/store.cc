#include "runtime/shape/cache/store.h"

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/hash.h"

namespace edge::runtime::cache {
namespace {

constexpr std::size_t kMaxShards = 16;
/// A shard has room for some of the largest entries, or a few of them would drive out everything else.
constexpr std::size_t kEntriesAShard = 8;
/// The small queue's part of a shard.
constexpr std::size_t kSmallPart = 10;
constexpr std::uint8_t kMaxUses = 3;
/// What a ghost costs: a hash in a queue and in a table.
constexpr std::size_t kGhostBytes = 64;

}  // namespace

class Store::Shard {
 public:
  /// What has to be destroyed after the lock is given back.
  using Dropped = std::vector<std::shared_ptr<const Entry>>;

  explicit Shard(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Found find(std::uint64_t hash, const Key& key, const net::http1::HeadFields& request) {
    const std::lock_guard lock(mutex_);
    Found found;
    Node* best = nullptr;
    const auto chain = index_.find(hash);
    if (chain == index_.end()) return found;
    for (Node& node : chain->second) {
      if (node.entry->key != key) continue;
      if (!selects(node.entry->selection, request)) {
        found.sibling = node.entry;
      } else if (best == nullptr || node.entry->date > best->entry->date) {
        best = &node;
      }
    }
    if (best == nullptr) return found;
    if (best->uses < kMaxUses) ++best->uses;
    found.entry = best->entry;
    return found;
  }

  bool insert(std::uint64_t hash, std::shared_ptr<const Entry> entry, Dropped& dropped) {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = entry->bytes();
    if (bytes > max_bytes_ / 2) return false;
    remove_where(
        hash, [&](const Entry& other) { return other.key == entry->key && other.selection == entry->selection; },
        dropped);
    Chain& chain = index_[hash];
    if (chain.size() >= kMaxVariants) drop(hash, chain.begin(), dropped);
    add(hash, std::move(entry), bytes, forget_ghost(hash) ? Queue::kMain : Queue::kSmall);
    make_room(dropped);
    return true;
  }

  void replace(std::uint64_t hash, const Entry& entry, std::shared_ptr<const Entry> renewed, Dropped& dropped) {
    const std::lock_guard lock(mutex_);
    const auto chain = index_.find(hash);
    if (chain == index_.end()) return;
    for (Node& node : chain->second) {
      if (node.entry.get() != &entry) continue;
      dropped.push_back(std::move(node.entry));
      bytes_ -= node.bytes;
      queue_bytes(node.queue) -= node.bytes;
      node.entry = std::move(renewed);
      node.bytes = node.entry->bytes();
      bytes_ += node.bytes;
      queue_bytes(node.queue) += node.bytes;
      break;
    }
    make_room(dropped);
  }

  template <typename Chosen>
  std::size_t erase(std::uint64_t hash, const Chosen& chosen, Dropped& dropped) {
    const std::lock_guard lock(mutex_);
    return remove_where(hash, chosen, dropped);
  }

  std::size_t erase_if(const std::function<bool(const Entry&)>& chosen, Dropped& dropped) {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> hashes;
    hashes.reserve(index_.size());
    for (const auto& [hash, chain] : index_) hashes.push_back(hash);
    std::size_t removed = 0;
    for (const std::uint64_t hash : hashes) removed += remove_where(hash, chosen, dropped);
    return removed;
  }

  void add_to(StoreStats& stats) const {
    const std::lock_guard lock(mutex_);
    stats.entries += entries_;
    stats.bytes += bytes_ + ghost_order_.size() * kGhostBytes;
    stats.evictions += evictions_;
  }

 private:
  enum class Queue : std::uint8_t { kSmall, kMain };
  struct Node;
  using Chain = std::list<Node>;
  /// A place in a queue, oldest first.
  struct Waiting {
    std::uint64_t hash;
    Chain::iterator node;
  };
  using Line = std::list<Waiting>;
  struct Node {
    std::shared_ptr<const Entry> entry;
    std::size_t bytes = 0;
    Line::iterator position;
    Queue queue = Queue::kSmall;
    std::uint8_t uses = 0;
  };

  Line& line(Queue queue) { return lines_[static_cast<std::size_t>(queue)]; }
  std::size_t& queue_bytes(Queue queue) { return line_bytes_[static_cast<std::size_t>(queue)]; }

  void add(std::uint64_t hash, std::shared_ptr<const Entry> entry, std::size_t bytes, Queue queue) {
    Chain& chain = index_[hash];
    const auto node = chain.insert(chain.end(), Node{std::move(entry), bytes, {}, queue, 0});
    node->position = line(queue).insert(line(queue).end(), {hash, node});
    queue_bytes(queue) += bytes;
    bytes_ += bytes;
    ++entries_;
  }

  void drop(std::uint64_t hash, Chain::iterator node, Dropped& dropped) {
    line(node->queue).erase(node->position);
    queue_bytes(node->queue) -= node->bytes;
    bytes_ -= node->bytes;
    --entries_;
    dropped.push_back(std::move(node->entry));
    const auto chain = index_.find(hash);
    chain->second.erase(node);
    if (chain->second.empty()) index_.erase(chain);
  }

  template <typename Chosen>
  std::size_t remove_where(std::uint64_t hash, const Chosen& chosen, Dropped& dropped) {
    const auto found = index_.find(hash);
    if (found == index_.end()) return 0;
    std::size_t removed = 0;
    std::size_t left = found->second.size();
    for (auto node = found->second.begin(); left != 0; --left) {
      const auto next = std::next(node);
      if (chosen(*node->entry)) {
        drop(hash, node, dropped);
        ++removed;
      }
      node = next;
    }
    return removed;
  }

  void make_room(Dropped& dropped) {
    while (bytes_ + ghost_order_.size() * kGhostBytes > max_bytes_ && entries_ != 0) {
      const bool from_small = line(Queue::kMain).empty() ||
                              (!line(Queue::kSmall).empty() && queue_bytes(Queue::kSmall) > max_bytes_ / kSmallPart);
      from_small ? evict_small(dropped) : evict_main(dropped);
      // Ghosts remember as many as are there, and give way themselves.
      while (ghost_order_.size() > entries_) forget_oldest_ghost();
    }
  }

  // Asked for since it came: it stays. Else only its hash is remembered: who comes back soon goes to the main queue.
  void evict_small(Dropped& dropped) {
    const Waiting oldest = line(Queue::kSmall).front();
    Node& node = *oldest.node;
    if (node.uses == 0) {
      drop(oldest.hash, oldest.node, dropped);
      remember_ghost(oldest.hash);
      ++evictions_;
      return;
    }
    node.uses = 0;
    node.queue = Queue::kMain;
    line(Queue::kMain).splice(line(Queue::kMain).end(), line(Queue::kSmall), node.position);
    queue_bytes(Queue::kSmall) -= node.bytes;
    queue_bytes(Queue::kMain) += node.bytes;
  }

  void evict_main(Dropped& dropped) {
    const Waiting oldest = line(Queue::kMain).front();
    if (oldest.node->uses == 0) {
      drop(oldest.hash, oldest.node, dropped);
      ++evictions_;
      return;
    }
    --oldest.node->uses;
    line(Queue::kMain).splice(line(Queue::kMain).end(), line(Queue::kMain), oldest.node->position);
  }

  void remember_ghost(std::uint64_t hash) {
    ghost_order_.push_back({hash, ++ghost_clock_});
    ghosts_[hash] = ghost_clock_;
  }
  bool forget_ghost(std::uint64_t hash) { return ghosts_.erase(hash) != 0; }
  void forget_oldest_ghost() {
    // An order that is not the ghost's latest was left behind when the ghost came back.
    const auto [hash, clock] = ghost_order_.front();
    ghost_order_.pop_front();
    const auto ghost = ghosts_.find(hash);
    if (ghost != ghosts_.end() && ghost->second == clock) ghosts_.erase(ghost);
  }

  mutable std::mutex mutex_;
  std::size_t max_bytes_;
  std::unordered_map<std::uint64_t, Chain> index_;
  std::array<Line, 2> lines_;
  std::array<std::size_t, 2> line_bytes_{};
  std::size_t bytes_ = 0;
  std::size_t entries_ = 0;
  std::uint64_t evictions_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> ghosts_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> ghost_order_;
  std::uint64_t ghost_clock_ = 0;
};

Store::Store(std::size_t max_bytes, std::size_t max_entry_bytes, std::uint64_t seed) : seed_(seed) {
  const std::size_t fitting = max_bytes / std::max<std::size_t>(1, max_entry_bytes * kEntriesAShard);
  const std::size_t count = std::clamp<std::size_t>(fitting, 1, kMaxShards);
  for (std::size_t i = 0; i < count; ++i) shards_.push_back(std::make_unique<Shard>(max_bytes / count));
}

Store::~Store() = default;

std::uint64_t Store::hash_of(std::string_view target) const { return hash_bytes(seed_, target); }

// The upper bits: the tables inside use the lower ones.
Store::Shard& Store::shard_of(std::uint64_t hash) const { return *shards_[(hash >> 32) % shards_.size()]; }

Store::Found Store::find(const Key& key, const net::http1::HeadFields& request) {
  const std::uint64_t hash = hash_of(key.target);
  return shard_of(hash).find(hash, key, request);
}

bool Store::insert(std::shared_ptr<const Entry> entry) {
  Shard::Dropped dropped;
  const std::uint64_t hash = hash_of(entry->key.target);
  return shard_of(hash).insert(hash, std::move(entry), dropped);
}

void Store::replace(const Entry& entry, std::shared_ptr<const Entry> renewed) {
  Shard::Dropped dropped;
  const std::uint64_t hash = hash_of(entry.key.target);
  shard_of(hash).replace(hash, entry, std::move(renewed), dropped);
}

void Store::erase(const Entry& entry) {
  Shard::Dropped dropped;
  const std::uint64_t hash = hash_of(entry.key.target);
  shard_of(hash).erase(hash, [&](const Entry& other) { return &other == &entry; }, dropped);
}

std::size_t Store::erase_target(std::string_view target) {
  Shard::Dropped dropped;
  const std::uint64_t hash = hash_of(target);
  return shard_of(hash).erase(hash, [&](const Entry& entry) { return entry.key.target == target; }, dropped);
}

std::size_t Store::erase_if(const std::function<bool(const Entry&)>& chosen) {
  std::size_t removed = 0;
  for (const auto& shard : shards_) {
    Shard::Dropped dropped;
    removed += shard->erase_if(chosen, dropped);
  }
  return removed;
}

StoreStats Store::stats() const {
  StoreStats stats;
  for (const auto& shard : shards_) shard->add_to(stats);
  return stats;
}

}  // namespace edge::runtime::cache
