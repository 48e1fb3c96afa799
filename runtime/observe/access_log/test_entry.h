// An exchange as the tests of the access log have it.
#pragma once

#include "runtime/observe/access_log/line.h"

namespace edge::runtime {

inline constexpr std::string_view kSampleDestination =
    ",\"gateway\":\"shop/web\",\"listener\":\"https\",\"route\":\"shop/cart\",\"rule\":1,\"backend\":\"shop/cart\"";

/// `format` outlives it.
inline LogEntry sample_entry(const LogFormat& format) {
  LogEntry entry;
  LogFacts& facts = entry.facts;
  facts.format = &format;
  facts.unix_milliseconds = 1'795'228'245'007;  // 2026-11-21T02:30:45.007Z
  facts.received = 12;
  facts.sent = 2326;
  facts.head = 41'000;
  facts.policies = 0;
  facts.connect = 1'500'900;
  facts.answer = 20'000'000;
  facts.total = 23'456'789;
  facts.client = *parse_ip("203.0.113.7");
  facts.client_port = 50'001;
  facts.endpoint = {*parse_ip("2001:db8::5"), 8080};
  facts.attempts = 2;
  facts.status = 200;
  facts.protocol = LoggedProtocol::kHttp2;
  facts.secure = true;
  entry[LogText::kMethod] = "GET";
  entry[LogText::kHost] = "shop.example";
  entry[LogText::kPath] = "/cart";
  entry[LogText::kQuery] = "item=7";
  entry[LogText::kReferer] = "https://shop.example/";
  entry[LogText::kUserAgent] = "curl/8.0";
  entry[LogText::kDestination] = kSampleDestination;
  entry[LogText::kTlsVersion] = "TLSv1.3";
  entry[LogText::kTlsCipher] = "TLS_AES_128_GCM_SHA256";
  entry[LogText::kServerName] = "shop.example";
  entry[LogText::kRequestId] = "01900000-0000-7000-8000-000000000001";
  entry[LogText::kTraceId] = "4bf92f3577b34da6a3ce929d0e0e4736";
  return entry;
}

}  // namespace edge::runtime
