#!/usr/bin/env python3
"""Sends traces with OpenTelemetry's own SDK, over HTTP and gRPC, and reads them back as Jaeger's API has them.

usage: peers.py SERVE_TRACES   (needs `pip install opentelemetry-exporter-otlp`)
"""
import json
import subprocess
import sys
import tempfile
import time
import urllib.request

import grpc
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def send(exporter, service):
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("peers")
    with tracer.start_as_current_span("outer", kind=trace.SpanKind.SERVER, attributes={"n": 7, "list": ["a", "b"]}) as span:
        with tracer.start_as_current_span("inner") as inner:
            inner.record_exception(ValueError("no"))
            inner.set_status(trace.Status(trace.StatusCode.ERROR, "no"))
        identity = format(span.get_span_context().trace_id, "032x")
    if not provider.force_flush(20_000):
        sys.exit(f"{service}: the exporter could not send")
    provider.shutdown()
    return identity


def spans_of(queries, identity):
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"{queries}/api/traces/{identity}", timeout=10) as answer:
                return {span["operationName"]: span for span in json.load(answer)["data"][0]["spans"]}
        except urllib.error.HTTPError:
            time.sleep(0.05)
    sys.exit(f"trace {identity} did not come")


with tempfile.TemporaryDirectory() as directory:
    store = subprocess.Popen([sys.argv[1], directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    otlp = store.stdout.readline().strip()
    queries = store.stdout.readline().strip()
    exporters = {
        "http": HttpExporter(endpoint=otlp + "/v1/traces"),
        "http-gzip": HttpExporter(endpoint=otlp + "/v1/traces", compression=Compression.Gzip),
        "grpc": GrpcExporter(endpoint=otlp, insecure=True),
        "grpc-gzip": GrpcExporter(endpoint=otlp, insecure=True, compression=grpc.Compression.Gzip),
    }
    for service, exporter in exporters.items():
        spans = spans_of(queries, send(exporter, service))
        assert set(spans) == {"outer", "inner"}, spans
        reference = spans["inner"]["references"][0]
        assert reference["refType"] == "CHILD_OF" and reference["spanID"] == spans["outer"]["spanID"], reference
        tags = {tag["key"]: tag["value"] for tag in spans["inner"]["tags"]}
        assert tags["error"] is True and tags["otel.status_description"] == "no", tags
        assert spans["inner"]["logs"][0]["fields"][0] == {"key": "event", "type": "string", "value": "exception"}
        print(f"{service}: ok")
    with urllib.request.urlopen(f"{queries}/api/services", timeout=10) as answer:
        assert json.load(answer)["data"] == sorted(exporters)
    # A call that is refused is told by gRPC's own client, too.
    with grpc.insecure_channel(otlp.removeprefix("http://")) as channel:
        service = "/opentelemetry.proto.collector.trace.v1.TraceService/"
        for method, code in {"Export": grpc.StatusCode.INVALID_ARGUMENT, "Other": grpc.StatusCode.UNIMPLEMENTED}.items():
            try:
                channel.unary_unary(service + method)(b"\xff", timeout=10)
                sys.exit(f"{method}: was not refused")
            except grpc.RpcError as error:
                assert error.code() == code, error
    store.stdin.close()
    sys.exit(store.wait(timeout=20))
