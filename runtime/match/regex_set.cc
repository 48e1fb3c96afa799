#include "runtime/match/regex_set.h"

#include <limits>
#include <new>
#include <utility>

#include <hs/hs_common.h>
#include <hs/hs_runtime.h>

#include "program/sha256.h"

namespace edge::runtime {
namespace {

void release(RegexDatabase* held) {
  if (held == nullptr || held->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  hs_free_database(held->database);
  delete held;
}

}  // namespace

RegexSet::~RegexSet() { release(loaded_.load(std::memory_order_acquire)); }

bool RegexSet::assign(std::span<const std::byte> serialised, const program::Hash& hash, std::uint32_t index) {
  serialised_ = serialised;
  hash_ = hash;
  index_ = index;
  if (serialised.empty()) return true;
  std::size_t size = 0;
  return hs_serialized_database_size(reinterpret_cast<const char*>(serialised.data()), serialised.size(), &size) ==
         HS_SUCCESS;
}

void RegexSet::put_patterns(std::vector<std::string> patterns) {
  patterns_ = std::make_shared<PatternList>(std::move(patterns));
}

void RegexSet::share(const RegexSet& other) {
  patterns_ = other.patterns_;
  RegexDatabase* const held = other.loaded_.load(std::memory_order_acquire);
  if (held == nullptr) return;
  held->holders.fetch_add(1, std::memory_order_relaxed);  // `other` holds it meanwhile
  loaded_.store(held, std::memory_order_release);
}

const hs_database* RegexSet::database() {
  if (const RegexDatabase* held = loaded_.load(std::memory_order_acquire)) return held->database;
  if (serialised_.empty()) return nullptr;
  // A reader may have left databases to be hashed here (program::Databases): Hyperscan sees no byte before.
  if (program::sha256(serialised_) != hash_) return nullptr;
  hs_database_t* database = nullptr;
  if (hs_deserialize_database(reinterpret_cast<const char*>(serialised_.data()), serialised_.size(), &database) !=
      HS_SUCCESS) {
    return nullptr;
  }
  auto* const fresh = new (std::nothrow) RegexDatabase{database, {1}};
  if (fresh == nullptr) {
    hs_free_database(database);
    return nullptr;
  }
  RegexDatabase* expected = nullptr;
  if (loaded_.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return database;
  release(fresh);  // another thread was faster
  return expected->database;
}

RegexScratch::~RegexScratch() { hs_free_scratch(scratch_); }

void RegexScratch::remember(const program::Hash& program, std::size_t sets) {
  std::size_t position = 1 - newest_;
  for (std::size_t i = 0; i < 2; ++i) {
    if (known_[i].program == program) position = i;
  }
  known_[position].program = program;
  known_[position].fits.assign(sets, false);
  newest_ = position;
}

bool RegexScratch::grow(const hs_database* database) {
  if (hs_alloc_scratch(database, &scratch_) == HS_SUCCESS) return true;
  // The old scratch may be gone: nothing fits any more.
  for (Known& known : known_) known.fits.assign(known.fits.size(), false);
  return false;
}

bool RegexScratch::make_fit(const program::Hash& program, std::size_t index, const hs_database* database) {
  for (std::size_t i = 0; i < 2; ++i) {
    Known& known = known_[i == 0 ? newest_ : 1 - newest_];
    if (index >= known.fits.size() || known.program != program) continue;
    if (!known.fits[index]) known.fits[index] = grow(database);
    return known.fits[index];
  }
  return grow(database);
}

bool RegexScratch::scan(const program::Hash& program, RegexSet& set, std::string_view subject, std::uint32_t first,
                        std::uint32_t count, std::uint64_t* hits) {
  const hs_database* const database = set.database();
  if (database == nullptr) {
    PatternList* const patterns = set.patterns();
    return patterns != nullptr && patterns->search(subject, first, count, hits);
  }
  if (!make_fit(program, set.index(), database)) return false;
  if (subject.size() > std::numeric_limits<unsigned>::max()) return false;
  struct Hits {
    std::uint64_t* bits;
    std::uint32_t first;
    std::uint32_t count;
  } context{hits, first, count};
  const auto hit = [](unsigned id, unsigned long long, unsigned long long, unsigned, void* opaque) {
    const Hits& into = *static_cast<const Hits*>(opaque);
    if (id < into.count) into.bits[(into.first + id) / 64] |= std::uint64_t{1} << ((into.first + id) % 64);
    return 0;
  };
  return hs_scan(database, subject.data(), static_cast<unsigned>(subject.size()), 0, scratch_, hit, &context) ==
         HS_SUCCESS;
}

}  // namespace edge::runtime
