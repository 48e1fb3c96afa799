#include "metrics/last_hour.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace edge::metrics {
namespace {

constexpr const char* kOther = "other";
constexpr auto kMinute = std::chrono::minutes(1);

template <std::size_t kSize>
bool went_back(const std::array<std::uint64_t, kSize>& before, const std::array<std::uint64_t, kSize>& now) {
  for (std::size_t i = 0; i < kSize; ++i) {
    if (now[i] < before[i]) return true;
  }
  return false;
}

bool matches(const std::string& wanted, const std::string& name) { return wanted.empty() || wanted == name; }

bool matches(const TrafficNames& wanted, const TrafficNames& names) {
  return matches(wanted.gateway, names.gateway) && matches(wanted.route, names.route) &&
         matches(wanted.backend, names.backend);
}

/// `counts` spread over `from` to `to`, as much of it as lies within one of `points`.
void spread(std::vector<TrafficPoint>& points, LastHour::Clock::time_point end, std::chrono::nanoseconds length,
            LastHour::Clock::time_point from, LastHour::Clock::time_point to, const TrafficCounts& counts,
            std::uint64_t connections) {
  if (to <= from) return;
  // A step goes whole to the point that its middle lies in: requests are not divided.
  const auto middle = from + (to - from) / 2;
  const auto back = (end - middle) / length;
  if (middle > end || back < 0 || static_cast<std::size_t>(back) >= points.size()) return;
  TrafficPoint& point = points[points.size() - 1 - static_cast<std::size_t>(back)];
  point.covered += to - from;
  point.counts.add(counts);
  point.connections = std::max(point.connections, connections);
}

}  // namespace

std::uint64_t TrafficCounts::requests() const {
  return std::accumulate(by_class.begin(), by_class.end(), std::uint64_t{0});
}

void TrafficCounts::add(const TrafficCounts& more) {
  for (std::size_t i = 0; i < by_class.size(); ++i) by_class[i] += more.by_class[i];
  for (std::size_t i = 0; i < durations.size(); ++i) durations[i] += more.durations[i];
  nanoseconds += more.nanoseconds;
  request_bytes += more.request_bytes;
  response_bytes += more.response_bytes;
}

TrafficCounts TrafficCounts::since(const TrafficCounts& before) const {
  if (went_back(before.by_class, by_class) || went_back(before.durations, durations)) return *this;
  TrafficCounts grown;
  for (std::size_t i = 0; i < by_class.size(); ++i) grown.by_class[i] = by_class[i] - before.by_class[i];
  for (std::size_t i = 0; i < durations.size(); ++i) grown.durations[i] = durations[i] - before.durations[i];
  // Threads count while they are read: a sum may be a little behind.
  grown.nanoseconds = nanoseconds - std::min(nanoseconds, before.nanoseconds);
  grown.request_bytes = request_bytes - std::min(request_bytes, before.request_bytes);
  grown.response_bytes = response_bytes - std::min(response_bytes, before.response_bytes);
  return grown;
}

void BackendEvents::add(const BackendEvents& more) {
  retries += more.retries;
  ejections += more.ejections;
  circuit_opened += more.circuit_opened;
  connect_failures += more.connect_failures;
  failed_checks += more.failed_checks;
}

BackendEvents BackendEvents::since(const BackendEvents& before) const {
  const auto grown = [](std::uint64_t now, std::uint64_t then) { return now < then ? now : now - then; };
  return {grown(retries, before.retries), grown(ejections, before.ejections),
          grown(circuit_opened, before.circuit_opened), grown(connect_failures, before.connect_failures),
          grown(failed_checks, before.failed_checks)};
}

LastHour::LastHour(TrafficReading first, Clock::time_point at)
    : began_(at),
      last_(at),
      before_(std::move(first)),
      other_(std::make_shared<const TrafficNames>(TrafficNames{"", kOther, ""})) {
  minute_.from = minute_.to = at;
}

LastHour::Name LastHour::name_of(const TrafficNames& names) {
  const auto found = names_.find(names);
  if (found != names_.end()) return *found;
  if (names_.size() >= prune_at_) {
    std::erase_if(names_, [](const Name& name) { return name.use_count() == 1; });
    prune_at_ = std::max(kManyNames, names_.size() * 2);
  }
  return *names_.insert(std::make_shared<const TrafficNames>(names)).first;
}

void LastHour::keep_most(std::vector<Row>& rows, const Name& other) {
  if (rows.size() <= kMostRows) return;
  const auto last = rows.begin() + static_cast<std::ptrdiff_t>(kMostRows - 1);
  std::ranges::nth_element(rows, last,
                           [](const Row& a, const Row& b) { return a.counts.requests() > b.counts.requests(); });
  Row rest{other, {}};
  for (auto row = last; row != rows.end(); ++row) rest.counts.add(row->counts);
  rows.erase(last, rows.end());
  rows.push_back(std::move(rest));
  rows.shrink_to_fit();
}

LastHour::Step LastHour::step_between(const TrafficReading& before, const TrafficReading& now, Clock::time_point from,
                                      Clock::time_point to) {
  Step step{.from = from, .to = to, .rows = {}, .backends = {}, .cpu_seconds = now.cpu_seconds - before.cpu_seconds};
  for (const auto& [names, counts] : now.rows) {
    const auto then = before.rows.find(names);
    TrafficCounts grown = then == before.rows.end() ? counts : counts.since(then->second);
    if (grown.requests() != 0) step.rows.push_back({name_of(names), grown});
  }
  keep_most(step.rows, other_);
  for (const auto& [name, events] : now.backends) {
    const auto then = before.backends.find(name);
    const BackendEvents grown = then == before.backends.end() ? events : events.since(then->second);
    // What nothing happened to is left out, and of many the later ones: these are told by /metrics as well.
    if (grown.any() && step.backends.size() < kMostRows) step.backends.emplace(name, grown);
  }
  return step;
}

void LastHour::add_to_minute(const Step& step) {
  for (const Row& row : step.rows) minute_rows_[row.name].add(row.counts);
  for (const auto& [name, events] : step.backends) {
    if (minute_.backends.size() < kMostRows || minute_.backends.contains(name)) minute_.backends[name].add(events);
  }
  minute_.cpu_seconds += step.cpu_seconds;
  minute_.to = step.to;
}

void LastHour::end_minute() {
  minute_.rows.reserve(minute_rows_.size());
  for (auto& [name, counts] : minute_rows_) minute_.rows.push_back({name, counts});
  keep_most(minute_.rows, other_);
  minute_rows_.clear();
  const Clock::time_point end = minute_.to;
  minutes_.push_back(std::exchange(minute_, Step{}));
  minute_.from = minute_.to = end;
}

void LastHour::record(TrafficReading now, Clock::time_point at) {
  if (at <= last_) return;
  Step step = step_between(before_, now, last_, at);
  Total total{.from = last_, .to = at, .counts = {}, .connections = now.connections};
  for (const Row& row : step.rows) total.counts.add(row.counts);
  totals_.push_back(total);
  add_to_minute(step);
  if (minute_.to - minute_.from >= kMinute) end_minute();
  fine_.push_back(std::move(step));
  const auto drop = [at](auto& steps, Clock::duration kept) {
    while (!steps.empty() && steps.front().to <= at - kept) steps.pop_front();
  };
  drop(fine_, kFine);
  drop(minutes_, kKept);
  drop(totals_, kKept);
  before_ = std::move(now);
  last_ = at;
}

std::vector<const LastHour::Step*> LastHour::steps_of(Clock::time_point at, std::chrono::nanoseconds window) const {
  std::vector<const Step*> steps;
  const Clock::time_point from = at - std::min<Clock::duration>(window, kKept);
  const bool fine = window <= kFine;
  for (const Step& step : fine ? fine_ : minutes_) {
    if (step.to > from) steps.push_back(&step);
  }
  if (fine) return steps;
  // What follows the last whole minute.
  const Clock::time_point end = minutes_.empty() ? began_ : minutes_.back().to;
  for (const Step& step : fine_) {
    if (step.from >= end) steps.push_back(&step);
  }
  return steps;
}

TrafficSpan LastHour::span(const TrafficReading& now, Clock::time_point at, std::chrono::nanoseconds window) const {
  TrafficSpan span;
  Clock::time_point from = last_;
  for (const Step* step : steps_of(at, window)) {
    from = std::min(from, step->from);
    for (const Row& row : step->rows) span.rows[*row.name].add(row.counts);
    for (const auto& [name, events] : step->backends) span.backends[name].add(events);
    span.cpu_seconds += step->cpu_seconds;
  }
  // What came since the last step.
  for (const auto& [names, counts] : now.rows) {
    const auto then = before_.rows.find(names);
    const TrafficCounts grown = then == before_.rows.end() ? counts : counts.since(then->second);
    if (grown.requests() != 0) span.rows[names].add(grown);
  }
  for (const auto& [name, events] : now.backends) {
    const auto then = before_.backends.find(name);
    const BackendEvents grown = then == before_.backends.end() ? events : events.since(then->second);
    if (grown.any()) span.backends[name].add(grown);
  }
  span.cpu_seconds += now.cpu_seconds - before_.cpu_seconds;
  span.covered = std::max<Clock::duration>(at - from, Clock::duration::zero());
  for (const auto& [names, counts] : span.rows) span.total.add(counts);
  return span;
}

std::vector<TrafficPoint> LastHour::line(const Line& line, const TrafficReading& now, Clock::time_point at) const {
  const std::size_t count = std::clamp<std::size_t>(line.points, 1, kMostPoints);
  const auto range = std::clamp<std::chrono::nanoseconds>(line.range, std::chrono::seconds(1), kKept);
  const auto length = range / static_cast<std::int64_t>(count);
  std::vector<TrafficPoint> points(count);
  for (std::size_t i = 0; i < count; ++i) points[i].ago = length * static_cast<std::int64_t>(count - 1 - i);
  TrafficCounts tail;
  for (const auto& [names, counts] : now.rows) {
    if (!matches(line.names, names)) continue;
    const auto then = before_.rows.find(names);
    tail.add(then == before_.rows.end() ? counts : counts.since(then->second));
  }
  if (line.names == TrafficNames{}) {
    for (const Total& total : totals_) {
      spread(points, at, length, total.from, total.to, total.counts, total.connections);
    }
  } else {
    for (const Step* step : steps_of(at, range)) {
      TrafficCounts counts;
      for (const Row& row : step->rows) {
        if (matches(line.names, *row.name)) counts.add(row.counts);
      }
      spread(points, at, length, step->from, step->to, counts, 0);
    }
  }
  spread(points, at, length, last_, at, tail, now.connections);
  return points;
}

}  // namespace edge::metrics
