#include "runtime/observe/access_log/recent.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/observe/access_log/destination.h"
#include "runtime/observe/access_log/line.h"

namespace edge::runtime {
namespace {

/// Room that the last line takes.
constexpr std::size_t kLastLine = 64;

/// `name` is NAMESPACE/NAME, `wanted` that or NAME alone.
bool is_named(std::string_view wanted, std::string_view name) {
  if (wanted.empty() || wanted == name) return true;
  return wanted.find('/') == std::string_view::npos && wanted == name.substr(name.find('/') + 1);
}

bool has_status(int wanted, int status) {
  return wanted == 0 || (wanted < 10 ? status / 100 == wanted : status == wanted);
}

bool wants(const RecentQuery& query, const LogEntry& entry) {
  return entry.facts.unix_milliseconds >= query.since_unix_milliseconds &&
         has_status(query.status, entry.facts.status) &&
         is_named(query.gateway, destination_member(entry[LogText::kDestination], "gateway")) &&
         is_named(query.route, destination_member(entry[LogText::kDestination], "route"));
}

std::string last_line(std::uint64_t next, std::uint64_t missed) {
  return "{\"next\":" + std::to_string(next) + ",\"missed\":" + std::to_string(missed) + "}\n";
}

}  // namespace

void RecentLog::add(std::span<const std::span<const char>> entries) {
  const std::lock_guard lock(mutex_);
  if (bytes_ == nullptr) {
    bytes_ = std::make_unique_for_overwrite<char[]>(kMaxBytes);
    kept_ = std::make_unique<Kept[]>(kMaxEntries);
  }
  for (const std::span<const char> flat : entries) add_one(flat);
}

void RecentLog::add_one(std::span<const char> flat) {
  // An entry lies in one piece, and is smaller by far than all of it (LogEntry cuts texts).
  const std::size_t to_end = kMaxBytes - end_ % kMaxBytes;
  if (to_end < flat.size()) end_ += to_end;
  while (count_ == kMaxEntries || (count_ != 0 && end_ + flat.size() - kept(oldest()).at > kMaxBytes)) --count_;
  std::ranges::copy(flat, bytes_.get() + end_ % kMaxBytes);
  ++newest_;
  ++count_;
  kept_[newest_ % kMaxEntries] = {end_, flat.size()};
  end_ += flat.size();
}

std::string RecentLog::find(const RecentQuery& query) const {
  const std::lock_guard lock(mutex_);
  // A number that was not given out yet is of another process before this one.
  if (query.after && *query.after <= newest_) return from(*query.after, query);
  if (query.after) return from(0, query);
  return latest(query);
}

std::string RecentLog::from(std::uint64_t after, const RecentQuery& query) const {
  std::string out;
  LineWriter writer;
  const std::uint64_t kept_after = oldest() - 1;
  const std::uint64_t missed = after < kept_after ? kept_after - after : 0;
  std::uint64_t next = std::max(after, kept_after);
  for (std::size_t lines = 0; next < newest_ && lines < query.limit; ++next) {
    const LogEntry one = entry(next + 1);
    if (!wants(query, one)) continue;
    const std::size_t before = out.size();
    writer.write_json(one, next + 1, out);
    if (out.size() > kMaxAnswer - kLastLine) {
      out.resize(before);
      break;
    }
    ++lines;
  }
  return out + last_line(next, missed);
}

// From the end, since how long a line is nobody knows before it is written: a stranger's bytes take several each.
std::string RecentLog::latest(const RecentQuery& query) const {
  std::vector<std::string> lines;
  std::size_t size = kLastLine;
  LineWriter writer;
  for (std::uint64_t number = newest_; number >= oldest() && lines.size() < query.limit; --number) {
    const LogEntry one = entry(number);
    if (!wants(query, one)) continue;
    std::string line;
    writer.write_json(one, number, line);
    size += line.size();
    if (size > kMaxAnswer) break;
    lines.push_back(std::move(line));
  }
  std::string out;
  out.reserve(size);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) out += *line;
  return out + last_line(newest_, 0);
}

}  // namespace edge::runtime
