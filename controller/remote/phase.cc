#include "controller/remote/phase.h"

namespace edge::controller::remote {
namespace {

bool lately(const std::optional<net::Time>& at, const Heartbeat& heartbeat, net::Time now) {
  return at && now - *at < heartbeat.timeout;
}

PhaseView phase_of_link(const ClusterFacts& facts, const Heartbeat& heartbeat, net::Time now) {
  const LinkFacts& link = *facts.link;
  const bool here = lately(link.answered, heartbeat, now);
  const bool there = lately(link.peer_answered, heartbeat, now);
  if (!here || !there) {
    if (now - link.opened < heartbeat.timeout)
      return {Phase::kConnecting, "Probing", "no probe has gone both ways yet"};
    return {Phase::kDegraded, "ProbeUnanswered",
            here ? "it is heard, and has no answer to its probes" : "it is heard, and answers no probe"};
  }
  if (link.unanswered && now - *link.unanswered > 2 * heartbeat.interval) {
    return {Phase::kDegraded, "ProbeUnanswered", "it is heard, and the last probes have no answer"};
  }
  // A new program takes its time: that agents lack it for a moment is no fault.
  if (facts.report && facts.report->lag >= heartbeat.timeout) {
    return {Phase::kDegraded, "AgentsNotReady",
            std::to_string(facts.report->ready) + " of " + std::to_string(facts.report->agents) +
                " agents run the program of their cluster"};
  }
  if (facts.certificate_ends)
    return {Phase::kDegraded, "CertificateEnds", "its certificate ends soon, and is not renewed"};
  return {Phase::kConnected, "ProbedBothWays", "probes go both ways"};
}

}  // namespace

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kPending:
      return "Pending";
    case Phase::kConnecting:
      return "Connecting";
    case Phase::kConnected:
      return "Connected";
    case Phase::kDegraded:
      return "Degraded";
    case Phase::kDisconnected:
      return "Disconnected";
    case Phase::kFailed:
      return "Failed";
  }
  return "Failed";
}

std::string_view refusal_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnauthenticated:
      return "CertificateRefused";
    case ErrorCode::kPermissionDenied:
      return "NotPermitted";
    case ErrorCode::kFailedPrecondition:
      return "ProtocolRefused";
    case ErrorCode::kAlreadyExists:
      return "NameInUse";
    default:
      return {};
  }
}

PhaseView phase_of(const ClusterFacts& facts, const Heartbeat& heartbeat, net::Time now) {
  if (facts.suspended) return {Phase::kDisconnected, "Suspended", "spec.suspended keeps it out"};
  const bool silent = facts.link && now - facts.link->heard >= heartbeat.timeout;
  if (facts.link && !silent) return phase_of_link(facts, heartbeat, now);
  if (!facts.refusal.empty()) return {Phase::kFailed, facts.refusal, facts.refusal_message};
  if (facts.was_connected) {
    if (silent)
      return {Phase::kDisconnected, "HeartbeatTimeout", "it has been silent for longer than heartbeat.timeout"};
    return {Phase::kDisconnected, "ConnectionLost",
            facts.last_error.empty() ? "there is no connection" : facts.last_error};
  }
  if (facts.dials) {
    return {Phase::kConnecting, "Dialing", facts.last_error.empty() ? "it is being called" : facts.last_error};
  }
  return {Phase::kPending, "NeverConnected", "it has not connected yet"};
}

}  // namespace edge::controller::remote
