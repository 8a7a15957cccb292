package main

// leftOut are the folders that are no rooms: nothing in the project imports them, or only
// tests do.
var leftOut = []string{
	"deploy", "examples", "internal/architecture", "internal/browsertest", "internal/casetest", "internal/flakes", "internal/golden", "internal/programtest",
	"internal/draw", "internal/enginetest", "internal/grpcplane", "internal/property", "internal/recording", "internal/report/reporttest", "internal/testbed", "plugins",
}

// walls has, for a path, the room of the packages under that path. A
// package with no entry is a room of its own.
var walls = map[string]string{
	"cases":               "cases",
	"internal/casefile":   "cases",
	"internal/casewriter": "cases",
	"internal/feature":    "cases",

	"harness":             "harness",
	"internal/arrival":    "harness",
	"internal/connection": "harness",
	"internal/envoy":      "harness",
	"internal/exchange":   "harness",
	"internal/upstream":   "harness",

	"internal/cluster":     "internal/lab",
	"internal/compilation": "internal/lab",
	"internal/explanation": "internal/lab",

	"internal/ads":          "internal/plugin",
	"internal/virtualhost":  "internal/sidecar",
	"internal/policyset":    "internal/differential",
	"internal/report":       "internal/report",
	"internal/result":       "internal/verdict",
	"internal/routeverdict": "internal/verdict",

	"internal/capability":  "policy/language",
	"internal/dialects":    "policy/dialect",
	"internal/claim":       "policy",
	"internal/forwarded":   "policy",
	"internal/requestline": "policy",
	"internal/rewrite":     "policy",
	"policy/gateway":       "policy/gateway",
	"policy/istio":         "policy/istio",
	"policy/kuma":          "policy/kuma",
	"internal/dataplane":   "policy/kuma",
	"internal/kri":         "policy/kuma",

	"xds":                       "xds",
	"internal/behavior/probe":   "xds",
	"internal/outboundlog":      "xds",
	"internal/routingconfig":    "xds",
	"internal/controlplane":     "xds",
	"internal/authorizerfilter": "xds",
	"internal/messages":         "xds",
	"internal/normalization":    "xds",
	"internal/rbac":             "xds",
	"internal/tokenfilter":      "xds",

	"internal/start":     "cmd/meshproof",
	"internal/webserver": "cmd/meshproof",
}
