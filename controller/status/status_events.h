// Events of changed conditions, as `kubectl describe` shows them.
#pragma once

#include <string>
#include <vector>

#include "controller/kube/recorder.h"
#include "controller/status/status_document.h"

namespace edge::controller {

struct Event {
  kube::EventLevel level;
  std::string reason, message;
};

/// Selects the changed conditions that are relevant to an operator.
std::vector<Event> events_of(const ResourceId& key, const std::vector<ConditionFlip>& flips);

}  // namespace edge::controller
