// The engines against the reference matcher on random configurations.
//
//   EDGE_DIFF_SEED   the first seed (1); a failure prints the seed that shows it
//   EDGE_DIFF_COUNT  evaluations to reach (1,000,000): one is one request answered by the reference and all engines
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/diff/comparison.h"
#include "tests/diff/random_config.h"
#include "tests/diff/shrink.h"

namespace edge::diff {
namespace {

constexpr std::size_t kRequestsOfAProgram = 1'500;
/// Routes replaced one after the other, each compiled incrementally.
constexpr std::uint32_t kEdits = 2;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void report(std::uint64_t seed, const char* step, const compiler::LinkedConfig& config, const Disagreement& found) {
  const auto fails = [](const Case& candidate) {
    return Comparison().compile_and_compare(candidate.config, {candidate.request}).has_value();
  };
  Case failing{config, found.request};
  if (!fails(failing)) {
    ADD_FAILURE() << "seed " << seed << ", " << step << ": only the incremental compile is wrong\n"
                  << found.text << "\n"
                  << case_text(failing);
    return;
  }
  const Case small = shrink(std::move(failing), fails);
  const auto again = Comparison().compile_and_compare(small.config, {small.request});
  ADD_FAILURE() << "EDGE_DIFF_SEED=" << seed << ", " << step << "\n"
                << (again ? again->text : found.text) << "\n"
                << case_text(small);
}

TEST(Differential, EnginesAgreeWithTheReference) {
  const std::uint64_t first = setting("EDGE_DIFF_SEED", 1);
  const std::uint64_t count = setting("EDGE_DIFF_COUNT", 1'000'000);
  std::uint64_t evaluations = 0;
  std::uint64_t matched = 0;
  std::uint64_t programs = 0;
  std::uint64_t treatments = 0;
  for (std::uint64_t seed = first; evaluations < count; ++seed) {
    Chance chance(seed);
    compiler::LinkedConfig config = random_config(chance);
    Comparison comparison;
    auto found = comparison.compile_and_compare(config, random_requests(chance, config, kRequestsOfAProgram));
    if (found) return report(seed, "first compile", config, *found);
    for (std::uint32_t edit = 0; edit < kEdits; ++edit) {
      const std::uint32_t route = chance.below(static_cast<std::uint32_t>(config.routes.size()));
      replace_route(chance, config, route);
      found = comparison.recompile_and_compare(config, route, random_requests(chance, config, kRequestsOfAProgram));
      if (found) return report(seed, "incremental compile", config, *found);
    }
    // A seed whose configuration binds nothing would never end the loop.
    evaluations += std::max<std::uint64_t>(comparison.evaluations(), 1);
    matched += comparison.matched();
    treatments += comparison.treatments();
    programs += 2 * (1 + kEdits);
  }
  std::printf("%llu evaluations, %llu of them matched, %llu treatments, %llu programs, seeds from %llu on\n",
              static_cast<unsigned long long>(evaluations), static_cast<unsigned long long>(matched),
              static_cast<unsigned long long>(treatments), static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(first));
  EXPECT_GT(matched, evaluations / 10) << "the generator's requests match too seldom to show anything";
}

}  // namespace
}  // namespace edge::diff
