// Package plugin runs a compiler that is written in any language, as a
// [suite.Compiler]: a program that reads JSON lines and answers with JSON lines.
//
// One process serves all requests. Each line, in both directions, is one JSON
// object; protocol.schema.json describes them all. meshproof greets, the compiler
// greets back, and from then on each request has an id that its answer repeats:
//
//	→ {"protocol": 1, "meshproof": "v1.2.0"}
//	← {"protocol": 1, "name": "my-mesh", "version": "0.3"}
//	→ {"id": 1, "inbound": {…}, "policies": [{…}], "options": {…}}
//	← {"id": 1, "filters": {"network": [{…}], "http": [{…}], "routes": [{"name": "…", "rbac": {…}}]}}
//	→ {"id": 2, "inbound": {…}, "policies": [{…}], "options": {…}}
//	← {"id": 2, "error": "spec.rules[0]: refused, and why"}
//
// Requests do not wait for each other's answers, which may come in any order; a
// compiler that answers one line after the other is a sound one. Filters are
// Envoy's messages in the JSON form of protobuf. What is written to standard error
// is kept, the last lines of it, for the errors.
//
// The package guarantees that a broken compiler is never taken for one that refuses
// policies: whatever is no answer in every detail is an [*Error], and "error" in an
// answer never is. A wrong answer fails its own request. Whatever leaves in doubt
// what is an answer to what (a line that is no JSON object, an unknown id, silence,
// the end of the process) ends the compiler: it is not started again, and every
// further request gets the same error at once. However it ends, its process group
// ends with it.
//
// It does not look into the meaning of filters: that is for Envoy to show.
package plugin
