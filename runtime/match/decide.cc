#include "runtime/match/decide.h"

#include <array>
#include <bit>
#include <limits>

#include "program/evaluate/evaluate.h"
#include "program/evaluate/lookup.h"
#include "program/evaluate/path_table.h"
#include "runtime/match/scan.h"
#include "runtime/match/scratch.h"

namespace edge::runtime {
namespace {

using program::kNone;
using program::NameEntry;
using program::PathRecord;
using program::Target32;

/// A host name's keys: the hash of each suffix of labels, from the last label on. Computed on demand.
class NameKeys {
 public:
  explicit NameKeys(std::string_view name) : name_(name), open_(name.size()) {
    if (name.size() <= kScanBlock) dots_ = byte_mask(name.data(), name.size(), '.');
  }

  /// Finds the keys of up to `labels` labels. \returns how many of them there are.
  std::size_t find(std::size_t labels) {
    while (count_ < labels && !whole_ && count_ < kMaxLabels) add();
    return std::min(count_, labels);
  }
  /// Whether the last key found is that of the whole name.
  bool whole() const { return whole_; }
  std::size_t count() const { return count_; }
  std::uint64_t hash(std::size_t labels) const { return keys_[labels - 1].hash; }
  std::string_view suffix(std::size_t labels) const { return name_.substr(keys_[labels - 1].begin); }

 private:
  /// A canonical host has at most 255 bytes.
  static constexpr std::size_t kMaxLabels = 128;
  struct Key {
    std::uint64_t hash;
    std::size_t begin;
  };

  void add() {
    const std::size_t begin = last_label();
    hash_ = program::name_hash_step(hash_, {name_.data() + begin, open_ - begin});
    keys_[count_++] = {hash_, begin};
    whole_ = begin == 0;
    open_ = begin - 1;
  }

  /// Where the last label of the first `open_` bytes begins.
  std::size_t last_label() {
    if (name_.size() > kScanBlock) {
      std::size_t begin = open_;
      while (begin > 0 && name_[begin - 1] != '.') --begin;
      return begin;
    }
    const auto begin = static_cast<std::size_t>(std::bit_width(dots_));
    if (begin > 0) dots_ ^= std::uint64_t{1} << (begin - 1);
    return begin;
  }

  std::string_view name_;
  std::size_t open_;
  std::uint64_t dots_ = 0;  ///< of names that fit a block: the dots before `open_`
  std::uint64_t hash_ = program::kNameSeed;
  std::size_t count_ = 0;
  bool whole_ = false;
  std::array<Key, kMaxLabels> keys_;
};

const NameEntry* find_name(const NameLookup& table, std::uint64_t hash, std::string_view name) {
  for (std::uint32_t at = static_cast<std::uint32_t>(hash) & table.mask, left = table.mask;;
       at = (at + 1) & table.mask, --left) {
    const std::uint32_t slot = table.slots[at];
    if (slot == program::kFreeSlot) return nullptr;
    if (program::slot_may_match(slot, hash)) {
      const NameEntry& entry = table.entries[program::slot_entry(slot)];
      if (entry.name.size == name.size() &&
          same_bytes(reinterpret_cast<const char*>(table.section) + entry.name.offset, name.data(), name.size())) {
        return &entry;
      }
    }
    if (left == 0) return nullptr;
  }
}

/// Rule D2: the name itself, else the longest wildcard that covers it, else what is there for every name.
std::uint32_t most_specific(const NameLookup& table, NameKeys& keys, std::string_view name) {
  if (table.max_labels == 0 || name.empty()) return table.fallback;
  std::size_t labels = keys.find(table.max_labels);
  if (keys.whole() && labels == keys.count()) {
    if (const NameEntry* entry = find_name(table, keys.hash(labels), name); entry != nullptr && entry->exact != kNone) {
      return entry->exact;
    }
    --labels;  // a wildcard stands for at least one label
  }
  for (; labels > 0; --labels) {
    const NameEntry* entry = find_name(table, keys.hash(labels), keys.suffix(labels));
    if (entry != nullptr && entry->wildcard != kNone) return entry->wildcard;
  }
  return table.fallback;
}

/// A host whose paths are searched: the data that is needed first, and the rest.
struct Hosted {
  const HostPaths& paths;
  const LoadedHost& host;
};

/// Where a path with that hash stands in a host that has paths, if it does.
const PathRecord* place_of(const Hosted& in, std::uint64_t hash) {
  const HostPaths& paths = in.paths;
  const std::uint8_t displacement = paths.far ? in.host.far_displacements[program::path_bucket(hash, in.host.far_mask)]
                                              : paths.near[program::path_bucket(hash, paths.near_mask)];
  const std::size_t position = program::path_position(hash, displacement, paths.places);
  return reinterpret_cast<const PathRecord*>(paths.records + position * paths.width);
}

/// One of the texts by which a request's path is looked up.
struct PathKey {
  std::uint64_t hash;
  std::size_t size;
  const PathRecord* record;
};

/// A path's keys in one host: those of the path itself, and of its prefixes at the depths that the host's prefixes
/// have.
struct PathKeys {
  PathKeys(const Hosted& in, std::string_view path) {
    std::uint64_t hash = program::kPathSeed;
    std::size_t begin = 1;
    std::size_t block = 0;
    std::uint64_t wanted = in.paths.prefix_depths;
    do {
      const std::size_t size = std::min(path.size() - block, kScanBlock);
      std::uint64_t slashes = byte_mask(path.data() + block, size, '/');
      if (block == 0) slashes &= ~std::uint64_t{1};
      for (; slashes != 0; slashes &= slashes - 1) {
        const std::size_t end = block + static_cast<std::size_t>(std::countr_zero(slashes));
        hash = program::path_hash_step(hash, path.substr(begin, end - begin));
        prefixes[count].hash = hash;
        prefixes[count].size = end;
        count += wanted & 1;
        wanted >>= 1;
        begin = end + 1;
      }
      block += size;
    } while (block < path.size());
    hash = program::path_hash_step(hash, path.substr(begin));
    prefixes[count].hash = hash;
    prefixes[count].size = path.size();
    count += wanted & 1;
    // All places that may be looked at are asked for at once: one wait for memory instead of one a prefix.
    whole = {hash, path.size(), place_of(in, hash)};
    __builtin_prefetch(whole.record);
    for (std::size_t i = count; i-- > 0;) {
      prefixes[i].record = place_of(in, prefixes[i].hash);
      __builtin_prefetch(prefixes[i].record);
    }
  }

  PathKey whole;
  std::size_t count = 0;
  std::array<PathKey, program::kMaxPathDepth + 1> prefixes;  ///< one is written past the last that counts
};

bool holds(const Hosted& in, const PathRecord& record, const PathKey& key, std::string_view path) {
  const std::uint32_t room = in.paths.width - static_cast<std::uint32_t>(sizeof(PathRecord));
  if (record.key != program::path_key(key.hash, key.size, room)) return false;
  if (key.size <= room) return same_bytes(reinterpret_cast<const char*>(&record + 1), path.data(), key.size);
  return program::path_text(in.host.view, record) == path.substr(0, key.size);
}

const PathRecord* find_path(const Hosted& in, const PathKey& key, std::string_view path) {
  if (in.paths.ascends) [[unlikely]]
    return program::find_path(in.host.view, key.hash, path.substr(0, key.size));
  return holds(in, *key.record, key, path) ? key.record : nullptr;
}

}  // namespace

/// Matches one request against the hosts of one listener.
class Decider {
 public:
  Decider(const LoadedProgram& program, const program::RequestView& request, MatchScratch& scratch)
      : program_(program), request_(request), scratch_(*scratch.impl_) {}

  /// The action that wins in a host, kNone when none does.
  std::uint32_t run(const Hosted& in) {
    const LoadedHost& host = in.host;
    filled_ = false;
    const std::string_view path = request_.path;
    // `*`, of an OPTIONS request to the server as a whole, lies below no path.
    const bool below_root = !path.empty() && path.front() == '/';
    const std::uint32_t action = below_root ? run_paths(in, path) : reach(host, host.early_regex);
    if (action != kNone || faulty_) return action;
    if (const std::uint32_t late = reach(host, host.regex); late != kNone || faulty_) return late;
    return reach(host, host.any_path);
  }

  /// Whether the request could not be decided.
  bool faulty() const { return faulty_; }
  void count_fault() { ++scratch_.faults; }

 private:
  /// The exact path, then patterns of Gateway API and Ingress, then prefixes from the longest on (rule D1), last `/`.
  std::uint32_t run_paths(const Hosted& in, std::string_view path) {
    const LoadedHost& host = in.host;
    if (in.paths.places != 0) {
      const PathKeys keys(in, path);
      const PathRecord* const exact = find_path(in, keys.whole, path);
      if (exact != nullptr) {
        if (const std::uint32_t action = reach(host, exact->exact); action != kNone || faulty_) return action;
      }
      if (const std::uint32_t action = reach(host, host.early_regex); action != kNone || faulty_) return action;
      for (std::size_t i = keys.count; i-- > 0;) {
        const PathKey& prefix = keys.prefixes[i];
        const PathRecord* const entry = prefix.size == path.size() ? exact : find_path(in, prefix, path);
        if (entry == nullptr) continue;
        if (const std::uint32_t action = reach(host, entry->prefix); action != kNone || faulty_) return action;
      }
    } else if (const std::uint32_t action = reach(host, host.early_regex); action != kNone || faulty_) {
      return action;
    }
    return reach(host, host.root_prefix);
  }

  std::uint32_t reach(const LoadedHost& host, Target32 target) {
    if ((target & program::kActionBit) == 0) return decide_group(host, target);
    return target == kNone ? kNone : target & ~program::kActionBit;
  }

  std::uint32_t decide_group(const LoadedHost& host, std::uint32_t group) {
    if (!make_input(host, group)) {
      faulty_ = true;
      return kNone;
    }
    const program::GroupRecord& record = host.view.array(host.header->groups)[group];
    const program::GroupFunction code = host.native == nullptr ? nullptr : host.native->functions[group];
    const std::uint32_t candidate = code != nullptr ? code(&input_) : program::decide_group(host.view, record, input_);
    if (candidate >= record.count) return kNone;
    return host.view.array(host.header->candidates)[record.first + candidate].action;
  }

  /// Slot values once a host; each subject is searched once a host, when the first group asks for one of its patterns.
  bool make_input(const LoadedHost& host, std::uint32_t group) {
    if (!filled_) {
      if (!fill_slots(host, request_, scratch_)) return false;
      const std::size_t words = (std::size_t{host.header->regexes.count} + 63) / 64;
      if (words > scratch_.hits.size()) return false;
      std::fill_n(scratch_.hits.begin(), words, std::uint64_t{0});
      input_ = {scratch_.slots.data(), request_.source.bytes.data(), words == 0 ? nullptr : scratch_.hits.data()};
      scanned_ = 0;
      filled_ = true;
    }
    if (host.group_sets == nullptr) return true;
    const std::uint64_t open = host.group_sets[group] & ~scanned_;
    scanned_ |= open;
    for (std::uint64_t bits = open; bits != 0; bits &= bits - 1) {
      if (!search(host, static_cast<std::size_t>(std::countr_zero(bits)))) return false;
    }
    return true;
  }

  /// Set number 63 stands for all from there on.
  bool search(const LoadedHost& host, std::size_t number) {
    const auto sets = host.view.array(host.header->regex_sets);
    for (std::size_t i = number; i < sets.size(); ++i) {
      const program::RegexSetRecord& set = sets[i];
      const program::SlotValue& subject = scratch_.slots[set.slot];
      if (subject.data != nullptr &&
          !scratch_.regex.scan(program_.hash(), *host.regex_sets[i], {subject.data, subject.size}, set.first, set.count,
                               scratch_.hits.data())) {
        return false;
      }
      if (number < 63) break;
    }
    return true;
  }

  const LoadedProgram& program_;
  const program::RequestView& request_;
  MatchScratch::Impl& scratch_;
  program::MatchInput input_;
  std::uint64_t scanned_ = 0;
  bool filled_ = false;
  bool faulty_ = false;
};

MatchScratch::MatchScratch() : impl_(std::make_unique<Impl>()) {
  impl_->storage = std::make_unique_for_overwrite<char[]>(kSlotStorageBytes);
}
MatchScratch::~MatchScratch() = default;
MatchScratch::MatchScratch(MatchScratch&&) noexcept = default;
MatchScratch& MatchScratch::operator=(MatchScratch&&) noexcept = default;

Status MatchScratch::prepare(const LoadedProgram& program) {
  const MatchRoom& room = program.room();
  const auto grow = [](auto& vector, std::size_t size) {
    if (vector.size() < size) vector.resize(size);
  };
  grow(impl_->slots, std::max<std::size_t>(room.slots, program::kFirstHostSlot));
  grow(impl_->joined, impl_->slots.size());
  grow(impl_->hits, (room.regexes + 63) / 64);
  impl_->regex.remember(program.hash(), room.regex_sets);
  return {};
}

std::uint64_t MatchScratch::faults() const { return impl_->faults; }

std::optional<Decision> decide(const LoadedProgram& program, std::uint32_t bind, const program::RequestView& request,
                               MatchScratch& scratch) {
  NameKeys keys(request.host);
  const std::uint32_t index = most_specific(program.bind_names(bind), keys, request.host);
  if (index == kNone) return std::nullopt;
  const LoadedListener& listener = program.listener(index);
  Decider decider(program, request, scratch);
  for (std::uint32_t at = most_specific(listener.host_names, keys, request.host); at != kNone;
       at = listener.entries[at].next) {
    const Hosted in{listener.host_paths[at], listener.hosts[at]};
    const std::uint32_t found = decider.run(in);
    if (decider.faulty()) {
      decider.count_fault();
      return std::nullopt;
    }
    if (found == kNone) continue;
    const program::ActionRecord& action = in.paths.actions[found];
    __builtin_prefetch(&action);
    return Decision{&listener, &in.host, &action};
  }
  return std::nullopt;
}

const LoadedListener* find_listener(const LoadedProgram& program, std::uint32_t bind, std::string_view host) {
  NameKeys keys(host);
  const std::uint32_t index = most_specific(program.bind_names(bind), keys, host);
  return index == kNone ? nullptr : &program.listener(index);
}

}  // namespace edge::runtime
