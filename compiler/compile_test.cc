#include "compiler/compile.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>

#include "compiler/sample_config.h"
#include "program/dump/dump.h"

namespace edge::compiler {
namespace {

using namespace sample;
using ::testing::HasSubstr;
using ::testing::Not;

std::string messages(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all())
    text += code_text(diagnostic.code) + " " + diagnostic.resource + " " + diagnostic.field + ": " +
            diagnostic.message + "\n";
  return text;
}

std::optional<Artifact> compile(Compiler& compiler, const LinkedConfig& config) {
  Diagnostics diagnostics;
  auto artifact = compiler.compile(config, diagnostics);
  EXPECT_TRUE(artifact.has_value()) << messages(diagnostics);
  return artifact;
}

program::ProgramView read(const Artifact& artifact) {
  auto view = program::read(artifact.bytes);
  EXPECT_TRUE(view.ok()) << view.error().text;
  return *view;
}

TEST(ReadConfig, LinksWhatSeveralTextsHoldAndPointsIntoThem) {
  SourceMap sources;
  sources.add("gateway.yaml",
              "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: web}\n"
              "spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}\n");
  sources.add("r.json",
              R"({"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyRoute", "metadata": {"name": "r"},
                  "spec": {"parentRefs": [{"name": "web"}], "rules": [{"backendRefs": [{"name": "none"}]}]}})");
  Diagnostics diagnostics;
  const LinkedConfig config = read_config(sources, diagnostics);
  ASSERT_EQ(config.routes.size(), 1U);
  EXPECT_EQ(config.routes[0].listeners.size(), 1U);
  ASSERT_EQ(diagnostics.errors(), 1U);
  EXPECT_EQ(sources[diagnostics.all()[0].span.source].name(), "r.json");
}

TEST(Compile, MakesAProgramThatIsNamedByItsHash) {
  Compiler compiler({});
  const auto artifact = compile(compiler, one_of_everything());
  const auto program = read(*artifact);
  EXPECT_EQ(program.hash(), artifact->hash);
  EXPECT_EQ(program.target(), program::Target::kX8664V2);
  EXPECT_EQ(artifact->stats.native_shards_built, 1u);
  EXPECT_EQ(artifact->stats.regex_sets_built, 2u);
  EXPECT_GT(artifact->stats.prove.count(), 0);
}

TEST(Compile, SignsWhenItHasAKey) {
  const auto key = program::SigningKey::generate();
  Compiler compiler({.key = &*key});
  const auto program = read(*compile(compiler, one_of_everything()));
  EXPECT_TRUE(program::VerifyKey::of(*key).verify(program).ok());
}

TEST(Compile, TablesOnlyHoldsNoCode) {
  Compiler compiler({.target = program::Target::kTablesOnly});
  const auto program = read(*compile(compiler, one_of_everything()));
  for (const program::Section& section : program.sections()) EXPECT_NE(section.kind, program::SectionKind::kNative);
}

TEST(Compile, ASecondTimeBuildsNothingAnew) {
  Compiler compiler({});
  const auto first = compile(compiler, one_of_everything());
  const auto second = compile(compiler, one_of_everything());
  EXPECT_EQ(*first->bytes, *second->bytes);
  EXPECT_EQ(second->stats.native_shards_built, 0u);
  EXPECT_EQ(second->stats.regex_sets_built, 0u);
}

TEST(Compile, ASecondTimeLowersTheHostsThatChangedAlone) {
  Config config;
  for (int i = 0; i < 30; ++i)
    config.route("r" + std::to_string(i), {"h" + std::to_string(i % 10) + ".com"},
                 {prefix("/p" + std::to_string(i)), with_method(prefix("/q" + std::to_string(i)), "POST")});
  Compiler compiler({});
  EXPECT_EQ(compile(compiler, config)->stats.hosts_lowered, 10u);
  EXPECT_EQ(compile(compiler, config)->stats.hosts_lowered, 0u);
  config.routes[3].rules[0].filters.push_back({program::FilterOp::kRequestHeaderSet, "x", "y"});
  EXPECT_EQ(compile(compiler, config)->stats.hosts_lowered, 1u);
  // Numbers move, what they stand for does not.
  config.routes.insert(config.routes.begin(), config.routes[0]);
  config.routes[0].identity.name = "first";
  config.routes[0].hostnames = {{host("else.com"), {}}};
  EXPECT_EQ(compile(compiler, config)->stats.hosts_lowered, 1u);
  config.listeners[0].max_request_body = 77;
  EXPECT_EQ(compile(compiler, config)->stats.hosts_lowered, 11u);
}

TEST(Compile, AnotherRunTakesFromDiskWhatTheFirstOneMade) {
  std::string directory = ::testing::TempDir() + "edge-compile-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const auto run = [&](program::Target target) {
    Compiler compiler({.target = target, .cache_dir = directory});
    return compile(compiler, one_of_everything());
  };
  const auto first = run(program::Target::kX8664V2);
  EXPECT_EQ(first->stats.cache_fault, "");
  EXPECT_EQ(first->stats.regex_sets_built, 2u);
  EXPECT_EQ(first->stats.native_shards_built, 1u);
  const auto second = run(program::Target::kX8664V2);
  EXPECT_EQ(second->stats.regex_sets_built + second->stats.native_shards_built, 0u);
  EXPECT_EQ(second->stats.regex_sets_from_disk, 2u);
  EXPECT_EQ(second->stats.native_shards_from_disk, 1u);
  EXPECT_EQ(*first->bytes, *second->bytes);
  const auto other = run(program::Target::kX8664);
  EXPECT_EQ(other->stats.native_shards_built, 1u) << "code for another target is other code";

  // What was tampered with is made anew, and serves.
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('!');
  }
  const auto third = run(program::Target::kX8664V2);
  EXPECT_EQ(third->stats.regex_sets_built, 2u);
  EXPECT_EQ(third->stats.native_shards_built, 1u);
  EXPECT_EQ(*first->bytes, *third->bytes);

  std::filesystem::permissions(directory, std::filesystem::perms::all);
  const auto unsafe = run(program::Target::kX8664V2);
  EXPECT_THAT(unsafe->stats.cache_fault, HasSubstr("others may enter it"));
  EXPECT_EQ(*first->bytes, *unsafe->bytes);
  std::filesystem::remove_all(directory);
}

TEST(Compile, AnEditOfOneHostLeavesEveryOtherSectionAsItWas) {
  Config config = one_of_everything();
  Compiler compiler({});
  const auto before = read(*compile(compiler, config));
  config.routes[0].rules[0].request_timeout = std::chrono::seconds(7);
  const auto after = read(*compile(compiler, config));
  std::size_t changed = 0;
  ASSERT_EQ(before.sections().size(), after.sections().size());
  for (const program::Section& section : before.sections())
    changed += after.find(section.kind, section.id)->hash != section.hash;
  EXPECT_EQ(changed, 1u);
}

TEST(Compile, WarnsAgainEachTimeOfWhatNoRequestReaches) {
  Config config;
  config.route("a", {"a.com"}, {prefix("/")});
  config.route("b", {"a.com"}, {prefix("/")});
  Compiler compiler({});
  for (int i = 0; i < 2; ++i) {
    Diagnostics diagnostics;
    EXPECT_TRUE(compiler.compile(config, diagnostics));
    EXPECT_THAT(messages(diagnostics), HasSubstr(code_text(DiagnosticCode::kUnreachableRule)));
  }
}

TEST(Compile, AFaultyExpressionTakesItsRouteWithItAndNoOther) {
  Config config;
  config.route("bad", {"a.com"}, {prefix("/bad")}).expression = at("method = GET");
  config.route("good", {"a.com"}, {prefix("/good")});
  Compiler compiler({});
  Diagnostics diagnostics;
  const auto artifact = compiler.compile(config, diagnostics);
  ASSERT_TRUE(artifact);
  EXPECT_THAT(messages(diagnostics), HasSubstr("ProxyRoute default/bad spec.expression"));
  const std::string routes = program::dump_routes(read(*artifact));
  EXPECT_THAT(routes, HasSubstr("default/good"));
  EXPECT_THAT(routes, Not(HasSubstr("default/bad")));
}

TEST(Compile, AHostKeepsTheOlderRoutesWhenTheyTestTooManyHeaders) {
  Config config;
  for (int r = 0; r < 5; ++r) {
    LinkedRoute& route = config.route("r" + std::to_string(r), {"a.com"}, {});
    route.identity.created = 100 - r;
    route.rules.resize(1);
    for (int h = 0; h < 1000; ++h) {
      route.rules[0].matches.push_back(
          with_header(prefix("/"), "h" + std::to_string(r) + "-" + std::to_string(h), "x"));
    }
  }
  Compiler compiler({.target = program::Target::kTablesOnly});
  Diagnostics diagnostics;
  const auto artifact = compiler.compile(config, diagnostics);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(diagnostics.errors(), 1u);
  EXPECT_THAT(messages(diagnostics), HasSubstr("ProxyRoute default/r0 spec.rules"));
  const std::string routes = program::dump_routes(read(*artifact));
  EXPECT_THAT(routes, HasSubstr("default/r1"));
  EXPECT_THAT(routes, Not(HasSubstr("default/r0")));
}

/// A pattern that RE2 takes and Hyperscan does not: an anchor in its middle.
std::string refused_pattern(int n) { return "x" + std::to_string(n) + "^y"; }

TEST(Compile, PatternsThatHyperscanRefusesTakeTheirRoutesWithThem) {
  Config config;
  config.route("good", {"a.com"}, {pattern("^/good")});
  config.route("bad", {"a.com", "b.com"}, {pattern(refused_pattern(1)), prefix("/never-widened")});
  config.route("worse", {"a.com"}, {pattern(refused_pattern(2))});
  config.route("other", {"b.com"}, {prefix("/other")});
  Compiler compiler({});
  Diagnostics diagnostics;
  const auto artifact = compiler.compile(config, diagnostics);
  ASSERT_TRUE(artifact) << messages(diagnostics);
  EXPECT_THAT(messages(diagnostics), HasSubstr("default/bad"));
  EXPECT_THAT(messages(diagnostics), HasSubstr("default/worse"));
  const std::string routes = program::dump_routes(read(*artifact));
  EXPECT_THAT(routes, HasSubstr("default/good"));
  EXPECT_THAT(routes, HasSubstr("default/other"));
  EXPECT_THAT(routes, Not(HasSubstr("default/bad")));
  EXPECT_THAT(routes, Not(HasSubstr("default/worse")));

  // Mended, it is served again.
  config.routes[1].rules[0].matches[0] = pattern("^/x1/");
  Diagnostics after;
  const auto mended = compiler.recompile(config, {1}, after);
  ASSERT_TRUE(mended) << messages(after);
  EXPECT_THAT(program::dump_routes(read(*mended)), HasSubstr("default/bad"));
  Compiler fresh({});
  EXPECT_EQ(*mended->bytes, *compile(fresh, config)->bytes);
}

// ---- Edits one by one give what a compile from nothing gives -------------------------------------------------------

class Editor {
 public:
  explicit Editor(unsigned seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) config.backend("b" + std::to_string(i));
    for (int i = 0; i < 40; ++i) {
      config.route("r" + std::to_string(i), {}, {});
      edit(static_cast<std::uint32_t>(i));
    }
  }

  std::uint32_t pick() { return below(static_cast<std::uint32_t>(config.routes.size())); }

  void edit(std::uint32_t index) {
    LinkedRoute& route = config.routes[index];
    route.hostnames.clear();
    for (std::uint32_t i = below(3); i > 0; --i)
      route.hostnames.push_back({host(one_of({"a.com", "*.a.com", "b.a.com", "c.org", "d.org"})), {}});
    route.expression.reset();
    if (below(5) == 0) route.expression = at("method == \"GET\" OR header:x == \"" + std::to_string(below(3)) + "\"");
    route.rules.clear();
    LinkedRule& rule = route.rules.emplace_back();
    for (std::uint32_t i = below(3) + 1; i > 0; --i) rule.matches.push_back(match());
    rule.backends = {{below(4), below(3)}, {below(4), 1}};
  }

  Config config;

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_()) % limit; }
  const char* one_of(std::vector<const char*> items) { return items[below(static_cast<std::uint32_t>(items.size()))]; }

  RuleMatch match() {
    const std::string n = std::to_string(below(6));
    RuleMatch match = any();
    switch (below(4)) {
      case 0:
        match = exact("/p" + n);
        break;
      case 1:
        match = prefix("/p" + n);
        break;
      case 2:
        match = pattern("^/p" + n + "[a-z]*$");
        break;
      default:
        break;
    }
    if (below(4) == 0) match = with_header(std::move(match), one_of({"x", "y"}), n);
    if (below(6) == 0) match = with_query(std::move(match), "q", n);
    if (below(6) == 0) match = with_method(std::move(match), "POST");
    return match;
  }

  std::mt19937 random_;
};

TEST(Recompile, GivesTheBytesOfACompileFromNothing) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Editor editor(seed);
    Compiler compiler({});
    compile(compiler, editor.config);
    for (int round = 0; round < 12; ++round) {
      const std::uint32_t route = editor.pick();
      editor.edit(route);
      Diagnostics diagnostics;
      const auto incremental = compiler.recompile(editor.config, {route}, diagnostics);
      ASSERT_TRUE(incremental) << messages(diagnostics);
      Compiler fresh({});
      const auto whole = compile(fresh, editor.config);
      ASSERT_EQ(*incremental->bytes, *whole->bytes) << "seed " << seed << ", round " << round;
      EXPECT_EQ(incremental->hash, whole->hash);
    }
  }
}

TEST(Recompile, TouchesTheHostsOfTheRouteAlone) {
  Config config;
  for (int i = 0; i < 30; ++i)
    config.route("r" + std::to_string(i), {"h" + std::to_string(i % 10) + ".com"},
                 {prefix("/p" + std::to_string(i)), with_method(any(), "POST")});
  Compiler compiler({});
  EXPECT_EQ(compile(compiler, config)->stats.hosts_lowered, 10u);

  config.routes[3].rules[0].matches[0] = prefix("/else");
  Diagnostics diagnostics;
  auto artifact = compiler.recompile(config, {3}, diagnostics);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->stats.hosts_lowered, 1u);
  EXPECT_EQ(artifact->stats.native_shards_built, 0u) << "no predicate changed";

  config.routes[3].hostnames = {{host("new.com"), {}}};
  artifact = compiler.recompile(config, {3}, diagnostics);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(artifact->stats.hosts_lowered, 2u);
  EXPECT_EQ(artifact->stats.hosts, 11u);
  EXPECT_THAT(program::dump_routes(read(*artifact)), HasSubstr("host new.com"));
}

TEST(Recompile, JudgesRoutesTogetherThatShareHostsAndNoOthers) {
  Config config;
  for (int i = 0; i < 20; ++i)
    config.route("alone" + std::to_string(i), {"h" + std::to_string(i) + ".com"}, {prefix("/")});
  const auto bad = static_cast<std::uint32_t>(config.routes.size());
  config.route("bad", {"a.com", "b.com"}, {pattern(refused_pattern(1))});
  config.route("a", {"a.com"}, {prefix("/a")});
  const auto b = static_cast<std::uint32_t>(config.routes.size());
  config.route("b", {"b.com"}, {prefix("/b")});
  Compiler compiler({});
  Diagnostics diagnostics;
  ASSERT_TRUE(compiler.compile(config, diagnostics));
  EXPECT_EQ(diagnostics.errors(), 2u) << "one for each host of the route";

  const auto recompile = [&](std::uint32_t route) {
    Diagnostics said;
    const auto artifact = compiler.recompile(config, {route}, said);
    Compiler fresh({});
    Diagnostics said_afresh;
    const auto whole = fresh.compile(config, said_afresh);
    EXPECT_EQ(*artifact->bytes, *whole->bytes);
    EXPECT_EQ(messages(said).size(), messages(said_afresh).size());
    return artifact->stats.hosts_lowered;
  };
  config.routes[0].rules[0].matches[0] = prefix("/else");
  EXPECT_EQ(recompile(0), 1u) << "a refused route elsewhere is nothing to this host";
  config.routes[b].rules[0].matches[0] = prefix("/else");
  EXPECT_EQ(recompile(b), 4u) << "both hosts of the refused route, with it and without it";
  config.routes[bad].rules[0].matches[0] = pattern("^/mended");
  EXPECT_EQ(recompile(bad), 2u);
  config.routes[b].rules[0].matches[0] = pattern(refused_pattern(2));
  EXPECT_GE(recompile(b), 2u);
  config.routes[b] = {};
  EXPECT_EQ(recompile(b), 1u) << "a route that is gone";
}

}  // namespace
}  // namespace edge::compiler
