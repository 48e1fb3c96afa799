// The store: whole keys, variants, its bound, what it keeps under a scan, and many threads at once.
#include "runtime/shape/cache/store.h"

#include <atomic>
#include <cmath>
#include <list>
#include <random>
#include <thread>
#include <unordered_map>

#include <gtest/gtest.h>

#include "runtime/shape/cache/test_messages.h"

namespace edge::runtime::cache {
namespace {

using testing::Ask;
using testing::kNow;

constexpr std::size_t kMiB = std::size_t{1} << 20;

Key key_of(const std::string& path, std::string_view route = "web") {
  return make_key({"http", "example.com", path, "", false}, {"shop", route, 0, 1, "example.com", path});
}

std::shared_ptr<Entry> entry_of(const Key& key, std::size_t size, std::string selection = {}, Seconds date = kNow) {
  auto entry = std::make_shared<Entry>();
  entry->key = key;
  entry->selection = std::move(selection);
  entry->status = 200;
  entry->date = date;
  auto body = std::make_shared<Body>();
  body->append(std::string(size, 'x'));
  body->close();
  entry->body = body;
  return entry;
}

std::shared_ptr<const Entry> find(Store& store, const Key& key, const std::string& lines = {}) {
  return store.find(key, Ask(lines).head().fields).entry;
}

TEST(Store, FindsByTheWholeKey) {
  Store store(kMiB, 1000, 1);
  const auto entry = entry_of(key_of("/a"), 10);
  EXPECT_TRUE(store.insert(entry));
  EXPECT_EQ(find(store, key_of("/a")), entry);
  EXPECT_EQ(find(store, key_of("/b")), nullptr);
  EXPECT_EQ(find(store, key_of("/a", "api")), nullptr);
}

TEST(Store, OfVariantsTheOneThatMatchesAndOfThoseTheLatest_4_1) {
  Store store(kMiB, 1000, 1);
  const auto german = entry_of(key_of("/"), 10, "accept-language:de\n");
  const auto english = entry_of(key_of("/"), 10, "accept-language:en\n");
  const auto later = entry_of(key_of("/"), 10, "", kNow + 1);
  store.insert(german);
  store.insert(english);
  EXPECT_EQ(find(store, key_of("/"), "Accept-Language: de\n"), german);
  EXPECT_EQ(find(store, key_of("/"), "Accept-Language: en\n"), english);
  const Ask french("Accept-Language: fr\n");
  EXPECT_EQ(store.find(key_of("/"), french.head().fields).entry, nullptr);
  EXPECT_EQ(store.find(key_of("/"), french.head().fields).sibling, english);
  EXPECT_EQ(store.find(key_of("/none"), french.head().fields).sibling, nullptr);
  store.insert(later);
  EXPECT_EQ(find(store, key_of("/"), "Accept-Language: de\n"), later);
}

TEST(Store, KeepsABoundedNumberOfVariants) {
  Store store(kMiB, 1000, 1);
  for (std::size_t i = 0; i < 3 * Store::kMaxVariants; ++i) {
    store.insert(entry_of(key_of("/"), 10, "x:" + std::to_string(i) + "\n"));
  }
  EXPECT_EQ(store.stats().entries, Store::kMaxVariants);
  EXPECT_NE(find(store, key_of("/"), "X: 47\n"), nullptr);
  EXPECT_EQ(find(store, key_of("/"), "X: 31\n"), nullptr);
}

TEST(Store, ReplacesErasesAndPurges) {
  Store store(kMiB, 1000, 1);
  const auto first = entry_of(key_of("/a"), 10);
  const auto second = entry_of(key_of("/a"), 20);
  store.insert(first);
  store.insert(second);
  EXPECT_EQ(store.stats().entries, 1u);
  store.replace(*first, first);  // is not there any more
  EXPECT_EQ(find(store, key_of("/a")), second);
  store.replace(*second, first);
  EXPECT_EQ(find(store, key_of("/a")), first);
  store.erase(*second);
  EXPECT_EQ(store.stats().entries, 1u);
  store.erase(*first);
  EXPECT_EQ(store.stats().entries, 0u);
  EXPECT_EQ(store.stats().bytes, 0u);

  for (const char* route : {"web", "api"}) {
    for (const char* path : {"/a", "/b"}) store.insert(entry_of(key_of(path, route), 10));
  }
  EXPECT_EQ(store.erase_target(key_of("/a").target), 2u);
  EXPECT_EQ(store.erase_if([](const Entry& entry) { return route_of(entry.key) == "shop/api"; }), 1u);
  EXPECT_EQ(store.stats().entries, 1u);
}

TEST(Store, NeverHoldsMoreThanItsBound) {
  constexpr std::size_t kBound = 256 * 1024;
  Store store(kBound, 8 * 1024, 1);
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const Key key = key_of("/" + std::to_string(random() % 3000));
    if (find(store, key) == nullptr) store.insert(entry_of(key, random() % 8000));
    ASSERT_LE(store.stats().bytes, kBound);
  }
  EXPECT_GT(store.stats().bytes, kBound / 2);
  EXPECT_FALSE(store.insert(entry_of(key_of("/large"), kBound)));
}

TEST(Store, DrivesOutWhatIsOneByteTooMuch) {
  const auto fill = [](Store& store) {
    for (const char* path : {"/a", "/b", "/c", "/d"}) EXPECT_TRUE(store.insert(entry_of(key_of(path), 1000)));
    return store.stats();
  };
  // Entries that may be this large leave one shard, which has the whole bound.
  Store ample(kMiB, kMiB, 1);
  const std::uint64_t needed = fill(ample).bytes;
  for (const auto& [bound, kept] : {std::pair(needed - 1, 3u), std::pair(needed, 4u), std::pair(needed + 1, 4u)}) {
    Store store(bound, bound, 1);
    EXPECT_EQ(fill(store).entries, kept) << bound;
  }
}

/// The classic to compare with.
class Lru {
 public:
  explicit Lru(std::size_t bound) : bound_(bound) {}
  bool request(const std::string& path) {
    const auto found = index_.find(path);
    const bool hit = found != index_.end();
    if (hit) order_.erase(found->second);
    index_[path] = order_.insert(order_.end(), path);
    if (index_.size() > bound_) {
      index_.erase(order_.front());
      order_.pop_front();
    }
    return hit;
  }

 private:
  std::size_t bound_;
  std::list<std::string> order_;
  std::unordered_map<std::string, std::list<std::string>::iterator> index_;
};

TEST(Store, AScanDrivesLessOutThanWithLru) {
  // A skewed working set (Zipf, exponent 0.9, 5,000 objects), and every third request of a scan that asks once.
  constexpr std::size_t kObjects = 5000;
  constexpr std::size_t kRoom = 500;
  std::vector<double> weights;
  for (std::size_t i = 1; i <= kObjects; ++i) weights.push_back(1 / std::pow(static_cast<double>(i), 0.9));
  std::discrete_distribution<std::size_t> popular(weights.begin(), weights.end());
  std::mt19937_64 random(11);
  const std::size_t each = entry_of(key_of("/10000"), 1000)->bytes();
  Store store(kRoom * each, 8 * 1024, 1);
  Lru lru(kRoom);
  std::size_t cache_request = 0;
  std::size_t hits = 0;
  std::size_t lru_hits = 0;
  for (int i = 0; i < 60'000; ++i) {
    const bool scan = i % 3 == 0;
    const std::string path = scan ? "/scan/" + std::to_string(i) : "/" + std::to_string(popular(random));
    const Key key = key_of(path);
    const bool hit = find(store, key) != nullptr;
    if (!hit) store.insert(entry_of(key, 1000));
    const bool lru_hit = lru.request(path);
    if (scan || i < 10'000) continue;
    ++cache_request;
    hits += hit ? 1 : 0;
    lru_hits += lru_hit ? 1 : 0;
  }
  const double rate = static_cast<double>(hits) / static_cast<double>(cache_request);
  const double lru_rate = static_cast<double>(lru_hits) / static_cast<double>(cache_request);
  RecordProperty("hit_rate_percent", static_cast<int>(rate * 100));
  RecordProperty("lru_hit_rate_percent", static_cast<int>(lru_rate * 100));
  std::printf("hit rate of the working set: %.3f, with LRU %.3f\n", rate, lru_rate);
  EXPECT_GT(rate, lru_rate + 0.10);
}

TEST(Store, ManyThreadsAtOnce) {
  constexpr std::size_t kBound = 512 * 1024;
  Store store(kBound, 4 * 1024, 1);
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937_64 random(number);
      for (int i = 0; i < 5000; ++i) {
        const Key key = key_of("/" + std::to_string(random() % 500));
        const auto found = find(store, key);
        if (found != nullptr && (found->key != key || found->body->at(0).size() != found->body->size())) ++wrong;
        if (found == nullptr) {
          store.insert(entry_of(key, random() % 4000));
        } else if (random() % 16 == 0) {
          store.replace(*found, entry_of(key, 100));
        } else if (random() % 64 == 0) {
          store.erase(*found);
        }
        if (random() % 1000 == 0) store.erase_if([](const Entry& entry) { return entry.body->size() % 2 == 0; });
        if (store.stats().bytes > kBound) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace edge::runtime::cache
