// A RequestFilter of any patterns, asked about any request: it answers with the statuses that it has, refuses all where
// a pattern cannot be searched for, and searches for many patterns at once as for each by itself.
//
// The input is lines `p`, `q`, `b` (path, query, body) and a pattern, `h NAME PATTERN`, `m METHOD`, `t TYPE`, `n
// NUMBER` (most header fields), up to an empty line; then the head of a request up to another; then its body.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http1/parse.h"
#include "program/evaluate/pattern.h"
#include "runtime/policy/request_filter.h"
#include "runtime/policy/test_policy_request.h"
#include "tests/fuzz/require.h"

namespace {

using edge::program::Pattern;
using edge::program::PatternSet;
using edge::runtime::PolicyAnswer;
using edge::runtime::RequestFilter;

constexpr std::size_t kMostPatterns = 24;
constexpr std::uint32_t kInspected = 256;

struct Input {
  std::vector<std::string> paths{}, queries{}, bodies{}, methods{}, types{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::uint32_t most_headers = 0;
};

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

Input take_input(std::string_view& text) {
  Input input;
  for (std::size_t count = 0; !text.empty() && count < kMostPatterns; ++count) {
    std::string_view line = take_line(text);
    if (line.size() < 2) break;
    const char kind = line[0];
    line.remove_prefix(2);
    if (line.size() > 1024) continue;
    if (kind == 'p') input.paths.emplace_back(line);
    if (kind == 'q') input.queries.emplace_back(line);
    if (kind == 'b') input.bodies.emplace_back(line);
    if (kind == 'm') input.methods.emplace_back(line);
    if (kind == 't') input.types.emplace_back(line);
    if (kind == 'n') std::from_chars(line.data(), line.data() + line.size(), input.most_headers);
    if (kind != 'h') continue;
    const std::size_t space = std::min(line.find(' '), line.size());
    input.headers.emplace_back(line.substr(0, space), line.substr(std::min(space + 1, line.size())));
  }
  std::ranges::sort(input.methods);
  std::ranges::sort(input.types);
  return input;
}

/// As the policies section of a program has it.
RequestFilter make(const Input& input, edge::runtime::testing::TestSection& section) {
  edge::program::RequestFilterRecord record{};
  record.status = 403;
  record.max_headers = input.most_headers;
  record.max_query_parameters = 8;
  record.inspected_body_size = input.bodies.empty() ? 0 : kInspected;
  record.paths = section.strings(input.paths);
  record.queries = section.strings(input.queries);
  record.bodies = section.strings(input.bodies);
  record.methods = section.strings(input.methods);
  record.content_types = section.strings(input.types);
  std::vector<edge::program::FieldRecord> headers;
  for (const auto& [name, pattern] : input.headers) headers.push_back({section.string(name), section.string(pattern)});
  record.headers = section.array(headers);
  return RequestFilter(section.view(), record, nullptr);
}

bool one_by_one(const std::vector<std::string>& texts, std::string_view subject) {
  return std::ranges::any_of(texts, [&](const std::string& text) {
    return Pattern(text, edge::program::kFilterPatternBytes).found_in(subject);
  });
}

bool all_ok(const Input& input) {
  const auto ok = [](const std::string& text) { return Pattern(text, edge::program::kFilterPatternBytes).ok(); };
  return std::ranges::all_of(input.paths, ok) && std::ranges::all_of(input.queries, ok) &&
         std::ranges::all_of(input.bodies, ok) &&
         std::ranges::all_of(input.headers, [&](const auto& header) { return ok(header.second); });
}

void check_set(const std::vector<std::string>& texts, std::initializer_list<std::string_view> subjects) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const PatternSet set(views);
  if (!set.in_one_pass()) return;
  for (const std::string_view subject : subjects) require(set.finds_any(subject) == one_by_one(texts, subject));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const Input input = take_input(text);
  const std::size_t end = std::min(text.find("\n\n"), text.size());
  const std::string_view lines = text.substr(0, end);
  const std::string_view body = text.substr(std::min(end + 2, text.size()));
  for (const auto* texts : {&input.paths, &input.queries, &input.bodies}) {
    check_set(*texts, {lines, body});
  }
  const edge::runtime::testing::TestRequest request(lines);
  if (!request.complete()) return 0;
  edge::runtime::testing::TestSection section;
  const RequestFilter filter = make(input, section);
  const auto asked = request.policy_request();
  const std::optional<PolicyAnswer> head = filter.pass(asked, asked.head.method_text);
  const std::optional<PolicyAnswer> found = filter.pass_body(asked, body);
  if (!all_ok(input)) {
    require(head && head->status == 503 && found && found->status == 503);
    return 0;
  }
  constexpr int kStatuses[] = {400, 403, 405, 413, 415, 431};
  require(!head || std::ranges::find(kStatuses, head->status) != std::end(kStatuses));
  require(found.has_value() == one_by_one(input.bodies, body.substr(0, filter.inspected())));
  if (one_by_one(input.paths, asked.path) || one_by_one(input.queries, asked.head.query)) require(head.has_value());
  return 0;
}
