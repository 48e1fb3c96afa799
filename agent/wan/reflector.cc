#include "agent/wan/reflector.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "agent/wan/stamp.h"

namespace edge::agent::wan {
namespace {

constexpr std::size_t kAtOnce = 256;

}  // namespace

Result<Reflector> Reflector::open(std::uint16_t port) {
  auto fd = open_reflector_socket(port);
  if (!fd) return fd.error();
  return Reflector(std::move(*fd));
}

void Reflector::set_sessions(const std::vector<AnswerSession>& sessions) {
  std::unordered_map<std::uint16_t, Session> next;
  for (const AnswerSession& session : sessions) {
    const auto known = sessions_.find(session.number);
    Session& into = next[session.number];
    if (known != sessions_.end() && known->second.key == session.key) into = known->second;
    into.key = session.key;
  }
  sessions_ = std::move(next);
}

void Reflector::work() {
  std::array<char, kStampLongest + 1> packet;
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    const auto probe = receive_probe(fd_.get(), packet);
    if (!probe) return;
    answer(*probe, {packet.data(), probe->size});
  }
}

void Reflector::answer(const ReceivedProbe& probe, std::string_view packet) {
  const auto number = session_number(packet);
  const auto found = number ? sessions_.find(*number) : sessions_.end();
  if (found == sessions_.end() || packet.size() > kStampLongest) return void(++figures_.unknown);
  Session& session = found->second;
  if (!may_answer(session, probe.arrived)) return void(++figures_.limited);
  const auto query = read_query(packet, session.key);
  if (!query || query->session != found->first) return void(++figures_.forged);
  if (!is_fresh(session, query->sent.nanoseconds, probe.arrived)) return void(++figures_.replayed);
  StampReply reply{
      .number = session.count++, .received = {.nanoseconds = probe.wall}, .query = *query, .ttl = probe.ttl};
  reply.sent.nanoseconds = wall_now();
  send_back(fd_.get(), probe, write_reply(reply, packet.substr(stamp_base(session.key)), session.key));
  ++figures_.answered;
}

bool Reflector::is_fresh(Session& session, std::int64_t sent, Time now) {
  if (session.count == 0 || now - session.last > kForgetsTime) {
    session.newest = sent - 1;
    session.seen = {};
  }
  if (sent <= session.newest &&
      (session.newest - sent > kOldestQuery || std::ranges::find(session.seen, sent) != session.seen.end())) {
    return false;
  }
  session.newest = std::max(session.newest, sent);
  session.seen[session.next_seen++ % kSeen] = sent;
  session.last = now;
  return true;
}

/// Before the HMAC is looked at: what is forged is bounded, too.
bool Reflector::may_answer(Session& session, Time now) {
  const double passed = std::chrono::duration<double>(now - session.filled).count();
  session.tokens = std::min(kAnswersAtOnce, session.tokens + passed * kAnswersASecond);
  session.filled = now;
  if (session.tokens < 1) return false;
  session.tokens -= 1;
  return true;
}

}  // namespace edge::agent::wan
