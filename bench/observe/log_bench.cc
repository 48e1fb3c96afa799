// What the access log costs a request, by part and as a whole: CPU time of this process, nobody else's.
//
//   log_bench [PATH]     the lines go there; without one they are made and kept, and written nowhere
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bench/observe/measure.h"
#include "runtime/observe/access_log/access_log.h"
#include "runtime/observe/access_log/notes.h"

namespace edge::runtime {
namespace {

constexpr int kRequests = 400'000;
/// So many that the ring takes them all.
constexpr int kBatch = 500;
constexpr std::string_view kDestination =
    ",\"gateway\":\"shop/public\",\"listener\":\"http\",\"route\":\"shop/catalogue\",\"rule\":0,"
    "\"backend\":\"shop/catalogue-v2\"";

void note(Notes& notes) {
  notes.keep(Notes::Text::kMethod, "GET");
  notes.keep(Notes::Text::kHost, "shop.example");
  notes.keep(Notes::Text::kPath, "/catalogue/shoes/42");
  notes.keep(Notes::Text::kQuery, "colour=brown&page=2");
  notes.keep(Notes::Text::kReferer, {});
  notes.keep(Notes::Text::kUserAgent, "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0");
}

LogEntry entry_of(const Notes& notes, int number) {
  LogEntry entry;
  LogFacts& facts = entry.facts;
  facts.format = notes.format;
  facts.unix_milliseconds = 1'795'228'245'007 + static_cast<std::uint64_t>(number) / 200;
  facts.sent = 2326;
  facts.head = facts.policies = 0;
  facts.connect = 41'000;
  facts.answer = 1'912'345;
  facts.total = 2'123'456 + number;
  facts.client = notes.client;
  facts.client_port = static_cast<std::uint16_t>(number);
  facts.endpoint = notes.endpoint;
  facts.attempts = 1;
  facts.status = 200;
  entry[LogText::kMethod] = notes.text(Notes::Text::kMethod);
  entry[LogText::kHost] = notes.text(Notes::Text::kHost);
  entry[LogText::kPath] = notes.text(Notes::Text::kPath);
  entry[LogText::kQuery] = notes.text(Notes::Text::kQuery);
  entry[LogText::kReferer] = notes.text(Notes::Text::kReferer);
  entry[LogText::kUserAgent] = notes.text(Notes::Text::kUserAgent);
  entry[LogText::kDestination] = kDestination;
  entry[LogText::kRequestId] = "01900000-0000-7000-8000-000000000001";
  return entry;
}

struct Requests {
  explicit Requests(const LogFormat& format) : notes(format, gateway) {
    note(notes);
    notes.client = *parse_ip("203.0.113.7");
    notes.endpoint = {*parse_ip("10.20.30.40"), 8080};
  }
  program::GatewayRecord gateway{};
  Notes notes;
};

void measure_parts() {
  const LogFormat json("json");
  const LogFormat combined("combined");
  Requests requests(json);
  bench::measure("note", kRequests, [&](int) {
    const auto notes = std::make_unique<Notes>(json, requests.gateway);
    note(*notes);
  });
  LogRing ring;
  bench::measure("put into the ring, and out", kRequests, [&](int number) {
    ring.put(entry_of(requests.notes, number));
    if (!ring.front().empty()) ring.pop();
  });
  ring.put(entry_of(requests.notes, 1));
  const std::span<const char> flat = ring.front();
  RecentLog recent;
  bench::measure("keep among the latest", kRequests, [&](int) { recent.add({&flat, 1}); });
  LineWriter writer;
  std::string lines;
  for (const LogFormat* format : {&json, &combined}) {
    LogEntry entry = LogEntry::of(flat);
    entry.facts.format = format;
    bench::measure(format == &json ? "line in JSON" : "line as combined", kRequests, [&](int) {
      if (lines.size() > 65536) lines.clear();
      writer.write(entry, lines);
    });
  }
}

int measure_whole(const char* path) {
  auto log = AccessLog::open({.path = path == nullptr ? "" : path, .max_size = 64 << 20, .keep = 1}, {});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().text.c_str()), 1;
  const LogFormat& format = (*log)->format("json");
  AccessLog::Pen& pen = (*log)->add_thread();
  Requests requests(format);
  const auto done = [&] {
    const AccessLogCounts counts = (*log)->counts();
    return counts.written + counts.dropped_busy + counts.dropped_output;
  };
  const double before = bench::nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int number = 0; number < kRequests; ++number) {
    const auto notes = std::make_unique<Notes>(format, requests.gateway);
    note(*notes);
    notes->client = requests.notes.client;
    notes->endpoint = requests.notes.endpoint;
    pen.write(entry_of(*notes, number));
    if (number % kBatch != kBatch - 1) continue;
    const timespec pause{0, 1'000'000};
    while (done() + 2 * kBatch < static_cast<std::uint64_t>(number)) ::nanosleep(&pause, nullptr);
  }
  const timespec pause{0, 1'000'000};
  while (done() < kRequests) ::nanosleep(&pause, nullptr);
  const double spent = bench::nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before;
  const AccessLogCounts counts = (*log)->counts();
  const std::uint64_t dropped = counts.dropped_busy + counts.dropped_output;
  std::printf("%-28s %7.1f ns (%" PRIu64 " written, %" PRIu64 " dropped)\n", "all of it, both threads",
              spent / kRequests, counts.written, dropped);
  return 0;
}

}  // namespace
}  // namespace edge::runtime

int main(int count, char** arguments) {
  if (count < 3) edge::runtime::measure_parts();
  return edge::runtime::measure_whole(count > 1 ? arguments[1] : nullptr);
}
