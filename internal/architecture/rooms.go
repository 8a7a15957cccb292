package main

// leftOut are the folders that are no rooms: nothing in the project imports them, or only
// tests do.
var leftOut = []string{"deploy", "examples", "internal/architecture", "internal/browsertest", "internal/grpcplane", "internal/report/reporttest", "policy/internal/draw"}

// walls has, for a path, the room to which the packages under that path belong. A
// package with no entry is a room of its own.
var walls = map[string]string{
	"cases":               "cases",
	"internal/casefile":   "cases",
	"internal/casewriter": "cases",

	"harness":             "harness",
	"internal/capability": "policy/language",

	"internal/connection": "harness",
	"internal/envoy":      "harness",
	"internal/pin":        "harness",
	"internal/upstream":   "harness",

	"policy/gateway":     "policy/gateway",
	"policy/kuma":        "policy/kuma",
	"internal/dataplane": "policy/kuma",
	"internal/kri":       "policy/kuma",

	"internal/report": "internal/report",
	"internal/result": "internal/verdict",
	"xds":             "xds",
}
