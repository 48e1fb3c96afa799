#!/usr/bin/env python3
"""Makes JSON schemas for kubeconform: of our kinds from `edgectl crds`, of Kubernetes' from the OpenAPI documents of its module.

    make_schemas.py EDGECTL KUBERNETES_MODULE DIR

A field that a schema does not name is refused.
"""
import json
import subprocess
import sys
from pathlib import Path

DOCUMENTS = ["api__v1", "apis__apps__v1", "apis__policy__v1", "apis__rbac.authorization.k8s.io__v1",
             "apis__apiextensions.k8s.io__v1", "apis__networking.k8s.io__v1"]


def closed(schema):
    """The schema, with no other fields than those that it names."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    named = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if named and "additionalProperties" not in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made["additionalProperties"] = False
    return made


def name_of(group, version, kind):
    """As kubeconform has it: `{{ .ResourceKind }}{{ .KindSuffix }}`."""
    first = group.split(".")[0]
    return f"{kind.lower()}-{first + '-' if first else ''}{version}.json"


def own(edgectl):
    text = subprocess.run([edgectl, "crds", "-o", "json"], check=True, capture_output=True, text=True).stdout
    for definition in json.loads(text)["items"]:
        spec = definition["spec"]
        for version in spec["versions"]:
            schema = closed(version["schema"]["openAPIV3Schema"])
            schema["properties"] |= {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
            yield name_of(spec["group"], version["name"], spec["names"]["kind"]), schema


def kubernetes(module):
    for document in DOCUMENTS:
        schemas = json.loads((module / "api/openapi-spec/v3" / f"{document}_openapi.json").read_text())["components"]["schemas"]
        # A schema of schemas takes anything, as its own fields do.
        strict = {name: (schema if "JSONSchemaProps" in name else closed(schema)) for name, schema in schemas.items()}
        for name, schema in schemas.items():
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                top = {"allOf": [{"$ref": f"#/components/schemas/{name}"}], "components": {"schemas": strict}}
                yield name_of(kind["group"], kind["version"], kind["kind"]), top


def main():
    edgectl, module, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in [*own(edgectl), *kubernetes(module)]:
        (folder / name).write_text(json.dumps(schema))


if __name__ == "__main__":
    main()
