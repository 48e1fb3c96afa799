#include "edgectl/agents/page_lines.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "edgectl/agents/web_client.h"
#include "edgectl/resources/columns.h"

namespace edge::edgectl {
namespace {

constexpr std::chrono::milliseconds kAskAgain(250);

}  // namespace

PageLines::PageLines(Fetch fetch, std::string page, std::string first)
    : fetch_(std::move(fetch)), page_(std::move(page)), first_(std::move(first)) {}

void PageLines::take(const std::string& source, const std::string& body, Batch& batch) {
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const nlohmann::json object = parse_json(line);
    if (!object.is_object()) continue;
    const auto next = object.find("next");
    if (next == object.end()) {
      if (!wants_ || wants_(object)) batch.lines.push_back({source, member_text(object, "time"), std::string(line)});
      continue;
    }
    if (next->is_number_unsigned()) next_[source] = next->get<std::uint64_t>();
    const nlohmann::json& missed = member_in(object, "missed");
    if (missed.is_number_unsigned()) batch.missed += missed.get<std::uint64_t>();
  }
}

std::string PageLines::target(const std::string& query) const {
  if (query.empty()) return page_;
  return page_ + (page_.find('?') == std::string::npos ? "?" : "&") + query;
}

/// 0: it does not say.
std::uint64_t PageLines::end_of(const std::string& source) {
  const auto body = fetch_(source, target("limit=0"));
  const nlohmann::json object = parse_json(body ? *body : "");
  const nlohmann::json& next = member_in(object, "next");
  return next.is_number_unsigned() ? next.get<std::uint64_t>() : 0;
}

PageLines::Batch PageLines::read(const std::vector<std::string>& sources) {
  Batch batch;
  for (const std::string& source : sources) {
    if (wants_ && !ends_.contains(source)) ends_[source] = end_of(source);
    const auto known = next_.find(source);
    const std::uint64_t before = known == next_.end() ? 0 : known->second;
    const auto body = fetch_(source, target(known == next_.end() ? first_ : "after=" + std::to_string(before)));
    if (!body) {
      batch.failed.push_back(body.error());
      continue;
    }
    take(source, *body, batch);
    // One that has begun anew meanwhile never comes to where it was.
    if (wants_ && next_[source] != before && next_[source] < ends_[source]) batch.more = true;
  }
  std::ranges::stable_sort(batch.lines, {}, &PageLine::time);
  return batch;
}

int print_lines(std::string_view command, PageLines& lines,
                const std::function<Result<std::vector<std::string>>()>& sources,
                const std::function<std::string(const PageLine&)>& text_of, bool follow) {
  std::set<std::string> reported;
  for (bool first = true;; first = false) {
    const auto all = sources();
    if (!all) {
      // An agent or controller that is away for a while comes back.
      if (first || !follow) {
        cli::print_error(command, all.error().text);
        return cli::kExitUnreachable;
      }
    } else {
      if (first && all->empty()) cli::print_message("edgectl", "no agent is connected");
      const PageLines::Batch batch = lines.read(*all);
      for (const Error& error : batch.failed) {
        if (reported.insert(error.text).second) cli::print_error(command, error.text);
      }
      if (batch.missed > 0 && !first) {
        cli::print_message("edgectl", std::to_string(batch.missed) + " lines came faster than they could be read");
      }
      std::string text;
      for (const PageLine& line : batch.lines) text += text_of(line) + "\n";
      if (!text.empty() && !cli::write_text(stdout, text)) return cli::kExitOk;
      const bool wrong = !batch.failed.empty() && batch.failed.front().code == ErrorCode::kInvalidArgument;
      if (first && batch.failed.size() == all->size() && !all->empty() && (wrong || !follow)) {
        return wrong ? cli::kExitFindings : cli::kExitUnreachable;
      }
      if (!follow && batch.more) continue;
      if (!follow) return batch.failed.empty() ? cli::kExitOk : cli::kExitUnreachable;
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

std::string query_part(std::string_view name, const std::string& value) {
  return value.empty() ? std::string() : "&" + std::string(name) + "=" + url_encoded(value);
}

std::string member_text(const nlohmann::json& object, std::string_view name) {
  const nlohmann::json& value = member_in(object, name);
  return value.is_null() ? std::string() : cell_text(value);
}

}  // namespace edge::edgectl
