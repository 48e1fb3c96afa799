// What the patterns of a RequestFilter cost a request, in CPU microseconds: one after another, as before decision 553,
// and as PatternSet searches for them. script/bench filter [--json FILE]
//
// Of each the best of several rounds, as the machine is shared. Nothing is found: that is the usual request.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compile/report.h"
#include "bench/cpu_cost.h"
#include "program/evaluate/pattern.h"

namespace {

using edge::bench::Report;
using edge::program::Pattern;
using edge::program::PatternSet;

constexpr int kRounds = 7;
constexpr double kRoundMicroseconds = 30'000;
/// What is looked for in practice.
constexpr std::string_view kWords[] = {
    R"(union\s+select)", R"(insert\s+into)",    R"(drop\s+table)",       "<script[^>]*>",     "javascript:",
    R"(onerror\s*=)",    R"(\$\{jndi:)",        "/etc/passwd",           R"(\.\./\.\./)",     R"(cmd\.exe)",
    "xp_cmdshell",       R"(sleep\s*\(\s*\d+)", R"(benchmark\s*\()",     R"(load_file\s*\()", R"(into\s+outfile)",
    "<!ENTITY",          R"(<\?php)",           R"(base64_decode\s*\()", R"(eval\s*\()",      R"(document\.cookie)"};

double cost_of(const std::function<bool()>& finds) {
  return edge::bench::least_cost(kRounds, kRoundMicroseconds, "filter_bench: found what is not there",
                                 [&] { return !finds(); });
}

std::vector<std::string> patterns(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = "(?i)" + std::string(kWords[i % std::size(kWords)]);
    if (i >= std::size(kWords)) text += R"(\s*k)" + std::to_string(i);
    texts.push_back(std::move(text));
  }
  return texts;
}

void measure(Report& report, const char* part, const std::string& subject) {
  for (const std::size_t count : {1, 10, 64}) {
    const std::vector<std::string> texts = patterns(count);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::vector<Pattern> single;
    for (const std::string_view text : views) single.emplace_back(text, edge::program::kFilterPatternBytes);
    const PatternSet set(views);
    const double before = cost_of(
        [&] { return std::ranges::any_of(single, [&](const Pattern& pattern) { return pattern.found_in(subject); }); });
    const double after = cost_of([&] { return set.finds_any(subject); });
    const std::string name = std::string(part) + ", " + std::to_string(count) + " patterns";
    report.add(name + ", one by one", before, "us");
    report.add(name, after, "us");
    report.add(name + ", ratio", after / before, "x");
  }
}

}  // namespace

int main(int count, char** arguments) {
  Report report("filter");
  measure(report, "path of 38 bytes", "/api/v2/catalog/products/12345/reviews");
  measure(report, "query of 124 bytes",
          "q=shoes+and+socks&sort=price&page=3&filter[color]=red&utm_source=newsletter&utm_campaign=spring"
          "&session=9f8e7d6c5b4a&lang=en");
  std::string body;
  for (int i = 0; body.size() < 16'384; ++i) {
    body += "field" + std::to_string(i) + "=The quick brown fox jumps over the <b>lazy</b> dog & union of items; ";
  }
  body.resize(16'384);
  measure(report, "body of 16 KiB", body);
  if (count == 3 && std::strcmp(arguments[1], "--json") == 0) return report.write_json(arguments[2]) ? 0 : 1;
  return 0;
}
