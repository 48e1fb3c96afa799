#include "compiler/cache/regex_maker.h"

#include <utility>

#include "compiler/cache/emit_revision.h"
#include "compiler/cache/fingerprint.h"

namespace edge::compiler {
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

program::BlobPtr RegexMaker::find(const std::vector<std::string>& patterns) const {
  if (kept_ == nullptr) return nullptr;
  auto database = kept_->find(kept_key(patterns));
  return database ? program::make_blob(std::move(*database)) : nullptr;
}

Result<MadeSet> RegexMaker::make(std::uint64_t set_id, const std::vector<std::string>& patterns) {
  auto outcomes = compiler_.compile({patterns});
  if (!outcomes) return outcomes.error();
  emit::RegexOutcome& outcome = outcomes->front();
  MadeSet made{std::move(outcome.database)};
  if (made.database != nullptr) {
    // A refusal may be for lack of time, which another day there may be: only what succeeded is kept.
    if (kept_ != nullptr) kept_->put(kept_key(patterns), made.database->bytes);
    return made;
  }
  auto refusals = refusals_of(set_id, patterns, std::move(outcome));
  if (!refusals) return refusals.error();
  made.refusals = std::move(*refusals);
  return made;
}

/// Each pattern alone: whoever wrote many faulty ones is told of all, and the set is tried once more, not once each.
Result<std::vector<PatternRefusal>> RegexMaker::refusals_of(std::uint64_t set_id,
                                                            const std::vector<std::string>& patterns,
                                                            emit::RegexOutcome outcome) {
  std::vector<PatternRefusal> refusals;
  if (patterns.size() > 1) {
    std::vector<std::vector<std::string>> singles;
    for (const std::string& pattern : patterns) singles.push_back({pattern});
    auto outcomes = compiler_.compile(singles);
    if (!outcomes) return outcomes.error();
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
      emit::RegexOutcome& single = (*outcomes)[i];
      if (single.database == nullptr) refusals.push_back({set_id, i, std::move(single.message)});
    }
  }
  if (refusals.empty()) refusals.push_back({set_id, outcome.failed_pattern, std::move(outcome.message)});
  return refusals;
}

}  // namespace edge::compiler
