#!/usr/bin/env python3
# Compiles AuthorizationPolicy (GEP-3779) to Envoy's network RBAC; see docs/compilers.md.
import json
import sys


def matches(expression, labels):
    value, values = labels.get(expression["key"]), expression.get("values") or []
    return {"In": value in values, "NotIn": value not in values,
            "Exists": value is not None, "DoesNotExist": value is None}[expression["operator"]]


def selects(policy, workload):
    selector, labels = policy["spec"]["targetRefs"][0]["selector"], workload["labels"]
    return (namespace(policy) == workload["namespace"]
            and all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
            and all(matches(e, labels) for e in selector.get("matchExpressions") or []))


def namespace(policy):
    return policy["metadata"].get("namespace", "default")


def principal(source, policy, trust_domain):
    account = source.get("serviceAccount", {})
    accounts = f"spiffe://{trust_domain}/ns/{account.get('namespace', namespace(policy))}/sa/"
    name = {"exact": source["spiffe"] if source["type"] == "SPIFFE" else accounts + account["name"]}
    return {"authenticated": {"principalName": {"prefix": accounts} if account.get("name") == "*" else name}}


def answer(inbound, policies, options, **_):
    if any(not policy.get("kind", "").endswith("AuthorizationPolicy") for policy in policies):
        return {"error": "only AuthorizationPolicy is supported"}
    rules, selected = {}, [policy for policy in policies if selects(policy, inbound["workload"])]
    for policy in selected:
        for i, rule in enumerate(policy["spec"].get("rules", [])):
            # A rule without sources allows every caller. An empty list allows no caller.
            principals = [principal(s, policy, options["trustDomain"]) for s in rule.get("sources", [])]
            if principals or "sources" not in rule:
                ports = rule.get("networkAttributes", {}).get("ports", [])
                rules[f"{namespace(policy)}/{policy['metadata']['name']}/{i:03}"] = {
                    "permissions": [{"destinationPort": port} for port in ports] or [{"any": True}],
                    "principals": principals or [{"any": True}]}
    return {"filters": {"network": [{"rules": {"policies": rules}}]} if selected else {}}


greeting = {"protocol": 1, "name": "python-example", "version": "1"}
for request in map(json.loads, sys.stdin):
    print(json.dumps({"id": request["id"], **answer(**request)} if "id" in request else greeting), flush=True)
