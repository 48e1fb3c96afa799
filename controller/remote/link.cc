#include "controller/remote/link.h"

#include <algorithm>

namespace edge::controller::remote {
namespace {

/// A side that answers nothing is given up long before, or has a heartbeat that is far shorter than its timeout.
constexpr std::size_t kMostSent = 64;

}  // namespace

void Link::set_heartbeat(Heartbeat heartbeat, net::Time now) {
  if (heartbeat == heartbeat_) return;
  heartbeat_ = heartbeat;
  next_probe_ = std::min(next_probe_, now + heartbeat.interval);
}

Status Link::count(net::Time now) {
  const double seconds = std::chrono::duration<double>(now - filled_).count();
  words_ = std::min(kMostWordsAtOnce, words_ + seconds * kWordsASecond);
  filled_ = now;
  if (words_ < 1) return Error{ErrorCode::kResourceExhausted, "the other side says too much"};
  words_ -= 1;
  return {};
}

Status Link::hear(const Word& word, net::Time now) {
  if (Status status = count(now); !status) return status;
  facts_.heard = now;
  if (const auto* const reply = std::get_if<ProbeReply>(&word)) return take(*reply, now);
  if (const auto* const probe = std::get_if<Probe>(&word)) take(*probe, now);
  if (const auto* const report = std::get_if<Report>(&word)) report_ = *report;
  return {};
}

Status Link::take(const ProbeReply& reply, net::Time now) {
  if (reply.number == 0 || reply.number > last_number_) {
    return Error{ErrorCode::kInvalidArgument, "the other side answers what it was not asked"};
  }
  while (!sent_.empty() && sent_.front().number <= reply.number) {
    if (sent_.front().number == reply.number) facts_.round_trip = now - sent_.front().at;
    sent_.pop_front();
  }
  if (reply.number <= answered_number_) return {};
  answered_number_ = reply.number;
  facts_.answered = now;
  facts_.unanswered = sent_.empty() ? std::nullopt : std::optional(sent_.front().at);
  // The other side learns at once that its way here and back is whole, not one interval later.
  if (told_answered_ == 0) next_probe_ = now;
  return {};
}

void Link::take(const Probe& probe, net::Time now) {
  if (replies_.size() < kMostSent) replies_.push_back({probe.number});
  if (probe.answered > peer_answered_number_) {
    peer_answered_number_ = probe.answered;
    facts_.peer_answered = now;
  }
}

std::vector<Word> Link::due(const Report& own, net::Time now) {
  std::vector<Word> words(replies_.begin(), replies_.end());
  replies_.clear();
  if (now < next_probe_) return words;
  if (told_ != own) {
    words.emplace_back(own);
    told_ = own;
  }
  words.emplace_back(Probe{++last_number_, answered_number_});
  told_answered_ = answered_number_;
  sent_.push_back({last_number_, now});
  if (sent_.size() > kMostSent) sent_.pop_front();
  if (!facts_.unanswered) facts_.unanswered = now;
  next_probe_ = now + heartbeat_.interval;
  return words;
}

}  // namespace edge::controller::remote
