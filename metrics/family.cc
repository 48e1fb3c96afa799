#include "metrics/family.h"

#include <iterator>

namespace edge::metrics {
namespace {

// A line of the table. An entry belongs to the last section before it.
struct Line {
  FamilyEntry entry;
  bool is_section = false;
};

constexpr Line kLines[] = {
#define EDGE_SECTION(title) {{"", Kind::kGauge, "", Where::kBoth, "", title}, true},
#define EDGE_METRIC(id, name, kind, labels, where, help) {{name, Kind::kind, labels, Where::where, help, ""}, false},
#include "metrics/families.def"
#undef EDGE_METRIC
#undef EDGE_SECTION
};

constexpr std::size_t kCount = 0
#define EDGE_SECTION(title)
#define EDGE_METRIC(id, name, kind, labels, where, help) +1
#include "metrics/families.def"
#undef EDGE_METRIC
#undef EDGE_SECTION
    ;

struct Table {
  FamilyEntry entries[kCount]{};
};

constexpr Table make_table() {
  Table table;
  std::string_view section;
  std::size_t next = 0;
  for (const Line& line : kLines) {
    if (line.is_section) {
      section = line.entry.section;
      continue;
    }
    table.entries[next] = line.entry;
    table.entries[next++].section = section;
  }
  return table;
}

constexpr Table kTable = make_table();

std::string_view kind_text(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return "counter";
    case Kind::kGauge:
      return "gauge";
    case Kind::kHistogram:
      return "histogram";
    case Kind::kInfo:
      break;
  }
  return "info";
}

std::string_view where_text(Where where) {
  if (where == Where::kAgent) return "agent";
  return where == Where::kController ? "controller" : "both";
}

}  // namespace

std::span<const FamilyEntry> families() { return kTable.entries; }

std::string families_page() {
  std::string page;
  std::string_view section;
  for (const FamilyEntry& entry : families()) {
    if (entry.section != section) {
      section = entry.section;
      page.append("\n### ").append(section).append(
          "\n\n| name | kind | labels | where | what |\n|---|---|---|---|---|\n");
    }
    page.append("| `").append(entry.name).append("` | ").append(kind_text(entry.kind)).append(" | ");
    if (!entry.labels.empty()) page.append("`").append(entry.labels).append("`");
    page.append(" | ").append(where_text(entry.where)).append(" | ").append(entry.help).append(" |\n");
  }
  return page;
}

}  // namespace edge::metrics
