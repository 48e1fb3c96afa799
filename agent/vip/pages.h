// The admin pages of virtual addresses: /debug/vips.
#pragma once

#include <functional>
#include <memory>

#include "daemon/debug_pages.h"

namespace edge::agent::vip {

class Holder;

/// `holder`: null where this agent has no virtual addresses.
void add_pages(daemon::DebugPages& pages, std::function<std::shared_ptr<Holder>()> holder);

}  // namespace edge::agent::vip
