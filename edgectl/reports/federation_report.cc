#include "edgectl/reports/federation_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDifferences = 40;
constexpr std::size_t kShortDigest = 12;
constexpr std::size_t kMostValue = 80;

std::string shown_or_none(const std::string& text) { return text.empty() ? "<none>" : shown(text); }
/// The own cluster has no name.
std::string cluster_text(const std::string& name) { return name.empty() ? "this cluster" : shown(name); }
bool flag_in(const Json& object, std::string_view name) {
  const Json& value = member_in(object, name);
  return value.is_boolean() && value.get<bool>();
}
std::string number_text(const Json& object, std::string_view name) { return std::to_string(integer_in(object, name)); }

/// `3m20s`; `never`.
std::string age_in(const Json& object, std::string_view name, std::int64_t now) {
  const std::string& then = text_in(object, name);
  return then.empty() ? "never" : age_of(then, now);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string joined_text(const Json& object, std::string_view name, const char* none) {
  std::string text;
  for (const Json& item : list_in(object, name)) text += (text.empty() ? "" : ", ") + shown(text_value(item));
  return text.empty() ? none : text;
}

std::int64_t total_refused(const Json& peer, std::string_view name) {
  std::int64_t total = 0;
  for (const Json& one : list_in(peer, name)) total += integer_in(one, "count");
  return total;
}

/// `2 (the signature is wrong), 1 (...)`
std::string refused_text(const Json& peer, std::string_view name) {
  std::string text;
  for (const Json& one : list_in(peer, name)) {
    text += (text.empty() ? "" : ", ") + number_text(one, "count") + " (" + shown(text_in(one, "reason")) + ")";
  }
  return text.empty() ? "<none>" : text;
}

std::string peer_state(const Json& peer) {
  if (flag_in(peer, "suspended")) return "Suspended";
  if (!flag_in(peer, "connected")) return "Away";
  if (flag_in(peer, "comparing") || flag_in(peer, "stale")) return "Comparing";
  return flag_in(peer, "synchronized") ? "Synchronized" : "Behind";
}

std::string lag_text(const Json& peer) {
  const std::int64_t versions = integer_in(peer, "lagVersions");
  if (versions == 0) return "0";
  const Json& seconds = member_in(peer, "lagSeconds");
  const std::int64_t whole = seconds.is_number() ? static_cast<std::int64_t>(seconds.get<double>()) : 0;
  return std::to_string(versions) + " (" + duration_text(std::chrono::seconds(std::max<std::int64_t>(whole, 0))) + ")";
}

std::string object_name(const Json& object) {
  const std::string& space = text_in(object, "namespace");
  return (space.empty() ? "" : shown(space) + "/") + shown(text_in(object, "name"));
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "<none>";
  std::string text = value.is_string() ? text_value(value) : json_line(value);
  if (text.size() > kMostValue) text = text.substr(0, kMostValue) + "...";
  return shown(text);
}

/// `/spec/rules/0/weight` as `spec.rules[0].weight`.
std::string field_text(std::string_view pointer) {
  std::string out;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string part;
    for (std::size_t i = 0; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end) {
        part += pointer[++i] == '1' ? '/' : '~';
      } else {
        part += pointer[i];
      }
    }
    const bool index = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    if (index) {
      out += "[" + part + "]";
    } else {
      out += (out.empty() ? "" : ".") + part;
    }
    pointer.remove_prefix(end);
  }
  return shown(out);
}

const Json& at_pointer(const Json& object, const std::string& pointer) {
  static const Json kNothing;
  const Json::json_pointer path(pointer);
  return object.contains(path) ? object.at(path) : kNothing;
}

std::string version_line(const Json& version, std::int64_t now) {
  return "by " + cluster_text(text_in(version, "author")) + ", " + age_in(version, "time", now) + " ago, " +
         (flag_in(version, "deleted") ? std::string("deleted")
                                      : "digest " + shown_or_none(text_in(version, "digest").substr(0, kShortDigest)) +
                                            ", " + bytes_text(integer_in(version, "bytes")));
}

}  // namespace

std::vector<Json> federation_versions(const Json& conflict) {
  std::vector<Json> all = {member_in(conflict, "winner")};
  for (const Json& loser : list_in(conflict, "losers")) all.push_back(loser);
  return all;
}

std::vector<std::string> field_differences(const Json& before, const Json& after, std::size_t limit) {
  std::vector<std::string> lines;
  const Json patch = Json::diff(before, after);
  for (const Json& step : patch) {
    if (lines.size() == limit) {
      lines.push_back("and " + std::to_string(patch.size() - limit) + " more");
      break;
    }
    const std::string& path = text_in(step, "path");
    const std::string& op = text_in(step, "op");
    const std::string old = op == "add" ? "<none>" : value_text(at_pointer(before, path));
    const std::string fresh = op == "remove" ? "<none>" : value_text(member_in(step, "value"));
    lines.push_back((path.empty() ? "the object" : field_text(path)) + ": " + old + " -> " + fresh);
  }
  return lines;
}

std::string federation_status_text(const Json& status, std::int64_t now) {
  std::string out;
  const auto line = [&out](std::string name, const std::string& value) {
    name.resize(18, ' ');
    out += name + value + "\n";
  };
  const std::string& hub = text_in(status, "hub");
  line("Cluster:", shown_or_none(text_in(status, "cluster")));
  line("Incarnation:", number_text(status, "incarnation"));
  line("Conflict policy:", shown_or_none(text_in(status, "conflictPolicy")));
  if (!hub.empty()) line("Hub:", shown(hub));
  line("Kinds:", joined_text(status, "kinds", "all but Secret"));
  line("Namespaces:", joined_text(status, "namespaces", "all"));
  line("Peers:", number_text(status, "connected") + "/" + number_text(status, "peers") + " connected");
  line("Objects:", number_text(status, "objects"));
  line("Deletions kept:", number_text(status, "tombstones"));
  line("Conflicts:", number_text(status, "conflicts"));
  line("Not applied yet:", number_text(status, "unapplied"));
  line("State:", bytes_text(integer_in(status, "stateBytes")) + ", written " + age_in(status, "stateWritten", now) +
                     (text_in(status, "stateWritten").empty() ? "" : " ago"));
  for (const Json& fault : list_in(status, "faults")) line("Fault:", shown(text_value(fault)));
  TextTable table({"KIND", "OBJECTS", "DELETIONS", "CONFLICTS"});
  for (const Json& kind : list_in(status, "byKind")) {
    table.add({shown(text_in(kind, "kind")), number_text(kind, "objects"), number_text(kind, "tombstones"),
               number_text(kind, "conflicts")});
  }
  if (!table.empty()) out += "\n" + table.take(/*with_heads=*/true);
  return out;
}

std::string federation_peers_table(const Json& peers, bool wide, std::int64_t now) {
  std::vector<std::string> heads = {"NAME", "STATE", "SINCE", "LAG", "COMPARED", "SENT", "RECEIVED", "REFUSED"};
  if (wide) heads.insert(heads.end(), {"CLUSTER", "HUB", "OBJECTS", "BYTES", "REFUSED HERE", "REFUSED THERE", "WHY"});
  TextTable table(std::move(heads));
  for (const Json& peer : peers) {
    std::vector<std::string> cells = {
        shown_or_none(text_in(peer, "name")),
        peer_state(peer),
        age_in(peer, "since", now),
        lag_text(peer),
        age_in(peer, "lastComparison", now),
        number_text(peer, "sentVersions") + ", " + bytes_text(integer_in(peer, "sentBytes")),
        number_text(peer, "receivedVersions") + ", " + bytes_text(integer_in(peer, "receivedBytes")),
        std::to_string(total_refused(peer, "refused") + total_refused(peer, "refusedByPeer"))};
    if (wide) {
      const Json& quota = member_in(peer, "quota");
      cells.insert(
          cells.end(),
          {shown_or_none(text_in(peer, "cluster")), flag_in(peer, "hub") ? "yes" : "no",
           number_text(quota, "objects") + "/" + number_text(quota, "objectsLimit"),
           bytes_text(integer_in(quota, "bytes")) + "/" + bytes_text(integer_in(quota, "bytesLimit")),
           refused_text(peer, "refused"), refused_text(peer, "refusedByPeer"), shown_or_none(text_in(peer, "fault"))});
    }
    table.add(std::move(cells));
  }
  return table.empty() ? std::string() : table.take(/*with_heads=*/true);
}

std::string federation_conflicts_table(const Json& conflicts, std::int64_t now) {
  TextTable table({"KIND", "NAME", "WINNER", "LOSERS", "AGE"});
  for (const Json& conflict : conflicts) {
    std::string losers;
    std::string oldest;
    for (const Json& loser : list_in(conflict, "losers")) {
      losers += (losers.empty() ? "" : ", ") + cluster_text(text_in(loser, "author")) +
                (flag_in(loser, "deleted") ? " (deleted)" : "");
      const std::string& time = text_in(loser, "time");
      if (oldest.empty() || time < oldest) oldest = time;
    }
    const Json& winner = member_in(conflict, "winner");
    table.add({shown(text_in(conflict, "kind")), object_name(conflict),
               cluster_text(text_in(winner, "author")) + (flag_in(winner, "deleted") ? " (deleted)" : ""),
               shown_or_none(losers), oldest.empty() ? "<unknown>" : age_of(oldest, now)});
  }
  return table.empty() ? std::string() : table.take(/*with_heads=*/true);
}

std::string federation_conflict_text(const Json& conflict, std::int64_t now) {
  const std::vector<Json> versions = federation_versions(conflict);
  std::string out = shown(text_in(conflict, "kind")) + " " + object_name(conflict) + "\n";
  const Json& winner = member_in(versions.front(), "content");
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Json& version = versions[i];
    out += "\n" + std::to_string(i + 1) + ". " + (i == 0 ? "wins: " : "loses: ") + version_line(version, now) + "\n";
    out += "   --keep " + shown_or_none(text_in(version, "version")) + "\n";
    if (i == 0) continue;
    const Json& content = member_in(version, "content");
    if (winner.is_object() && content.is_object()) {
      out += "   from what wins to this:\n";
      for (const std::string& line : field_differences(winner, content, kMostDifferences)) out += "     " + line + "\n";
    } else if (content.is_object()) {
      out += "   " + value_text(content) + "\n";
    }
  }
  return out;
}

std::string federation_clock_text(const Json& clock, std::int64_t now) {
  std::string out = shown(text_in(clock, "kind")) + " " + object_name(clock) + "\n\n";
  TextTable versions({"VERSION", "AUTHOR", "AGE", "ORIGIN", "WHAT"});
  bool first = true;
  for (const Json& version : list_in(clock, "versions")) {
    const bool wins = std::exchange(first, false);
    versions.add({shown_or_none(text_in(version, "version")), cluster_text(text_in(version, "author")),
                  age_in(version, "time", now), cluster_text(text_in(version, "origin")),
                  std::string(wins ? "wins" : "loses") + (flag_in(version, "deleted") ? ", a deletion" : "")});
  }
  out += versions.take(/*with_heads=*/true);
  TextTable entries({"CLUSTER", "INCARNATION", "HAS WRITTEN"});
  for (const Json& entry : list_in(clock, "clock")) {
    std::string ranges;
    for (const Json& range : list_in(entry, "counters")) {
      const std::string from = number_text(range, "first");
      const std::string to = number_text(range, "last");
      ranges += (ranges.empty() ? "" : ", ") + (from == to ? from : from + "-" + to);
    }
    entries.add({cluster_text(text_in(entry, "name")), number_text(entry, "incarnation"), shown_or_none(ranges)});
  }
  if (!entries.empty()) out += "\n" + entries.take(/*with_heads=*/true);
  TextTable peers({"PEER", "CONNECTED", "KNOWS", "DOES NOT KNOW", "REFUSES"});
  for (const Json& peer : list_in(clock, "peers")) {
    const bool shows = flag_in(peer, "shown");
    peers.add({shown_or_none(text_in(peer, "name")), flag_in(peer, "connected") ? "yes" : "no",
               shows ? joined_text(peer, "known", "<none>") : "<is not shown it>",
               joined_text(peer, "unknown", "<none>"), joined_text(peer, "refused", "<none>")});
  }
  if (!peers.empty()) out += "\n" + peers.take(/*with_heads=*/true);
  return out;
}

std::string federation_preview_table(const Json& items) {
  TextTable table({"AT", "KIND", "NAME", "CHANGE"});
  for (const Json& item : items) {
    const std::string& at = text_in(item, "at");
    table.add({at.empty() ? "this cluster" : shown(at), shown(text_in(item, "kind")), object_name(item),
               shown(text_in(item, "change"))});
  }
  return table.empty() ? std::string() : table.take(/*with_heads=*/true);
}

}  // namespace edge::edgectl
