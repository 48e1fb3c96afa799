#include "runtime/observe/log_recent.h"

#include <algorithm>
#include <string>

#include "runtime/observe/log_line.h"

namespace edge::runtime {
namespace {

/// What a line is counted as before it is written: names of fields, and some escapes.
constexpr std::size_t kLineSize = 1024;
/// Room that the last line takes.
constexpr std::size_t kLastLine = 64;

bool is_named(const std::string& wanted, std::string_view space, std::string_view name) {
  if (wanted.empty()) return true;
  const std::size_t slash = wanted.find('/');
  if (slash == std::string::npos) return wanted == name;
  return std::string_view(wanted).substr(0, slash) == space && std::string_view(wanted).substr(slash + 1) == name;
}

bool has_status(int wanted, int status) {
  return wanted == 0 || (wanted < 10 ? status / 100 == wanted : status == wanted);
}

bool wants(const RecentQuery& query, const LogEntry& entry) {
  return entry.facts.unix_milliseconds >= query.since_unix_milliseconds &&
         has_status(query.status, entry.facts.status) &&
         is_named(query.gateway, entry[LogText::kGatewaySpace], entry[LogText::kGateway]) &&
         is_named(query.route, entry[LogText::kRouteSpace], entry[LogText::kRoute]);
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

// Found from the end, written from the beginning.
std::string RecentLog::latest(const RecentQuery& query) const {
  std::uint64_t first = newest_ + 1;
  std::size_t size = kLastLine;
  for (std::size_t lines = 0; first > oldest() && lines < query.limit; --first) {
    const LogEntry one = entry(first - 1);
    if (!wants(query, one)) continue;
    size += one.flat_size() + kLineSize;
    if (size > kMaxAnswer) break;
    ++lines;
  }
  std::string out;
  LineWriter writer;
  for (std::uint64_t number = first; number <= newest_; ++number) {
    const LogEntry one = entry(number);
    if (wants(query, one) && out.size() < kMaxAnswer - kLastLine - kLineSize) writer.write_json(one, number, out);
  }
  return out + last_line(newest_, 0);
}

}  // namespace edge::runtime
