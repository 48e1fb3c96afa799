#!/usr/bin/env python3
"""Has edge-standalone send its spans to collectors made of OpenTelemetry's own messages, over HTTP and gRPC, and holds
them against the request and against what the backend was told.

usage: collectors.py BIN_DIR   (needs `pip install opentelemetry-exporter-otlp`)
"""
import concurrent.futures
import http.server
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

CONFIG = """
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: gw}
spec:
  listeners: [{name: http, port: 8080, protocol: HTTP}]
  tracing: {enabled: true}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: be}
spec: {serviceRef: {name: be, port: 80}}
---
apiVersion: v1
kind: Service
metadata: {name: be}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: be-1, labels: {kubernetes.io/service-name: be}}
addressType: IPv4
ports: [{name: http, port: BACKEND}]
endpoints: [{addresses: [127.0.0.1]}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: gw}]
  rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRef: {name: be}}]
"""
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
taken = queue.Queue()
told = queue.Queue()


class Backend(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        told.put(self.headers["traceparent"])
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class HttpCollector(Backend):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
        taken.put((self.path, self.headers["Authorization"], request))
        answer = trace_service_pb2.ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


class GrpcCollector(trace_service_pb2_grpc.TraceServiceServicer):
    def Export(self, request, context):
        metadata = dict(context.invocation_metadata())
        taken.put(("grpc", metadata.get("authorization"), request))
        return trace_service_pb2.ExportTraceServiceResponse()


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def require(holds, what):
    if not holds:
        sys.exit(f"collectors: {what}")


def run(binaries, endpoint, backend):
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/config")
        with open(f"{directory}/config/all.yaml", "w") as out:
            out.write(CONFIG.replace("BACKEND", str(backend)))
        with open(f"{directory}/token", "w") as out:
            out.write("Bearer credential\n")
        command = [f"{binaries}/edge-standalone", "--config", f"{directory}/config", "--data-dir", f"{directory}/data",
                   "--ephemeral-ports", "--threads", "1", "--otlp-endpoint", endpoint,
                   "--otlp-header", f"authorization=@{directory}/token"]
        for flag in ("metrics-listen", "health-listen", "api-listen", "otlp-listen", "traces-listen", "agents-listen"):
            command += [f"--{flag}", "off" if flag in ("otlp-listen", "traces-listen") else "127.0.0.1:0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        port = None
        lines = []
        for line in process.stderr:
            lines.append(line)
            found = re.search(r"listener http on .*:(\d+)", line)
            if found:
                port = found.group(1)
                break
        require(port, "".join(lines))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/path?secret=1",
                                         headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
        require(urllib.request.urlopen(request, timeout=20).status == 200, "no answer")
        heard = told.get(timeout=20)
        way, authorization, message = taken.get(timeout=20)
        process.send_signal(signal.SIGTERM)
        require(process.wait(timeout=60) == 0, "it did not end well")

    require(authorization == "Bearer credential", f"{way}: the header is not there")
    require("secret" not in str(message), f"{way}: the query is in a span")
    resource = {one.key: one.value.string_value for one in message.resource_spans[0].resource.attributes}
    require(resource["service.name"] == "edge-proxy" and resource["host.name"], f"{way}: {resource}")
    spans = {span.name: span for span in message.resource_spans[0].scope_spans[0].spans}
    require(set(spans) == {"GET shop", "try"}, f"{way}: {set(spans)}")
    server, attempt = spans["GET shop"], spans["try"]
    require(server.trace_id.hex() == TRACE and server.parent_span_id.hex() == PARENT, f"{way}: another trace")
    require(attempt.parent_span_id == server.span_id, f"{way}: the try hangs elsewhere")
    require(heard == f"00-{TRACE}-{attempt.span_id.hex()}-01", f"{way}: the backend heard {heard}")
    values = {one.key: one.value.string_value or one.value.int_value for one in server.attributes}
    for name, value in {"http.method": "GET", "http.request.method": "GET", "http.status_code": 200,
                        "http.response.status_code": 200, "url.path": "/path", "edge.route": "default/shop",
                        "edge.backend": "default/be", "edge.gateway": "default/gw"}.items():
        require(values.get(name) == value, f"{way}: {name} is {values.get(name)}")
    require(server.kind == 2 and attempt.kind == 3 and server.end_time_unix_nano >= attempt.end_time_unix_nano,
            f"{way}: kinds or times")
    require(not server.status.code, f"{way}: an error")


def main():
    binaries = sys.argv[1]
    backend = serve(Backend)
    run(binaries, f"http://127.0.0.1:{serve(HttpCollector)}", backend)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(GrpcCollector(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    run(binaries, f"grpc://127.0.0.1:{port}", backend)
    server.stop(None)
    print("collectors: spans arrive over HTTP and gRPC, as OpenTelemetry reads them")


main()
