// The SD-WAN's assignments and reports as messages.
#pragma once

#include "controller/distribute/site_links.h"

namespace edge::agent::v1 {
class LinksDown;
class LinksReport;
}  // namespace edge::agent::v1

namespace edge::controller {

/// Writes an assignment into an empty message; null: of no site.
void write_links(const SiteLinks* site, std::uint64_t version, agent::v1::LinksDown& into);
/// What is over a bound is left out.
WanReport read_links_report(const agent::v1::LinksReport& from);

}  // namespace edge::controller
