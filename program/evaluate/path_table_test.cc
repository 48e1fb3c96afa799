#include "program/evaluate/path_table.h"

#include <algorithm>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "program/evaluate/lookup.h"
#include "program/test_program.h"

namespace edge::program {
namespace {

std::vector<std::uint64_t> random_hashes(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

bool all_distinct(std::vector<std::uint32_t> places) {
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) == places.end();
}

TEST(PathHashTable, EveryHashHasAPlaceOfItsOwnThatOneByteLeadsTo) {
  for (const std::size_t count : {1, 2, 3, 5, 10, 50, 96, 97, 1000, 30'000}) {
    const std::vector<std::uint64_t> hashes = random_hashes(count);
    const std::optional<PathHashTable> placed = hash_paths(hashes);
    ASSERT_TRUE(placed) << count;
    const PathHashTable& found = *placed;
    EXPECT_LE(found.places, count + count / 4 + 1);
    EXPECT_TRUE(all_distinct(found.position_of)) << count;
    const auto mask = static_cast<std::uint32_t>(found.displacements.size() - 1);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t displacement = found.displacements[path_bucket(hashes[i], mask)];
      ASSERT_EQ(found.position_of[i], path_position(hashes[i], displacement, found.places));
      ASSERT_LT(found.position_of[i], found.places);
    }
  }
  EXPECT_EQ(hash_paths({})->places, 0u);
}

TEST(PathHashTable, HashesThatCollideInFullHaveNone) {
  std::vector<std::uint64_t> hashes = random_hashes(50);
  hashes.push_back(hashes[7]);
  EXPECT_FALSE(hash_paths(hashes));
  EXPECT_FALSE(hash_paths(std::vector<std::uint64_t>(2, 5)));
  EXPECT_FALSE(hash_paths(std::vector<std::uint64_t>(100'000, 5)));
}

/// Eight bytes that make hash_bytes forget those before them: every such segment hashes alike.
std::string colliding_path(const std::string& eight) {
  return "/" + eight + std::string(reinterpret_cast<const char*>(&hash_detail::kMul0), 8);
}

/// Twice as many paths a segment, 16 letters or digits each, all of one hash: its two words, exchanged, multiply alike.
/// Whoever may write routes can write these.
std::vector<std::string> crafted_paths(int segments) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::mt19937 random(1);
  // What the words are exchanged under, for the segment after `seed`.
  const auto under = [](std::uint64_t seed) {
    using namespace hash_detail;
    return seed ^ hash_mix(kMul0 ^ 16, kMul1) ^ kMul0 ^ kMul1;
  };
  const auto exchanged = [](std::uint64_t mask, std::string text) {
    std::ranges::rotate(text, text.begin() + 8);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(text[i] ^ mask >> i % 8 * 8);
    return text;
  };
  const auto plain = [&](const std::string& text) { return text.find_first_not_of(kPlain) == std::string::npos; };
  // A first segment after which there is something to exchange, then pairs after which there is again.
  std::vector<std::string> paths = {""};
  std::uint64_t seed = kPathSeed;
  for (int segment = 0; segment <= segments;) {
    std::string one(16, ' ');
    const std::uint64_t mask = under(seed);
    for (std::size_t i = 0; i < 8; ++i) {
      const auto fits = [&](char c) { return kPlain.find(static_cast<char>(c ^ mask >> i * 8)) != std::string::npos; };
      for (std::size_t at : {i, i + 8}) {
        do one[at] = kPlain[random() % kPlain.size()];
        while (segment > 0 && !fits(one[at]));
      }
    }
    const std::uint64_t next = path_hash_step(seed, one);
    bool usable = true;
    for (std::size_t i = 0; i < 8; ++i)
      usable &= std::ranges::any_of(kPlain, [&](char c) {
        return kPlain.find(static_cast<char>(c ^ under(next) >> i * 8)) != std::string::npos;
      });
    if (!usable) continue;
    std::vector<std::string> longer;
    for (const std::string& path : paths) {
      longer.push_back(path + "/" + one);
      if (segment > 0) longer.push_back(path + "/" + exchanged(mask, one));
    }
    EXPECT_TRUE(segment == 0 || plain(longer.back().substr(longer.back().size() - 16)));
    paths = std::move(longer);
    seed = next;
    ++segment;
  }
  return paths;
}

/// The paths as a host section, path i with the targets 2 i and 2 i + 1.
ProgramView program_with(const std::vector<std::string>& paths) {
  sample::Host host(1);
  PathTableBuilder table;
  for (std::uint32_t i = 0; i < paths.size(); ++i) table.add(paths[i], 2 * i, 2 * i + 1);
  table.store(host.builder, host.header);
  host.header.groups = host.builder.array(std::vector<GroupRecord>(2 * paths.size()));
  auto read = sample::read_copy(sample::program_of({{SectionKind::kHost, 1, make_blob(std::move(host).build())}}));
  EXPECT_TRUE(read.ok()) << read.error().text;
  return std::move(*read);
}

void expect_all_found(const std::vector<std::string>& paths) {
  const ProgramView program = program_with(paths);
  const SectionView& host = program.find(SectionKind::kHost, 1)->view;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    const PathRecord* const record = find_path(host, path_hash(paths[i]), paths[i]);
    ASSERT_NE(record, nullptr) << paths[i];
    EXPECT_EQ(path_text(host, *record), paths[i]);
    EXPECT_EQ(record->exact, 2 * i);
    EXPECT_EQ(record->prefix, 2 * i + 1);
    const std::string longer = paths[i] + "x";
    EXPECT_EQ(find_path(host, path_hash(longer), longer), nullptr);
  }
  std::vector<std::string> sorted = paths;
  std::ranges::sort(sorted);
  const std::vector<Path> stored = paths_of(host);
  ASSERT_EQ(stored.size(), sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(stored[i].text, sorted[i]);
}

TEST(PathTable, FindsPathsOfEveryLength) {
  std::vector<std::string> paths;
  for (std::size_t size = 1; size < 300; ++size) paths.push_back("/" + std::string(size, 'a'));
  expect_all_found(paths);
  for (std::string& path : paths) path = "/" + std::to_string(path.size());
  paths.push_back("/" + std::string(70'000, 'b'));
  expect_all_found(paths);
  expect_all_found({"/"});
  expect_all_found({});
}

TEST(PathTable, FindsPathsWhoseHashesCollide) {
  std::vector<std::string> paths = {"/a", "/b/c"};
  for (char letter = 'a'; letter <= 'z'; ++letter) paths.push_back(colliding_path(std::string(8, letter)));
  ASSERT_EQ(path_hash(paths[2]), path_hash(paths[3]));
  expect_all_found(paths);
}

TEST(PathTable, CraftedPathsCostALookupLittle) {
  const std::vector<std::string> paths = crafted_paths(12);
  ASSERT_EQ(paths.size(), 4096u);
  for (const std::string& path : paths) ASSERT_EQ(path_hash(path), path_hash(paths[0]));
  expect_all_found(paths);
  const ProgramView program = program_with(paths);
  EXPECT_LE(program.find(SectionKind::kHost, 1)->view.header<HostHeader>().max_probe, 13u);
}

TEST(PathTable, OneLongPathMakesNoOtherRecordWider) {
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i) paths.push_back("/service-" + std::to_string(1000 + i));
  const auto stride = [&] {
    const ProgramView program = program_with(paths);
    return program.find(SectionKind::kHost, 1)->view.header<HostHeader>().path_stride;
  };
  EXPECT_EQ(stride(), 7u);
  paths.push_back("/" + std::string(90, 'x'));
  EXPECT_EQ(stride(), 7u);
  for (std::string& path : paths) path += std::string(60, 'y');
  EXPECT_EQ(stride(), 22u);
}

}  // namespace
}  // namespace edge::program
