// nghttp2's callbacks into a ServerConnection. nghttp2's types stay in the .cc.
#pragma once

struct nghttp2_session_callbacks;

namespace edge::net::http2 {

void set_server_callbacks(nghttp2_session_callbacks* callbacks);

}  // namespace edge::net::http2
