#include "compiler/cache/regex_sets.h"

#include <utility>

#include "compiler/cache/emit_revision.h"
#include "compiler/cache/fingerprint.h"

namespace edge::compiler {

using program::HostHeader;
using program::RegexRecord;
using program::RegexSetRecord;

namespace {

/// All that a database is made from.
program::Hash kept_key(const std::vector<std::string>& patterns) {
  Fingerprint key;
  key.add("regex");
  key.add(kEmitRevision);
  key.add(emit::regex_engine_version());
  key.add(patterns);
  return key.take();
}

}  // namespace

Result<std::vector<RegexSets::Refusal>> RegexSets::compile(const std::vector<program::SectionView>& hosts,
                                                           Counts& counts) {
  std::vector<std::uint64_t> ids;
  std::vector<std::vector<std::string>> patterns;
  std::unordered_set<std::uint64_t> used;
  for (const program::SectionView& host : hosts) {
    const auto& header = host.header<HostHeader>();
    for (const RegexSetRecord& set : host.array(header.regex_sets)) {
      if (!used.insert(set.section_id).second || sets_.contains(set.section_id)) continue;
      std::vector<std::string> texts;
      for (const RegexRecord& regex : host.array(header.regexes).subspan(set.first, set.count))
        texts.emplace_back(host.string(regex.pattern));
      if (auto database = kept_ != nullptr ? kept_->find(kept_key(texts)) : std::nullopt) {
        sets_.emplace(set.section_id, Known{program::make_blob(std::move(*database)), {}});
        ++counts.from_disk;
        continue;
      }
      ids.push_back(set.section_id);
      patterns.push_back(std::move(texts));
    }
  }

  if (!ids.empty()) {
    auto outcomes = compiler_.compile(patterns);
    if (!outcomes) return outcomes.error();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto known = validate(ids[i], patterns[i], std::move((*outcomes)[i]));
      if (!known) return known.error();
      // A refusal may be for lack of time, which another day there may be: only what succeeded is kept.
      if (kept_ != nullptr && known->database != nullptr) kept_->put(kept_key(patterns[i]), known->database->bytes);
      sets_.emplace(ids[i], std::move(*known));
    }
    counts.built += ids.size();
  }

  std::vector<Refusal> refusals;
  for (const std::uint64_t id : used) {
    asked_.insert(id);
    const Known& known = sets_.at(id);
    refusals.insert(refusals.end(), known.refusals.begin(), known.refusals.end());
  }
  return refusals;
}

Result<RegexSets::Known> RegexSets::validate(std::uint64_t set_id, const std::vector<std::string>& patterns,
                                             emit::RegexOutcome outcome) {
  Known known;
  known.database = std::move(outcome.database);
  if (known.database != nullptr) return known;
  if (patterns.size() > 1) {
    // Each pattern alone: whoever wrote many faulty ones is told of all, and the set is tried once more, not once each.
    std::vector<std::vector<std::string>> singles;
    for (const std::string& pattern : patterns) singles.push_back({pattern});
    auto outcomes = compiler_.compile(singles);
    if (!outcomes) return outcomes.error();
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
      emit::RegexOutcome& single = (*outcomes)[i];
      if (single.database == nullptr) known.refusals.push_back({set_id, i, std::move(single.message)});
    }
  }
  if (known.refusals.empty()) known.refusals.push_back({set_id, outcome.failed_pattern, std::move(outcome.message)});
  return known;
}

program::BlobPtr RegexSets::database(std::uint64_t set_id) const {
  const auto found = sets_.find(set_id);
  return found == sets_.end() ? nullptr : found->second.database;
}

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
}

}  // namespace edge::compiler
