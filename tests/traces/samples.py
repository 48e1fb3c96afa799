#!/usr/bin/env python3
"""Writes data/checkout.{otlp,otlp.json,tempo.json} with OpenTelemetry's own messages.

Needs `pip install opentelemetry-proto`; run it when the sample is to hold something else. What our tests read was
written by this encoder, not by ours.
"""
import base64
import json
import pathlib

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

TRACE = bytes.fromhex("4bf92f3577b34da6a3ce929d0e0e4736")
START = 1_760_000_000_000_000_000


def value(v):
    if isinstance(v, bool):
        return AnyValue(bool_value=v)
    if isinstance(v, int):
        return AnyValue(int_value=v)
    if isinstance(v, float):
        return AnyValue(double_value=v)
    if isinstance(v, bytes):
        return AnyValue(bytes_value=v)
    if isinstance(v, list):
        return AnyValue(array_value=ArrayValue(values=[value(x) for x in v]))
    if isinstance(v, dict):
        return AnyValue(kvlist_value=KeyValueList(values=attributes(v)))
    return AnyValue(string_value=v)


def attributes(of):
    return [KeyValue(key=k, value=value(v)) for k, v in of.items()]


def span(number, parent, name, kind, begin_us, length_us, **more):
    return Span(
        trace_id=TRACE,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name=name,
        kind=kind,
        start_time_unix_nano=START + begin_us * 1000,
        end_time_unix_nano=START + (begin_us + length_us) * 1000,
        **more,
    )


request = ExportTraceServiceRequest()
edge = request.resource_spans.add()
edge.resource.attributes.extend(attributes({"service.name": "edge", "service.instance.id": "node-1", "host.cpus": 2}))
scope = edge.scope_spans.add()
scope.scope.name = "edge-agent"
scope.scope.version = "0.1.0"
scope.spans.extend([
    span(1, 0, "GET shop/cart", Span.SPAN_KIND_SERVER, 0, 12_500,
         attributes=attributes({"http.method": "GET", "http.status_code": 200, "share": 0.25, "retried": True,
                                "raw": b"\x00\xff", "list": ["a", 1, {"deep": True}], "large": 2**60,
                                "name": "K\u00f6ln"}),
         trace_state="vendor=1"),
    span(2, 1, "forward-auth", Span.SPAN_KIND_CLIENT, 200, 1_800,
         status=Status(code=Status.STATUS_CODE_OK)),
    span(3, 1, "try 1", Span.SPAN_KIND_CLIENT, 2_200, 4_000,
         attributes=attributes({"http.status_code": 503}),
         status=Status(code=Status.STATUS_CODE_ERROR, message="reset by the peer"),
         events=[Span.Event(time_unix_nano=START + 3_000_000, name="exception",
                            attributes=attributes({"exception.type": "reset"}))]),
    span(4, 1, "try 2", Span.SPAN_KIND_CLIENT, 6_500, 5_900,
         links=[Span.Link(trace_id=bytes(range(1, 17)), span_id=bytes(range(1, 9)))]),
])
cart = request.resource_spans.add()
cart.resource.attributes.extend(attributes({"service.name": "cart"}))
cart.scope_spans.add().spans.append(span(5, 4, "load", Span.SPAN_KIND_SERVER, 7_000, 5_000))

here = pathlib.Path(__file__).parent / "data"
(here / "checkout.otlp").write_bytes(request.SerializeToString())
# OTLP's JSON is protobuf's, but for ids in hex and enumerations as numbers.
text = json.loads(json_format.MessageToJson(request, use_integers_for_enums=True))
(here / "checkout.tempo.json").write_text(json.dumps({"batches": text["resourceSpans"]}, indent=1) + "\n")
for resource in text["resourceSpans"]:
    for scope in resource["scopeSpans"]:
        for one in scope["spans"]:
            for held in [one, *one.get("links", [])]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if held.get(key):
                        held[key] = base64.b64decode(held[key]).hex()
(here / "checkout.otlp.json").write_text(json.dumps(text, indent=1) + "\n")
