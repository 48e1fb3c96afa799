#include "runtime/match/decide.h"

#include <cstring>
#include <random>
#include <regex>
#include <thread>

#include <gtest/gtest.h>

#include "base/hash.h"
#include "program/evaluate/evaluate.h"
#include "program/test_program.h"
#include "runtime/match/test_program.h"

namespace edge::runtime {
namespace {

using program::kNone;
using program::Op;
using program::RequestView;
using program::SlotKind;

/// A loaded program with a scratch, asked by the names of routes: "" when nothing matches.
class Asked {
 public:
  explicit Asked(const TestProgram& program, TestProgram::Damage damage = nullptr) {
    auto loaded = LoadedProgram::load(program.read(damage), nullptr);
    if (!loaded.ok()) {
      ADD_FAILURE() << loaded.error().text;
      return;
    }
    program_ = *loaded;
    EXPECT_TRUE(scratch_.prepare(*program_).ok());
  }

  std::string ask(const RequestView& request) {
    const auto decision = decide(*program_, 0, request, scratch_);
    if (!decision) return "";
    return std::string(decision->host->view.string(decision->route().name)) + "@" +
           std::string(decision->host->view.string(decision->host->header->pattern));
  }
  std::string ask(std::string_view host, std::string_view path) {
    RequestView request;
    request.method = "GET";
    request.host = host;
    request.path = path;
    return ask(request);
  }
  /// What the tables say, with patterns searched by the standard library.
  std::string expected(const RequestView& request) const {
    const auto regex = [](std::string_view pattern, std::string_view subject) {
      return std::regex_search(subject.begin(), subject.end(), std::regex(pattern.begin(), pattern.end()));
    };
    const program::Evaluation outcome = program::evaluate(program_->view(), 0, request, regex);
    if (outcome.host == nullptr) return "";
    const auto& view = outcome.host->view;
    const auto& header = view.header<program::HostHeader>();
    const auto& action = view.array(header.actions)[outcome.action];
    return std::string(view.string(view.array(header.routes)[action.route].name)) + "@" +
           std::string(view.string(header.pattern));
  }
  std::uint64_t faults() const { return scratch_.faults(); }
  const LoadedProgram& program() const { return *program_; }

 private:
  std::shared_ptr<const LoadedProgram> program_;
  MatchScratch scratch_;
};

TEST(Decide, PrefersExactThenTheLongestPrefix) {
  TestProgram program;
  TestHost& host = program.add("");
  host.exact("/api", host.action());      // r0
  host.prefix("/api", host.action());     // r1
  host.prefix("/api/v1", host.action());  // r2
  host.prefix("/", host.action());        // r3
  host.exact("/api/v1/", host.action());  // r4
  Asked asked(program);
  EXPECT_EQ(asked.ask("a", "/api"), "r0@");
  EXPECT_EQ(asked.ask("a", "/api/"), "r1@");
  EXPECT_EQ(asked.ask("a", "/api/v2"), "r1@");
  EXPECT_EQ(asked.ask("a", "/api/v1"), "r2@");
  EXPECT_EQ(asked.ask("a", "/api/v1/"), "r4@");
  EXPECT_EQ(asked.ask("a", "/api/v1/x/y"), "r2@");
  EXPECT_EQ(asked.ask("a", "/apiv2"), "r3@");
  EXPECT_EQ(asked.ask("a", "/"), "r3@");
  EXPECT_EQ(asked.ask("a", "//"), "r3@");
}

TEST(Decide, PrefersTheMostSpecificHostAndFallsThrough) {
  TestProgram program;
  for (const char* pattern : {"", "*.com", "*.example.com", "a.example.com", "*.b.example.com"}) {
    TestHost& host = program.add(pattern);
    host.exact(std::string("/") + (pattern[0] == 0 ? "any" : pattern), host.action());
    host.exact("/all", host.action());
  }
  Asked asked(program);
  EXPECT_EQ(asked.ask("a.example.com", "/all"), "r1@a.example.com");
  EXPECT_EQ(asked.ask("x.example.com", "/all"), "r1@*.example.com");
  EXPECT_EQ(asked.ask("x.y.example.com", "/all"), "r1@*.example.com");
  EXPECT_EQ(asked.ask("x.b.example.com", "/all"), "r1@*.b.example.com");
  EXPECT_EQ(asked.ask("b.example.com", "/all"), "r1@*.example.com");
  EXPECT_EQ(asked.ask("example.com", "/all"), "r1@*.com");
  EXPECT_EQ(asked.ask("evilexample.com", "/all"), "r1@*.com");
  EXPECT_EQ(asked.ask("com", "/all"), "r1@");
  EXPECT_EQ(asked.ask("a.org", "/all"), "r1@");
  EXPECT_EQ(asked.ask("", "/all"), "r1@");
  EXPECT_EQ(asked.ask("a.example.com", "/*.com"), "r0@*.com");
  EXPECT_EQ(asked.ask("a.example.com", "/any"), "r0@");
  EXPECT_EQ(asked.ask("a.example.com", "/none"), "");
  // Names of many labels, and over a block of the scan.
  std::string deep = "example.com";
  for (int i = 0; i < 100; ++i) deep = "x." + deep;
  EXPECT_EQ(asked.ask(deep, "/all"), "r1@*.example.com");
  EXPECT_EQ(asked.ask(std::string(63, 'x') + ".b.example.com", "/all"), "r1@*.b.example.com");
}

TEST(Decide, TakesTheServerItselfForNoPath) {
  TestProgram program;
  TestHost& host = program.add("");
  host.prefix("/", host.action());
  host.regex_target(host.group({host.node(Op::kRegex, host.regex("^\\*"))}));
  host.any(host.action());
  Asked asked(program);
  EXPECT_EQ(asked.ask("a", "/x"), "r0@");
  EXPECT_EQ(asked.ask("a", "*"), "r1@");
  EXPECT_EQ(asked.ask("a", ""), "r2@");
}

TEST(Decide, TriesEarlyPatternsBehindTheExactPathAndBeforePrefixes) {
  TestProgram program;
  TestHost& host = program.add("");
  host.exact("/a/b", host.action());
  host.prefix("/a", host.action());
  host.early_regex_target(host.group({host.node(Op::kRegex, host.regex("b$|^\\*"))}));
  TestHost& pathless = program.add("p.com");
  pathless.early_regex_target(pathless.group({pathless.node(Op::kRegex, pathless.regex("b$"))}));
  Asked asked(program);
  EXPECT_EQ(asked.ask("a", "/a/b"), "r0@");
  EXPECT_EQ(asked.ask("a", "/a/c/b"), "r2@");
  EXPECT_EQ(asked.ask("a", "/a/c"), "r1@");
  EXPECT_EQ(asked.ask("a", "*"), "r2@");
  EXPECT_EQ(asked.ask("p.com", "/x/b"), "r0@p.com");
}

TEST(Decide, FindsPathsDeeperThanPrefixesAreTold) {
  TestProgram program;
  TestHost& host = program.add("");
  std::string deepest;
  for (std::uint32_t i = 0; i < program::kMaxPathDepth; ++i) deepest += "/s";
  const std::string over = deepest + "/s/s/s";
  host.prefix(deepest, host.action());                                // r0
  host.exact(over, host.action());                                    // r1
  host.prefix(deepest.substr(0, deepest.size() - 2), host.action());  // r2
  Asked asked(program);
  EXPECT_EQ(asked.ask("a", deepest), "r0@");
  EXPECT_EQ(asked.ask("a", over), "r1@");
  EXPECT_EQ(asked.ask("a", over + "/s"), "r0@");
  EXPECT_EQ(asked.ask("a", deepest.substr(0, deepest.size() - 2)), "r2@");
  EXPECT_EQ(asked.ask("a", deepest.substr(0, deepest.size() - 4)), "");
  EXPECT_EQ(asked.ask("a", std::string(16384, '/')), "");
}

TEST(Decide, FindsLongPathsAndPathsOfLargeHosts) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::string long_one = "/" + std::string(400, 'l');
  host.prefix(long_one, host.action());  // r0
  for (int i = 1; i <= 2000; ++i) host.exact("/service-" + std::to_string(i), host.action());
  Asked asked(program);
  EXPECT_EQ(asked.ask("a", long_one), "r0@");
  EXPECT_EQ(asked.ask("a", long_one + "/x"), "r0@");
  EXPECT_EQ(asked.ask("a", long_one + "x"), "");
  for (int i = 1; i <= 2000; ++i)
    EXPECT_EQ(asked.ask("a", "/service-" + std::to_string(i)), "r" + std::to_string(i) + "@");
  EXPECT_EQ(asked.ask("a", "/service-2001"), "");
}

TEST(Decide, FindsPathsWhoseHashesCollide) {
  TestProgram program;
  TestHost& host = program.add("");
  // Eight bytes that make hash_bytes forget those before them.
  const std::string tail(reinterpret_cast<const char*>(&edge::hash_detail::kMul0), 8);
  for (char letter = 'a'; letter <= 'z'; ++letter) host.prefix("/" + std::string(8, letter) + tail, host.action());
  Asked asked(program);
  EXPECT_EQ(asked.ask("a", "/aaaaaaaa" + tail), "r0@");
  EXPECT_EQ(asked.ask("a", "/cccccccc" + tail + "/x"), "r2@");
  EXPECT_EQ(asked.ask("a", "/zzzzzzzz" + tail), "r25@");
  EXPECT_EQ(asked.ask("a", "/abababab" + tail), "");
}

/// Path tables of every shape: few displacements and many, texts outside their records, records that ascend.
std::vector<std::byte> program_of_every_table() {
  TestProgram program;
  program.target(program::Target::kTablesOnly);
  const std::string tail(reinterpret_cast<const char*>(&edge::hash_detail::kMul0), 8);
  for (const char* const pattern : {"few.test", "many.test", "crafted.test"}) {
    TestHost& host = program.add(pattern);
    host.exact("/a/b", host.group({host.node(Op::kPresent, host.slot(SlotKind::kHeader, "x-a"), "")}));
    host.prefix("/a", host.action());
    host.exact("/" + std::string(200, 'l'), host.action());
    for (int i = 0; pattern == std::string_view("many.test") && i < 100; ++i)
      host.exact("/service-" + std::to_string(i), host.action());
    for (char letter = 'a'; pattern == std::string_view("crafted.test") && letter < 'f'; ++letter)
      host.prefix("/" + std::string(8, letter) + tail, host.action());
    host.any(host.action());
  }
  return *program.assemble();
}

// The sanitizers of the asan preset see reads outside of what was changed.
TEST(Decide, DecidesChangedProgramsAsTheyAreEvaluated) {
  const std::vector<std::byte> good = program_of_every_table();
  const std::string crafted = "/cccccccc" + std::string(reinterpret_cast<const char*>(&edge::hash_detail::kMul0), 8);
  const std::string long_one = "/" + std::string(200, 'l');
  constexpr std::uint32_t kOdd[] = {0, 1, 2, 32, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  std::mt19937 random(1);
  std::size_t accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(good);
    for (std::size_t change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % (good.size() / 4) * 4;
      std::uint32_t word = 0;
      std::memcpy(&word, bytes->data() + at, sizeof word);
      word = random() % 2 == 0 ? kOdd[random() % std::size(kOdd)] : word ^ 1U << random() % 32;
      std::memcpy(bytes->data() + at, &word, sizeof word);
    }
    program::sample::reseal(*bytes);
    auto view = program::read(bytes);
    if (!view.ok()) continue;
    const auto loaded = LoadedProgram::load(std::move(view).value(), nullptr);
    if (!loaded.ok() || (*loaded)->binds().empty()) continue;
    ++accepted;
    MatchScratch scratch;
    ASSERT_TRUE(scratch.prepare(**loaded).ok());
    for (const char* const host : {"few.test", "many.test", "crafted.test"}) {
      for (const std::string& path : {std::string("/a/b"), std::string("/a/b/c"), std::string("/service-7"), crafted,
                                      crafted + "/x", long_one, std::string("/"), std::string("*")}) {
        const RequestView request{"GET", host, path, "", {}, {}};
        const auto decision = decide(**loaded, 0, request, scratch);
        const auto outcome = program::evaluate((*loaded)->view(), 0, request, nullptr);
        ASSERT_EQ(decision.has_value(), outcome.host != nullptr) << round << " " << host << path;
        if (!decision) continue;
        const auto& view_of = outcome.host->view;
        EXPECT_EQ(decision->action, &view_of.array(view_of.header<program::HostHeader>().actions)[outcome.action]);
      }
    }
  }
  EXPECT_GT(accepted, 100u);
}

TEST(Decide, JoinsRepeatedHeadersAndDecodesTheFirstQueryValue) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::uint32_t env = host.slot(SlotKind::kHeader, "x-env");
  const std::uint32_t zone = host.slot(SlotKind::kHeader, "x-zone");
  const std::uint32_t q = host.slot(SlotKind::kQuery, "a b");
  host.any(host.group({host.node(Op::kEquals, env, "one, two"), host.node(Op::kEquals, q, "x+y z"),
                       host.node(Op::kEquals, zone, ""), host.node(Op::kPresent, q, "")}));
  Asked asked(program);
  const Field twice[] = {{"X-Env", "one"}, {"x-other", "z"}, {"X-ENV", "two"}};
  const Field thrice[] = {{"X-Env", "one"}, {"x-env", "two"}, {"x-env", "three"}};
  const Field empty[] = {{"X-Zone", ""}};
  RequestView request;
  request.path = "/";
  request.headers = twice;
  EXPECT_EQ(asked.ask(request), "r0@");
  request.headers = thrice;
  EXPECT_EQ(asked.ask(request), "");
  request.headers = empty;
  EXPECT_EQ(asked.ask(request), "r2@");
  request.headers = {};
  request.query = "b=1&a+b=x%2by+z&a%20b=other";
  EXPECT_EQ(asked.ask(request), "r1@");
  request.query = "a%20b";
  EXPECT_EQ(asked.ask(request), "r3@");
  request.query = "a%2=%&A+b=1&&=";
  EXPECT_EQ(asked.ask(request), "");
}

TEST(Decide, RefusesARequestThatDoesNotFit) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::uint32_t env = host.slot(SlotKind::kHeader, "x-env");
  host.exact("/plain", host.action());
  // Absent or cut off, the header would let the request through.
  host.any(host.group({host.node(Op::kNot, host.node(Op::kContains, env, "forbidden"))}));
  Asked asked(program);
  const std::string large(kSlotStorageBytes - 2, 'x');
  const Field fits[] = {{"x-env", large}, {"x-env", ""}};
  const Field over[] = {{"x-env", large}, {"x-env", "y"}};
  RequestView request;
  request.path = "/";
  request.headers = fits;
  EXPECT_EQ(asked.ask(request), "r1@");
  EXPECT_EQ(asked.faults(), 0u);
  request.headers = over;
  EXPECT_EQ(asked.ask(request), "");
  EXPECT_EQ(asked.faults(), 1u);
  request.path = "/plain";  // needs no header
  EXPECT_EQ(asked.ask(request), "r0@");
}

TEST(Decide, StandsManyHeaders) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::uint32_t env = host.slot(SlotKind::kHeader, "x-env");
  host.any(host.group({host.node(Op::kContains, env, "last")}));
  Asked asked(program);
  std::vector<Field> headers(10'000, Field{"x-env", "v"});
  headers.push_back({"x-env", "last"});
  RequestView request;
  request.path = "/";
  request.headers = headers;
  EXPECT_EQ(asked.ask(request), "r0@");
}

TEST(Decide, RefusesToDecideOnAProgramThatWasNotPrepared) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::uint32_t env = host.slot(SlotKind::kHeader, "x-env");
  host.any(host.group({host.node(Op::kNot, host.node(Op::kPresent, env, ""))}));
  const auto loaded = LoadedProgram::load(program.read(), nullptr);
  ASSERT_TRUE(loaded.ok());
  MatchScratch scratch;
  RequestView request;
  request.path = "/";
  EXPECT_FALSE(decide(**loaded, 0, request, scratch).has_value());
  EXPECT_EQ(scratch.faults(), 1u);
}

TEST(Decide, RefusesWhatADamagedPatternWouldDecide) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::uint32_t pattern = host.regex("^/admin");
  host.exact("/plain", host.action());
  host.any(host.group({host.node(Op::kNot, host.node(Op::kRegex, pattern))}));
  Asked sound(program);
  EXPECT_EQ(sound.ask("a", "/admin"), "");
  EXPECT_EQ(sound.ask("a", "/x"), "r1@");
  EXPECT_EQ(sound.faults(), 0u);
  Asked asked(program, [](std::vector<std::byte>& bytes) { bytes[bytes.size() / 2] ^= std::byte{1}; });
  EXPECT_EQ(asked.ask("a", "/x"), "");
  EXPECT_EQ(asked.faults(), 1u);
  EXPECT_EQ(asked.ask("a", "/plain"), "r0@");
}

constexpr TestProgram::Damage kNoDatabase = [](std::vector<std::byte>& bytes) { bytes.clear(); };

TEST(Decide, DecidesByThePatternsThemselvesWhatHasNoDatabase) {
  TestProgram program;
  TestHost& host = program.add("");
  const std::uint32_t small = host.regex("^/[0-9]+$");
  const std::uint32_t large = host.regex("^/(a[a-z]{900}|b[a-z]{900}|c[a-z]{900})$");
  host.regex_target(host.group({host.node(Op::kRegex, small), host.node(Op::kRegex, large)}));
  Asked asked(program, kNoDatabase);
  EXPECT_EQ(asked.ask("a", "/12"), "r0@");
  EXPECT_EQ(asked.ask("a", "/b" + std::string(900, 'x')), "r1@");
  EXPECT_EQ(asked.ask("a", "/12\n"), "");
  EXPECT_EQ(asked.faults(), 0u);
}

TEST(Decide, RefusesWhatAPatternWouldDecideThatNoEngineTakes) {
  TestProgram program;
  TestHost& host = program.add("");
  host.any(host.group({host.node(Op::kNot, host.node(Op::kRegex, host.regex("a{1001}")))}));
  Asked asked(program, kNoDatabase);
  EXPECT_EQ(asked.ask("a", "/x"), "");
  EXPECT_EQ(asked.faults(), 1u);
}

TEST(Decide, GoesOverToADatabaseWithTheNextProgram) {
  TestProgram program;
  TestHost& host = program.add("");
  host.regex_target(host.group({host.node(Op::kRegex, host.regex("^/[0-9]+$"))}));
  std::shared_ptr<const LoadedProgram> loaded;
  MatchScratch scratch;
  const RequestView request{"GET", "x", "/12", {}, {}, {}};
  for (const TestProgram::Damage damage : {kNoDatabase, kNoDatabase, TestProgram::Damage(nullptr)}) {
    auto next = LoadedProgram::load(program.read(damage), nullptr, loaded);
    ASSERT_TRUE(next.ok()) << next.error().text;
    loaded = *next;
    ASSERT_TRUE(scratch.prepare(*loaded).ok());
    EXPECT_TRUE(decide(*loaded, 0, request, scratch).has_value());
  }
  EXPECT_EQ(scratch.faults(), 0u);
}

TEST(Decide, SearchesFromManyThreadsAtOnce) {
  for (const TestProgram::Damage damage : {kNoDatabase, TestProgram::Damage(nullptr)}) {
    TestProgram program;
    for (int i = 0; i < 20; ++i) {
      TestHost& host = program.add("h" + std::to_string(i) + ".example");
      host.regex_target(host.group({host.node(Op::kRegex, host.regex("^/" + std::to_string(i) + "/[a-z]+"))}));
    }
    const auto loaded = LoadedProgram::load(program.read(damage), nullptr);
    ASSERT_TRUE(loaded.ok());
    std::vector<std::thread> threads;
    std::atomic<int> found = 0;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        MatchScratch scratch;
        if (!scratch.prepare(**loaded).ok()) return;
        for (int i = 0; i < 20; ++i) {
          const std::string host = "h" + std::to_string(i) + ".example";
          const std::string path = "/" + std::to_string(i) + "/abc";
          RequestView request;
          request.host = host;
          request.path = path;
          if (decide(**loaded, 0, request, scratch)) ++found;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(found, 80);
  }
}

/// Programs and requests over small alphabets, so that they meet.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  std::size_t pick(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  template <std::size_t N>
  std::string one_of(const char* const (&list)[N]) {
    return list[pick(N)];
  }

  std::string path() {
    std::string path;
    for (std::size_t i = pick(5) + 1; i > 0; --i)
      path += "/" + one_of({"a", "b", "", "long-segment-of-some-bytes", "c"});
    if (pick(20) == 0) path += std::string(pick(200), 'z') + "/" + std::string(pick(200), 'y');
    return path;
  }
  std::string prefix() {
    std::string text = path();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
  }
  std::string host() {
    return one_of({"", "com", "a.com", "b.com", "x.a.com", "y.x.a.com", "x.b.com", "z.y.x.a.com", "org"});
  }
  std::string value() { return one_of({"", "a", "ab", "abc", "prod", "a, b", "GET", "POST"}); }

  void fill(TestHost& host) {
    slots_ = {program::kSlotMethod,
              program::kSlotPath,
              host.slot(SlotKind::kHeader, "x-a"),
              host.slot(SlotKind::kHeader, "x-b"),
              host.slot(SlotKind::kQuery, "q"),
              host.slot(SlotKind::kQuery, "a b")};
    regexes_ = 0;
    for (std::size_t i = pick(4); i > 0; --i, ++regexes_) {
      host.regex(one_of({"^/a", "b", "/c$", "a/b|c", ".*", "[ab]/(a|b)"}), program::kSlotPath);
    }
    for (std::size_t i = pick(3); i > 0; --i, ++regexes_) host.regex(one_of({"^a", "b$", "pro", "a.*b"}), slots_[2]);
    for (std::size_t i = pick(12); i > 0; --i) host.exact(path(), target(host));
    for (std::size_t i = pick(12); i > 0; --i) host.prefix(prefix(), target(host));
    if (pick(2) == 0) host.early_regex_target(target(host));
    if (pick(2) == 0) host.regex_target(target(host));
    if (pick(2) == 0) host.any(target(host));
  }

 private:
  program::Target32 target(TestHost& host) {
    if (pick(2) == 0) return host.action();
    std::vector<std::uint32_t> predicates;
    for (std::size_t i = pick(4) + 1; i > 0; --i) predicates.push_back(pick(8) == 0 ? kNone : predicate(host, 3));
    return host.group(predicates);
  }
  std::uint32_t predicate(TestHost& host, int depth) {
    const std::size_t kind = pick(depth > 0 ? 9 : 6);
    switch (kind) {
      case 0:
        return host.node(Op::kPresent, slots_[pick(slots_.size())], "");
      case 1:
        return host.node(Op::kContains, slots_[pick(slots_.size())], value());
      case 2:
        return host.source_in(pick(2) == 0 ? "10.0.0.0/9" : "::/1");
      case 3:
        if (regexes_ > 0) return host.node(Op::kRegex, static_cast<std::uint32_t>(pick(regexes_)));
        [[fallthrough]];
      case 4:
      case 5:
        return host.node(Op::kEquals, slots_[pick(slots_.size())], value());
      case 6:
        return host.node(Op::kNot, predicate(host, depth - 1));
      default: {
        std::vector<std::uint32_t> operands;
        for (std::size_t i = pick(3) + 1; i > 0; --i) operands.push_back(predicate(host, depth - 1));
        return host.node(kind == 7 ? Op::kAnd : Op::kOr, operands);
      }
    }
  }

  std::mt19937 random_;
  std::vector<std::uint32_t> slots_;
  std::size_t regexes_ = 0;
};

TEST(Decide, AgreesWithTheInterpreter) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    TestProgram program;
    for (const char* pattern : {"", "*.com", "*.a.com", "a.com", "b.com", "*.x.a.com", "x.b.com"}) {
      if (random.pick(3) != 0) random.fill(program.add(pattern));
    }
    Asked asked(program);
    Asked portable(program, kNoDatabase);
    for (int i = 0; i < 400; ++i) {
      const std::string host = random.host();
      const std::string path = random.pick(30) == 0 ? "*" : random.path();
      const std::string method = random.value();
      std::vector<std::string> texts;
      std::vector<Field> headers;
      for (std::size_t n = random.pick(5); n > 0; --n) texts.push_back(random.value());
      for (const std::string& text : texts) headers.push_back({random.pick(2) == 0 ? "X-A" : "x-B", text});
      std::string query;
      for (std::size_t n = random.pick(4); n > 0; --n) {
        query += random.one_of({"q=", "a+b=", "a%20b=", "%71=", "=", "q", "&"}) + random.value() +
                 random.one_of({"", "%", "%6", "+", "%62"}) + "&";
      }
      RequestView request;
      request.method = method;
      request.host = host;
      request.path = path;
      request.query = query;
      request.headers = headers;
      request.source = *parse_ip(random.one_of({"10.1.2.3", "10.200.0.1", "fd00::1", "1::"}));
      ASSERT_EQ(asked.ask(request), asked.expected(request))
          << "seed " << seed << " request " << i << " " << host << path << "?" << query;
      ASSERT_EQ(portable.ask(request), asked.ask(request))
          << "seed " << seed << " request " << i << " without databases";
    }
    EXPECT_EQ(asked.faults() + portable.faults(), 0u);
  }
}

TEST(Decide, TellsTheListenerOfAHost) {
  TestProgram program;
  program.add("a.example");
  Asked asked(program);
  EXPECT_EQ(find_listener(asked.program(), 0, "a.example"), &asked.program().listener(0));
  EXPECT_EQ(asked.program().backend_index(1), kNone);
}

}  // namespace
}  // namespace edge::runtime
