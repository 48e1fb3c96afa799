#include "net/http1/chunked.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "net/http1/head.h"

namespace edge::net::http1 {

namespace {

constexpr std::uint8_t kMaxSizeDigits = 16;
/// More would overflow a counter of body bytes.
constexpr std::uint64_t kMaxChunk = std::uint64_t{1} << 60;

}  // namespace

ChunkedDecoder::ChunkedDecoder(const ChunkedLimits& limits) : limits_(limits) {}
ChunkedDecoder::~ChunkedDecoder() = default;
ChunkedDecoder::ChunkedDecoder(ChunkedDecoder&&) noexcept = default;
ChunkedDecoder& ChunkedDecoder::operator=(ChunkedDecoder&&) noexcept = default;

ChunkedDecoder::State ChunkedDecoder::state() const {
  if (phase_ == Phase::kEnd) return State::kEnd;
  return phase_ == Phase::kFault ? State::kFault : State::kMore;
}

std::string_view ChunkedDecoder::trailer_lines() const {
  return trailer_ ? std::string_view(*trailer_) : std::string_view{};
}

void ChunkedDecoder::keep_trailers(const std::function<bool(std::string_view name)>& keeps) {
  if (!trailer_) return;
  for (std::size_t at = 0; at < trailer_->size();) {
    const std::string_view rest = std::string_view(*trailer_).substr(at);
    const std::size_t size = rest.find('\n') + 1;
    if (keeps(rest.substr(0, rest.find(':')))) {
      at += size;
    } else {
      trailer_->erase(at, size);
    }
  }
}

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view input) {
  Step step;
  step.consumed = take_size_line(input);
  if (phase_ == Phase::kData) {
    const std::size_t size = take_data(input.size() - step.consumed);
    step.data = input.substr(step.consumed, size);
    step.consumed += size;
  } else if (in_trailer()) {
    step.consumed += take_trailer(input.substr(step.consumed));
  }
  step.state = state();
  return step;
}

ChunkedDecoder::Step ChunkedDecoder::forward(std::string_view input) {
  Step step;
  step.consumed = pass_extension(input);
  const std::size_t begin = step.consumed;
  std::size_t end = begin;
  while (step.consumed < input.size() && !in_trailer() && state() == State::kMore) {
    while (step.consumed < input.size() && in_size_line()) {
      phase_ = after_size_byte(input[step.consumed]);
      // It is left out: this piece ends before it, and the next one begins behind it.
      if (phase_ == Phase::kExtension) break;
      ++step.consumed;
    }
    if (phase_ == Phase::kData) step.consumed += take_data(input.size() - step.consumed);
    end = step.consumed;
    if (phase_ != Phase::kExtension) continue;
    step.consumed += 1 + pass_extension(input.substr(step.consumed + 1));
    break;
  }
  if (phase_ != Phase::kFault) step.data = input.substr(begin, end - begin);
  if (in_trailer()) step.consumed += take_trailer(input.substr(step.consumed));
  step.state = state();
  return step;
}

std::size_t ChunkedDecoder::take_size_line(std::string_view input) {
  std::size_t taken = 0;
  while (taken < input.size() && in_size_line()) phase_ = after_size_byte(input[taken++]);
  return taken;
}

/// Up to the end of its line, which is none of it.
std::size_t ChunkedDecoder::pass_extension(std::string_view input) {
  std::size_t passed = 0;
  while (passed < input.size() && phase_ == Phase::kExtension && input[passed] != '\r') {
    phase_ = after_size_byte(input[passed++]);
  }
  return passed;
}

std::size_t ChunkedDecoder::take_data(std::size_t available) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(available, remaining_));
  remaining_ -= size;
  body_bytes_ += size;
  if (remaining_ == 0) phase_ = Phase::kDataReturn;
  return size;
}

ChunkedDecoder::Phase ChunkedDecoder::after_size_byte(char c) {
  switch (phase_) {
    case Phase::kSizeStart:
    case Phase::kSize:
      if (const int digit = hex_digit(c); digit >= 0) {
        if (++digits_ > kMaxSizeDigits || remaining_ >= kMaxChunk / 16) return Phase::kFault;
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
        return Phase::kSize;
      }
      if (phase_ == Phase::kSizeStart) return Phase::kFault;
      extension_ = 0;
      if (c == '\r') return Phase::kSizeLineFeed;
      return c == ';' ? Phase::kExtension : Phase::kFault;
    case Phase::kExtension:
      if (c == '\r') return Phase::kSizeLineFeed;
      if (is_control(c) || static_cast<std::uint8_t>(c) >= 0x80) return Phase::kFault;
      if (++extension_ > limits_.max_extension || ++extensions_ > limits_.max_extensions) return Phase::kFault;
      return Phase::kExtension;
    case Phase::kSizeLineFeed:
      return c == '\n' ? after_size_line() : Phase::kFault;
    case Phase::kDataReturn:
      digits_ = 0;
      return c == '\r' ? Phase::kDataLineFeed : Phase::kFault;
    case Phase::kDataLineFeed:
      return c == '\n' ? Phase::kSizeStart : Phase::kFault;
    default:
      return phase_;
  }
}

ChunkedDecoder::Phase ChunkedDecoder::after_size_line() const {
  if (remaining_ == 0) return Phase::kTrailerStart;
  return body_bytes_ > kMaxChunk ? Phase::kFault : Phase::kData;
}

std::size_t ChunkedDecoder::take_trailer(std::string_view input) {
  std::size_t taken = 0;
  while (taken < input.size() && in_trailer()) phase_ = after_trailer_byte(input[taken++]);
  return taken;
}

ChunkedDecoder::Phase ChunkedDecoder::after_trailer_byte(char c) {
  if (phase_ == Phase::kTrailerStart && c == '\r') return Phase::kFinalLineFeed;
  if (phase_ == Phase::kFinalLineFeed) return c == '\n' && trailer_valid() ? Phase::kEnd : Phase::kFault;
  if (!trailer_) trailer_ = std::make_unique<std::string>();
  if (trailer_->size() == limits_.max_trailer_bytes) return Phase::kFault;
  trailer_->push_back(c);
  if (phase_ == Phase::kTrailerLineFeed) return c == '\n' ? Phase::kTrailerStart : Phase::kFault;
  if (c == '\r') return Phase::kTrailerLineFeed;
  return is_control(c) ? Phase::kFault : Phase::kTrailerLine;
}

/// Known fields all mean something before the body: in a trailer they are refused, not merged (RFC 9110 §6.5.1). A
/// folded line has no name.
bool ChunkedDecoder::trailer_valid() const {
  std::string_view lines = trailer_lines();
  for (std::size_t count = 1; !lines.empty(); ++count) {
    const std::size_t colon = lines.substr(0, lines.find('\n')).find(':');
    if (count > limits_.max_trailer_fields || colon == std::string_view::npos || colon == 0) return false;
    const std::string_view name = lines.substr(0, colon);
    if (!all_of_class(name, kTokenChar) || recognise_field(name) != KnownField::kOther) return false;
    lines.remove_prefix(lines.find('\n') + 1);
  }
  return true;
}

std::size_t write_chunk_head(std::uint64_t size, char (&out)[kMaxChunkHead]) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t digits = 1;
  while (digits < 16 && (size >> (4 * digits)) != 0) ++digits;
  for (std::size_t i = digits; i-- > 0; size >>= 4) out[i] = kDigits[size & 15];
  out[digits] = '\r';
  out[digits + 1] = '\n';
  return digits + 2;
}

}  // namespace edge::net::http1
