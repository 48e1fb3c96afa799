#include "controller/traces/trace_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <unordered_map>

#include "controller/traces/jaeger.h"
#include "controller/traces/sqlite.h"

namespace edge::traces {
namespace {

enum Question : std::size_t { kServices, kOperations, kFind, kFindWithin, kSpanOf, kLoad, kSourceOf, kQuestionCount };
// `spans_by_start` holds all that kFind and kFindWithin ask for: what does not match costs no page of a span.
constexpr std::array<const char*, kQuestionCount> kQuestions = {
    "SELECT DISTINCT service FROM operations ORDER BY service LIMIT ?1",
    "SELECT name, kind FROM operations WHERE service=?1 ORDER BY name, kind LIMIT ?2",
    "SELECT trace, rowid FROM spans WHERE start BETWEEN ?1 AND ?2 AND duration BETWEEN ?3 AND ?4 ORDER BY start DESC",
    "SELECT trace, rowid FROM spans WHERE start BETWEEN ?1 AND ?2 AND duration BETWEEN ?3 AND ?4 AND operation IN "
    "(SELECT id FROM operations WHERE service=?5 AND (?6='' OR name=?6)) ORDER BY start DESC",
    "SELECT bytes, source FROM spans WHERE rowid=?1",
    "SELECT bytes, source FROM spans WHERE trace=?1 ORDER BY start LIMIT ?2",
    "SELECT resource, scope FROM sources WHERE id=?1",
};

otlp::TraceId id_of(std::string_view bytes) {
  otlp::TraceId id{};
  std::memcpy(id.data(), bytes.data(), std::min(bytes.size(), id.size()));
  return id;
}

std::string_view view(const otlp::TraceId& id) { return {reinterpret_cast<const char*>(id.data()), id.size()}; }

bool has_tags(const otlp::Span& span, const otlp::Source& source, const TraceQuery& query) {
  return std::ranges::all_of(query.tags, [&](const auto& tag) { return has_tag(span, source, tag.first, tag.second); });
}

/// What a span or a tag takes beside its text.
constexpr std::size_t kSpanBytes = 2048;
constexpr std::size_t kTagBytes = 384;
/// Sources that a search holds at a time.
constexpr std::size_t kMostSources = 1'000;

std::size_t bytes_of(const std::vector<otlp::Attribute>& attributes) {
  std::size_t bytes = 0;
  for (const otlp::Attribute& one : attributes) bytes += kTagBytes + one.key.size() + one.value.text.size();
  return bytes;
}

std::size_t bytes_of(const otlp::Source& source) {
  return kTagBytes + source.service.size() + source.scope.size() + bytes_of(source.attributes);
}

std::size_t bytes_of(const otlp::Span& span) {
  std::size_t bytes = kSpanBytes + span.name.size() + span.state.size() + span.status_message.size();
  bytes += bytes_of(span.attributes) + span.links.size() * kTagBytes;
  for (const otlp::Event& event : span.events) bytes += 2 * kTagBytes + event.name.size() + bytes_of(event.attributes);
  return bytes;
}

}  // namespace

struct TraceReader::Handles {
  std::unique_ptr<Connection> file;
  std::array<Statement, kQuestionCount> statements;

  Result<otlp::Source> source(std::int64_t id) {
    Statement& statement = statements[kSourceOf];
    statement.bind(1, id);
    const Result<bool> row = statement.step();
    if (!row) return row.error();
    // What is in the file was read before it was written: nothing of it is refused now.
    if (!*row) return otlp::Source();
    otlp::Source source = otlp::read_source(statement.bytes(0)).value_or(otlp::Source());
    (void)otlp::read_scope(statement.bytes(1), source);
    statement.reset();
    return source;
  }
};

TraceReader::TraceReader(std::unique_ptr<Handles> handles, ReadLimits limits)
    : handles_(std::move(handles)), limits_(limits) {}
TraceReader::~TraceReader() = default;

Result<std::unique_ptr<TraceReader>> TraceReader::open(const std::string& path, ReadLimits limits) {
  auto connection = Connection::open(path, Connection::Mode::kRead);
  if (!connection) return connection.error();
  auto handles = std::make_unique<Handles>();
  handles->file = std::move(*connection);
  for (std::size_t i = 0; i < kQuestionCount; ++i) {
    auto statement = handles->file->prepare(kQuestions[i]);
    if (!statement) return statement.error();
    handles->statements[i] = std::move(*statement);
  }
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(handles), limits));
}

Result<std::vector<std::string>> TraceReader::services() {
  handles_->file->set_deadline(std::chrono::steady_clock::now() + limits_.time);
  Statement& statement = handles_->statements[kServices];
  statement.bind(1, static_cast<std::int64_t>(limits_.names));
  std::vector<std::string> names;
  for (std::size_t bytes = 0; bytes < limits_.name_bytes; bytes += names.back().size()) {
    const Result<bool> row = statement.step();
    if (!row) return row.error();
    if (!*row) return names;
    names.emplace_back(statement.bytes(0));
  }
  statement.reset();
  return names;
}

Result<std::vector<Operation>> TraceReader::operations(const std::string& service, const std::string& kind) {
  handles_->file->set_deadline(std::chrono::steady_clock::now() + limits_.time);
  Statement& statement = handles_->statements[kOperations];
  statement.bind_text(1, service);
  statement.bind(2, static_cast<std::int64_t>(limits_.names));
  std::vector<Operation> found;
  for (std::size_t bytes = 0; bytes < limits_.name_bytes;) {
    const Result<bool> row = statement.step();
    if (!row) return row.error();
    if (!*row) return found;
    const std::string_view word = otlp::kind_word(static_cast<std::uint8_t>(statement.number(1)));
    if (!kind.empty() && kind != word) continue;
    found.push_back({std::string(statement.bytes(0)), std::string(word)});
    bytes += found.back().name.size();
  }
  statement.reset();
  return found;
}

Result<std::vector<otlp::TraceId>> TraceReader::find(const TraceQuery& query) {
  handles_->file->set_deadline(std::chrono::steady_clock::now() + limits_.time);
  Statement& statement = handles_->statements[query.service.empty() ? kFind : kFindWithin];
  statement.bind(1, query.start_us);
  statement.bind(2, query.end_us);
  statement.bind(3, query.least_us);
  statement.bind(4, query.most_us);
  if (!query.service.empty()) {
    statement.bind_text(5, query.service);
    statement.bind_text(6, query.operation);
  }
  std::vector<otlp::TraceId> found;
  std::set<otlp::TraceId> seen;
  std::unordered_map<std::int64_t, otlp::Source> sources;
  const auto ended = [&](const Error& error) {
    statement.reset();
    return error;
  };
  while (found.size() < query.limit) {
    const Result<bool> row = statement.step();
    if (!row) return row.error();
    if (!*row) return found;
    const otlp::TraceId trace = id_of(statement.bytes(0));
    if (seen.contains(trace)) continue;
    if (!query.tags.empty()) {
      Statement& one = handles_->statements[kSpanOf];
      one.bind(1, statement.number(1));
      const Result<bool> there = one.step();
      if (!there) return ended(there.error());
      if (!*there) continue;
      const auto span = otlp::read_span(one.bytes(0));
      const std::int64_t source_id = one.number(1);
      one.reset();
      if (sources.size() >= kMostSources) sources.clear();
      const auto [source, is_new] = sources.try_emplace(source_id);
      if (is_new) {
        auto read = handles_->source(source_id);
        if (!read) return ended(read.error());
        source->second = std::move(*read);
      }
      if (!span || !has_tags(*span, source->second, query)) continue;
    }
    seen.insert(trace);
    found.push_back(trace);
  }
  // It keeps the log of changes from being taken into the file for as long as it stands on a row.
  statement.reset();
  return found;
}

Result<std::optional<StoredTrace>> TraceReader::load(const otlp::TraceId& trace) {
  handles_->file->set_deadline(std::chrono::steady_clock::now() + limits_.time);
  Statement& statement = handles_->statements[kLoad];
  statement.bind_bytes(1, view(trace));
  statement.bind(2, static_cast<std::int64_t>(limits_.spans) + 1);
  StoredTrace stored;
  stored.id = trace;
  std::unordered_map<std::int64_t, std::size_t> places;
  for (;;) {
    const Result<bool> row = statement.step();
    if (!row) return row.error();
    if (!*row) break;
    stored.cut = stored.spans.size() == limits_.spans || stored.bytes >= limits_.bytes;
    if (stored.cut) break;
    auto span = otlp::read_span(statement.bytes(0));
    if (!span) continue;
    const auto [position, is_new] = places.try_emplace(statement.number(1), stored.sources.size());
    if (is_new) {
      auto source = handles_->source(statement.number(1));
      if (!source) {
        statement.reset();
        return source.error();
      }
      stored.bytes += bytes_of(*source);
      stored.sources.push_back(std::move(*source));
    }
    stored.bytes += bytes_of(*span);
    stored.spans.push_back({std::move(*span), position->second});
  }
  statement.reset();
  if (stored.spans.empty()) return std::optional<StoredTrace>();
  return std::optional<StoredTrace>(std::move(stored));
}

}  // namespace edge::traces
