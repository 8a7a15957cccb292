package main

// leftOut are the folders that are no rooms: nothing in the project imports them.
var leftOut = []string{"deploy", "examples", "internal/architecture"}

// walls has, for a path, the room to which the packages under that path belong. A
// package with no entry is a room of its own.
var walls = map[string]string{
	"policy/kuma/legacy": "policy/kuma",
	"cases/feature":      "cases",
	"internal/upstream":  "harness",
	"harness/caller":     "harness",
	"harness/evidence":   "harness",
}
