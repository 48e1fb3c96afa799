// nghttp2's calls into a ClientConnection.
#pragma once

struct nghttp2_session_callbacks;

namespace edge::net::http2 {

void set_client_callbacks(nghttp2_session_callbacks* callbacks);

}  // namespace edge::net::http2
