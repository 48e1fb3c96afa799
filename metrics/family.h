// The table of all metrics in /metrics: families.def, which pages, dashboards and alerts are checked against.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace edge::metrics {

enum class Family : std::uint8_t {
#define EDGE_SECTION(title)
#define EDGE_METRIC(id, name, kind, labels, where, help) id,
#include "metrics/families.def"
#undef EDGE_METRIC
#undef EDGE_SECTION
};

/// kInfo: the labels have the information, and the value is 1.
enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram, kInfo };
/// The daemon that serves it; edge-standalone serves all.
enum class Where : std::uint8_t { kAgent, kController, kBoth };

struct FamilyEntry {
  std::string_view name;  ///< of a counter with its `_total`
  Kind kind;
  std::string_view labels;  ///< names, such as `gateway, route`
  Where where;
  std::string_view help;
  std::string_view section;  ///< of docs/metrics.md
};

std::span<const FamilyEntry> families();
inline const FamilyEntry& entry(Family family) { return families()[static_cast<std::size_t>(family)]; }
/// Returns the table of docs/metrics.md, as Markdown.
std::string families_page();

}  // namespace edge::metrics
