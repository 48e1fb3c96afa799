// What a diff says, held against all requests of small worlds and the reference matcher: two programs are called equal
// only where no request differs, each class's request shows it, and each request that differs is of a class.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "compiler/analyze/diff/diff.h"
#include "compiler/compile.h"
#include "tests/reference/reference.h"
#include "tests/worlds/small_world.h"

namespace edge::worlds {
namespace {

using compiler::LinkedConfig;
using compiler::LinkedRoute;
using compiler::analyze::Diff;
using compiler::analyze::DiffClass;
using compiler::analyze::Witness;
using reference::OwnedRequest;
using reference::Reference;

const reference::Bind kBind{std::nullopt, 80};

LinkedConfig config_of(Chance& chance) {
  LinkedConfig config = small_config(chance);
  config.backends.clear();
  for (const char* name : {"a", "b", "c"}) {
    config.backends.emplace_back().identity = {"ProxyBackend", "edge", name, 0, {}};
  }
  for (LinkedRoute& route : config.routes) route.rules[0].backends = {{chance.below(3), 1}};
  return config;
}

/// Some edits change what requests see, some only the text.
void edit(LinkedConfig& config, Chance& chance) {
  const LinkedConfig other = config_of(chance);
  LinkedRoute& route = config.routes[chance.below(static_cast<std::uint32_t>(config.routes.size()))];
  const LinkedRoute& donor = other.routes[chance.below(static_cast<std::uint32_t>(other.routes.size()))];
  auto& matches = route.rules[0].matches;
  switch (chance.below(8)) {
    case 0:
      if (config.routes.size() > 1) config.routes.erase(config.routes.begin());
      break;
    case 1:
      config.routes.push_back(donor);
      config.routes.back().identity.name = "s" + std::to_string(chance.below(1000));
      break;
    case 2:
      route.rules[0].backends[0].backend = chance.below(3);
      break;
    case 3:
      std::ranges::reverse(matches);
      break;
    case 4:
      matches[chance.below(static_cast<std::uint32_t>(matches.size()))] = donor.rules[0].matches[0];
      break;
    case 5:
      route.identity.name += "x";
      break;
    case 6:
      // A match given twice says nothing new.
      matches.push_back(matches[chance.below(static_cast<std::uint32_t>(matches.size()))]);
      break;
    default:
      route.hostnames = donor.hostnames;
      break;
  }
}

class Side {
 public:
  explicit Side(LinkedConfig made) : config_(std::move(made)), reference_(config_) {
    compiler::CompileOptions options;
    options.target = program::Target::kTablesOnly;
    options.prove = false;
    Diagnostics diagnostics;
    const auto artifact = compiler::Compiler(options).compile(config_, diagnostics);
    EXPECT_TRUE(artifact && diagnostics.ok());
    program_.emplace(*program::read(artifact->bytes));
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  const program::ProgramView& program() const { return *program_; }
  /// The rule's name and the backend it leads to; both empty where none takes the request.
  std::pair<std::string, std::string> answer(const OwnedRequest& request) const {
    const auto answer = reference_.answer(kBind, request);
    if (!answer) return {"", "404, no rule takes it"};
    const LinkedRoute& route = config_.routes[answer->route];
    return {"edge/" + route.identity.name + " rules[" + std::to_string(answer->rule) + "].matches[" +
                std::to_string(answer->match) + "]",
            "edge/" + config_.backends[*route.rules[answer->rule].backends[0].backend].identity.name};
  }

 private:
  LinkedConfig config_;
  Reference reference_;
  std::optional<program::ProgramView> program_;
};

OwnedRequest owned(const Witness& witness) {
  OwnedRequest request;
  request.method = witness.method;
  request.host = witness.host;
  request.path = witness.path;
  request.query = witness.query;
  request.headers = witness.headers;
  request.source = witness.source;
  return request;
}

struct Tally {
  std::size_t equal = 0;
  std::size_t differing = 0;
  std::size_t classes = 0;
};

void check(const Side& before, const Side& after, Tally& tally) {
  const Diff diff = compiler::analyze::ProgramDiff(before.program(), after.program(), {}).run();
  EXPECT_TRUE(diff.undecided.empty()) << diff.undecided.front();
  std::map<std::string, std::string> reported;  // rules on both sides, to what becomes of them
  for (const DiffClass& changed : diff.classes) {
    const auto [rule_before, backend_before] = before.answer(owned(changed.request));
    const auto [rule_after, backend_after] = after.answer(owned(changed.request));
    EXPECT_NE(backend_before, backend_after) << witness_text(changed.request);
    EXPECT_EQ(changed.rule_before, rule_before) << witness_text(changed.request);
    EXPECT_EQ(changed.rule_after, rule_after) << witness_text(changed.request);
    reported[rule_before + "\n" + rule_after] = witness_text(changed.request);
  }
  bool differs = false;
  for (const OwnedRequest& request : every_request()) {
    const auto [rule_before, backend_before] = before.answer(request);
    const auto [rule_after, backend_after] = after.answer(request);
    if (backend_before == backend_after) continue;
    differs = true;
    ASSERT_TRUE(reported.contains(rule_before + "\n" + rule_after))
        << reference::request_line(request) << ": " << rule_before << " -> " << rule_after << " is of no class";
  }
  ++(differs || !diff.classes.empty() ? tally.differing : tally.equal);
  tally.classes += diff.classes.size();
}

TEST(DiffWorlds, TellWhatEnumerationFinds) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chance chance(seed);
    LinkedConfig first = config_of(chance);
    LinkedConfig second = first;
    for (std::uint32_t edits = 1 + chance.below(3); edits > 0; --edits) edit(second, chance);
    check(Side(std::move(first)), Side(std::move(second)), tally);
    if (::testing::Test::HasFailure()) break;
  }
  // Both answers are given often.
  EXPECT_GT(tally.equal, 5U);
  EXPECT_GT(tally.differing, 10U);
  std::printf("%zu equal, %zu differing by %zu classes of requests\n", tally.equal, tally.differing, tally.classes);
}

}  // namespace
}  // namespace edge::worlds
