#include "controller/traces/trace_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/traces/sqlite.h"

namespace edge::traces {
namespace {

// "edgT": what `file` and a look with sqlite3 tell this database by.
constexpr std::int64_t kApplicationId = 0x65646754;
constexpr std::int64_t kFormat = 1;
constexpr std::int64_t kPageBytes = 4096;
/// Room that is made at a time goes beyond what is needed, so that not every write has to make some.
constexpr std::uint64_t kRoomAtATime = 16;
/// How many times its bytes a span takes: the pages of the indexes may be half empty. Some take more, as a resource
/// that is a little too long for a page of its index; for those there is the second.
constexpr std::array<std::uint64_t, 2> kRoomFactors = {3, 12};
constexpr std::uint64_t kLeastRoom = std::uint64_t{1} << 20;
constexpr int kTracesAtATime = 64;
/// A clock that is set back by less than this is waited for.
constexpr std::int64_t kClockSlackUs = 60'000'000;

constexpr const char* kSchema = R"(
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS sources(id INTEGER PRIMARY KEY, resource BLOB NOT NULL, scope BLOB NOT NULL,
    last INTEGER NOT NULL, UNIQUE(resource, scope));
  CREATE TABLE IF NOT EXISTS operations(id INTEGER PRIMARY KEY, service TEXT NOT NULL, name TEXT NOT NULL,
    kind INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE(service, name, kind));
  CREATE TABLE IF NOT EXISTS spans(trace BLOB NOT NULL, span BLOB NOT NULL, start INTEGER NOT NULL,
    duration INTEGER NOT NULL, operation INTEGER NOT NULL, source INTEGER NOT NULL, bytes BLOB NOT NULL,
    UNIQUE(trace, span));
  CREATE INDEX IF NOT EXISTS spans_by_start ON spans(start, operation, duration, trace);
  CREATE TABLE IF NOT EXISTS traces(trace BLOB PRIMARY KEY, arrived INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS traces_by_arrival ON traces(arrived);
  COMMIT;)";

enum Text : std::size_t { kSource, kOperation, kSpan, kTrace, kOldest, kRemoveSpans, kRemoveTrace, kTexts };
constexpr std::array<const char*, kTexts> kStatements = {
    "INSERT INTO sources(resource, scope, last) VALUES(?1,?2,?3) "
    "ON CONFLICT(resource, scope) DO UPDATE SET last=max(last,?3) RETURNING id",
    "INSERT INTO operations(service, name, kind, last) VALUES(?1,?2,?3,?4) "
    "ON CONFLICT(service, name, kind) DO UPDATE SET last=max(last,?4) RETURNING id",
    // A sender that did not hear our answer sends the same again.
    "INSERT OR IGNORE INTO spans VALUES(?1,?2,?3,?4,?5,?6,?7)",
    "INSERT OR IGNORE INTO traces VALUES(?1,?2)",
    "SELECT trace FROM traces WHERE arrived < ?1 ORDER BY arrived LIMIT ?2",
    "DELETE FROM spans WHERE trace=?1",
    "DELETE FROM traces WHERE trace=?1",
};

template <std::size_t size>
std::string_view view(const std::array<std::uint8_t, size>& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

Status check_owner(const std::string& path, Connection& file) {
  const auto application = file.number("PRAGMA application_id");
  if (!application) return application.error();
  const auto format = file.number("PRAGMA user_version");
  if (!format) return format.error();
  const auto tables = file.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  if (*application != kApplicationId && (*application != 0 || *tables != 0)) {
    return Error{ErrorCode::kFailedPrecondition, path + ": is another program's database"};
  }
  if (*format > kFormat) return Error{ErrorCode::kFailedPrecondition, path + ": was written by a newer version"};
  return {};
}

}  // namespace

struct TraceFile::Handles {
  std::unique_ptr<Connection> file;
  std::array<Statement, kTexts> statements;

  /// The number that a statement with RETURNING gives.
  static Result<std::int64_t> returned(Statement& statement) {
    const Result<bool> row = statement.step();
    if (!row) return row.error();
    const std::int64_t id = *row ? statement.number(0) : 0;
    statement.reset();
    return id;
  }
};

TraceFile::TraceFile(std::unique_ptr<Handles> handles, TraceLimits limits)
    : handles_(std::move(handles)), limits_(limits) {}
TraceFile::~TraceFile() = default;

Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::string& path, TraceLimits limits) {
  auto connection = Connection::open(path, Connection::Mode::kWrite);
  if (!connection) return connection.error();
  auto handles = std::make_unique<Handles>();
  handles->file = std::move(*connection);
  Connection& file = *handles->file;
  if (Status status = check_owner(path, file); !status) return status.error();
  // NORMAL: a crash of the process loses nothing that was committed, one of the machine the last seconds. Traces are
  // worth no more, and the disk has no more to do than once every some thousand pages.
  // Of an empty file there is nothing to be lost yet.
  const auto tables = file.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  const std::string set_up = std::string("PRAGMA synchronous=") + (*tables == 0 ? "OFF" : "NORMAL") +
                             "; PRAGMA page_size=" + std::to_string(kPageBytes) +
                             "; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; "
                             "PRAGMA journal_size_limit=4194304; PRAGMA application_id=" +
                             std::to_string(kApplicationId) + "; PRAGMA user_version=" + std::to_string(kFormat);
  if (Status status = file.run(set_up); !status) return status.error();
  if (Status status = file.run(kSchema); !status) return status.error();
  if (Status status = file.run("PRAGMA synchronous=NORMAL"); !status) return status.error();
  for (std::size_t i = 0; i < kTexts; ++i) {
    auto statement = file.prepare(kStatements[i]);
    if (!statement) return statement.error();
    handles->statements[i] = std::move(*statement);
  }
  limits.bytes = std::max(limits.bytes, kLeastTraceBytes);
  auto traces = std::unique_ptr<TraceFile>(new TraceFile(std::move(handles), limits));
  const auto count = traces->handles_->file->number("SELECT count(*) FROM traces");
  if (!count) return count.error();
  traces->traces_ = static_cast<std::uint64_t>(*count);
  const auto latest = traces->handles_->file->number("SELECT max(arrived) FROM traces");
  if (!latest) return latest.error();
  traces->latest_us_ = *latest;
  if (Status status = traces->make_room(0); !status) return status.error();
  // A bound that was larger before: what was deleted leaves the file.
  Connection& opened = *traces->handles_->file;
  if (Status status = opened.run("PRAGMA incremental_vacuum"); !status) return status.error();
  const std::string bound = "PRAGMA max_page_count=" + std::to_string(limits.bytes / kPageBytes);
  if (Status status = opened.run(bound); !status) return status.error();
  if (Status status = traces->measure(); !status) return status.error();
  return traces;
}

template <typename Work>
Status TraceFile::transact(const Work& work) {
  Connection& file = *handles_->file;
  if (Status status = file.run("BEGIN IMMEDIATE"); !status) return status;
  Status status = work();
  if (status) status = file.run("COMMIT");
  if (!status && file.in_transaction()) (void)file.run("ROLLBACK");
  return status;
}

Status TraceFile::write(std::span<const IncomingSpan> spans, std::int64_t now_us) {
  std::uint64_t bytes = 0;
  for (const IncomingSpan& span : spans) bytes += span.size();
  // The order in which things came holds when the clock is set back, too: forget_names rests on it.
  latest_us_ = std::max(latest_us_, now_us);
  Status status;
  for (const std::uint64_t factor : kRoomFactors) {
    if (Status room = make_room(std::max(kLeastRoom, bytes * factor)); !room) return room;
    const std::uint64_t before = traces_;
    status = transact([&] { return insert(spans, latest_us_); });
    if (status) return measure();
    traces_ = before;
    if (status.error().code != ErrorCode::kResourceExhausted) break;
  }
  return status;
}

Status TraceFile::insert(std::span<const IncomingSpan> spans, std::int64_t arrived_us) {
  auto& statements = handles_->statements;
  std::map<const IncomingSource*, std::int64_t> sources;
  std::map<std::tuple<std::string_view, std::string_view, std::uint8_t>, std::int64_t> operations;
  std::set<otlp::TraceId> traces;
  for (const IncomingSpan& span : spans) {
    const auto [source, new_source] = sources.try_emplace(span.source.get());
    if (new_source) {
      Statement& put = statements[kSource];
      put.bind_bytes(1, span.source->resource);
      put.bind_bytes(2, span.source->scope);
      put.bind(3, arrived_us);
      const auto id = Handles::returned(put);
      if (!id) return id.error();
      source->second = *id;
    }
    const auto [operation, new_operation] = operations.try_emplace({span.source->service, span.name, span.kind});
    if (new_operation) {
      Statement& put = statements[kOperation];
      put.bind_text(1, span.source->service);
      put.bind_text(2, span.name);
      put.bind(3, span.kind);
      put.bind(4, arrived_us);
      const auto id = Handles::returned(put);
      if (!id) return id.error();
      operation->second = *id;
    }
    Statement& put = statements[kSpan];
    put.bind_bytes(1, view(span.trace));
    put.bind_bytes(2, view(span.id));
    put.bind(3, span.start_us);
    put.bind(4, span.duration_us);
    put.bind(5, operation->second);
    put.bind(6, source->second);
    put.bind_bytes(7, span.bytes);
    if (Status status = put.run(); !status) return status;
    if (!traces.insert(span.trace).second) continue;
    Statement& trace = statements[kTrace];
    trace.bind_bytes(1, view(span.trace));
    trace.bind(2, arrived_us);
    if (Status status = trace.run(); !status) return status;
    traces_ += static_cast<std::uint64_t>(handles_->file->changes());
  }
  return {};
}

Status TraceFile::make_room(std::uint64_t bytes) {
  if (Status status = measure(); !status) return status;
  if (bytes_ + bytes <= limits_.bytes) return {};
  const std::uint64_t keep = limits_.bytes - std::min(limits_.bytes, bytes + limits_.bytes / kRoomAtATime);
  while (bytes_ > keep && traces_ > 0) {
    const std::uint64_t before = traces_;
    if (Status status = remove_oldest(INT64_MAX); !status) return status;
    if (Status status = measure(); !status) return status;
    if (traces_ == before) break;
  }
  return forget_names();
}

// Where the clock ran ahead and came back, what came meanwhile would stay for as long as it ran ahead, and with it
// whatever comes now. It came at the latest now. The order of what came before holds, so that names stay with their
// spans.
Status TraceFile::follow_clock(std::int64_t now_us) {
  if (latest_us_ <= now_us + kClockSlackUs) return {};
  const std::string now = std::to_string(now_us);
  Status status = transact([&] {
    return handles_->file->run("UPDATE sources SET last=" + now + " WHERE last > " + now +
                               "; UPDATE operations SET last=" + now + " WHERE last > " + now +
                               "; UPDATE traces SET arrived=" + now + " WHERE arrived > " + now);
  });
  if (status) latest_us_ = now_us;
  return status;
}

Status TraceFile::expire(std::int64_t now_us) {
  if (Status status = follow_clock(now_us); !status) return status;
  const std::uint64_t at_first = traces_;
  for (std::uint64_t before = traces_ + 1; traces_ < before;) {
    before = traces_;
    if (Status status = remove_oldest(now_us - limits_.age_us); !status) return status;
  }
  if (traces_ == at_first) return {};
  if (Status status = forget_names(); !status) return status;
  return measure();
}

/// Some of the traces that came before then, the oldest first.
Status TraceFile::remove_oldest(std::int64_t before_us) {
  auto& statements = handles_->statements;
  Statement& oldest = statements[kOldest];
  oldest.bind(1, before_us);
  oldest.bind(2, kTracesAtATime);
  std::vector<std::string> traces;
  for (;;) {
    const Result<bool> row = oldest.step();
    if (!row) return row.error();
    if (!*row) break;
    traces.emplace_back(oldest.bytes(0));
  }
  if (traces.empty()) return {};
  Status status = transact([&]() -> Status {
    for (const std::string& trace : traces) {
      for (const Text text : {kRemoveSpans, kRemoveTrace}) {
        statements[text].bind_bytes(1, trace);
        if (Status removed = statements[text].run(); !removed) return removed;
      }
    }
    return {};
  });
  if (status) traces_ -= traces.size();
  return status;
}

/// A span is as old as its trace or younger, and its source and operation were seen when it came: what was last seen
/// before the oldest trace that is left, no span has.
Status TraceFile::forget_names() {
  return transact([&] {
    return handles_->file->run(
        "DELETE FROM sources WHERE last < ifnull((SELECT min(arrived) FROM traces), 9223372036854775807);"
        "DELETE FROM operations WHERE last < ifnull((SELECT min(arrived) FROM traces), 9223372036854775807);");
  });
}

Status TraceFile::measure() {
  const auto pages = handles_->file->number("PRAGMA page_count");
  if (!pages) return pages.error();
  const auto unused = handles_->file->number("PRAGMA freelist_count");
  if (!unused) return unused.error();
  bytes_ = static_cast<std::uint64_t>((*pages - *unused) * kPageBytes);
  return {};
}

}  // namespace edge::traces
