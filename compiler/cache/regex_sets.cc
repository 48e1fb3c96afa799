#include "compiler/cache/regex_sets.h"

#include <utility>

namespace edge::compiler {

using program::HostHeader;
using program::RegexRecord;
using program::RegexSetRecord;

namespace {

/// Made within some milliseconds: fewer patterns than this are not worth a program of their own.
constexpr std::size_t kFewPatterns = 8;

}  // namespace

/// The sets that are neither known nor on disk, each once.
std::vector<RegexSets::Unknown> RegexSets::unknown_of(const std::vector<program::SectionView>& hosts,
                                                      std::unordered_set<std::uint64_t>& used, Counts& counts) {
  std::vector<Unknown> unknown;
  for (const program::SectionView& host : hosts) {
    const auto& header = host.header<HostHeader>();
    for (const RegexSetRecord& set : host.array(header.regex_sets)) {
      if (!used.insert(set.section_id).second || sets_.contains(set.section_id)) continue;
      Unknown one{set.section_id, {}};
      for (const RegexRecord& regex : host.array(header.regexes).subspan(set.first, set.count))
        one.patterns.emplace_back(host.string(regex.pattern));
      if (auto database = time_ == DatabaseTime::kNever ? nullptr : maker_.find(one.patterns)) {
        sets_.emplace(set.section_id, MadeSet{std::move(database)});
        ++counts.from_disk;
        continue;
      }
      unknown.push_back(std::move(one));
    }
  }
  return unknown;
}

bool RegexSets::puts_off(const std::vector<Unknown>& sets) const {
  if (time_ != DatabaseTime::kAfter || worker_fails_) return time_ == DatabaseTime::kNever;
  std::size_t patterns = 0;
  for (const Unknown& set : sets) patterns += set.patterns.size();
  return patterns > kFewPatterns;
}

Result<std::vector<PatternRefusal>> RegexSets::compile(const std::vector<program::SectionView>& hosts, Counts& counts) {
  std::unordered_set<std::uint64_t> used;
  std::vector<Unknown> unknown = unknown_of(hosts, used, counts);
  const bool later = puts_off(unknown);
  for (Unknown& set : unknown) {
    if (later) {
      sets_.emplace(set.set_id, MadeSet{program::make_blob({})});
      lacking_.insert(set.set_id);
      if (time_ == DatabaseTime::kAfter) queue_.ask(set.set_id, std::move(set.patterns));
      continue;
    }
    auto made = maker_.make(set.set_id, set.patterns);
    if (!made) return made.error();
    sets_.emplace(set.set_id, std::move(*made));
    ++counts.built;
    worker_fails_ = false;
  }

  std::vector<PatternRefusal> refusals;
  for (const std::uint64_t id : used) {
    asked_.insert(id);
    const MadeSet& known = sets_.at(id);
    refusals.insert(refusals.end(), known.refusals.begin(), known.refusals.end());
  }
  return refusals;
}

std::set<std::uint64_t> RegexSets::take_made() {
  RegexQueue::Taken taken = queue_.take();
  std::set<std::uint64_t> known;
  for (auto& [id, made] : taken.made) {
    if (lacking_.erase(id) == 0) continue;
    sets_.insert_or_assign(id, std::move(made));
    known.insert(id);
  }
  if (!taken.fault) return known;
  // They are asked for again by the hosts that have them, and no program is made that lacks them.
  worker_fails_ = true;
  for (const std::uint64_t id : lacking_) {
    sets_.erase(id);
    known.insert(id);
  }
  lacking_.clear();
  return known;
}

program::BlobPtr RegexSets::database(std::uint64_t set_id) const {
  const auto found = sets_.find(set_id);
  return found == sets_.end() ? nullptr : found->second.database;
}

bool RegexSets::lacks_database(std::uint64_t set_id) const { return lacking_.contains(set_id); }

std::optional<std::vector<bool>> RegexSets::scan(std::uint64_t set_id, std::size_t patterns, std::string_view subject) {
  auto scanner = scanners_.find(set_id);
  if (scanner == scanners_.end()) {
    const program::BlobPtr blob = database(set_id);
    if (blob == nullptr) return std::nullopt;
    auto opened = emit::RegexScanner::open(blob->bytes);
    if (!opened) return std::nullopt;
    scanner = scanners_.emplace(set_id, std::move(*opened)).first;
  }
  auto hits = scanner->second.scan(patterns, subject);
  if (!hits) return std::nullopt;
  return std::move(*hits);
}

void RegexSets::keep(const std::set<std::uint64_t>& set_ids) {
  std::erase_if(sets_, [&](const auto& set) { return !set_ids.contains(set.first) && !asked_.contains(set.first); });
  asked_.clear();
  std::erase_if(lacking_, [&](std::uint64_t id) { return !sets_.contains(id); });
  if (time_ == DatabaseTime::kAfter) queue_.keep({lacking_.begin(), lacking_.end()});
}

}  // namespace edge::compiler
