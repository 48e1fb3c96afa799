// Formats times as in the API (RFC 3339, UTC): metav1.Time and metav1.MicroTime.
#pragma once

#include <chrono>
#include <string>

namespace edge::kube {

/// `2024-05-01T09:30:00Z`
std::string time_text(std::chrono::system_clock::time_point time);
/// `2024-05-01T09:30:00.000123Z`
std::string micro_time_text(std::chrono::system_clock::time_point time);

}  // namespace edge::kube
