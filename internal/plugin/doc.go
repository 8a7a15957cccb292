// Package plugin runs a compiler that is written in any language, as a
// [suite.Compiler]. The compiler is a program that reads JSON lines and answers with
// JSON lines.
//
// One process serves all requests. Each line, in both directions, is one JSON
// object; protocol.schema.json describes all of them. meshproof greets, and the compiler
// greets back. After that each request has an id, and its answer repeats the id:
//
//	→ {"protocol": 1, "meshproof": "v1.2.0"}
//	← {"protocol": 1, "name": "my-mesh", "version": "0.3"}
//	→ {"id": 1, "inbound": {…}, "policies": [{…}], "options": {…}}
//	← {"id": 1, "filters": {"network": [{…}], "http": [{…}], "routes": [{"name": "…", "rbac": {…}}]}}
//	→ {"id": 2, "inbound": {…}, "policies": [{…}], "options": {…}}
//	← {"id": 2, "error": "spec.rules[0]: refused, and why"}
//
// The compiler may answer the requests in any order, and several may be open at a time.
// Filters are Envoy's messages in the JSON form of protobuf. The package keeps the last
// lines of standard error for its errors.
//
// The package guarantees that a broken compiler never counts as one that refuses
// policies. A line that is not a complete and correct answer is an [*Error]; the
// text under "error" in an answer is a refusal and no [*Error]. A wrong answer fails its
// own request only. Some failures hide the request of an answer: a line that is no JSON
// object, an unknown id, silence, the end of the process. They end the compiler. It is not
// started again, and each further request gets the same error at once. The process group
// of the compiler always ends with it.
//
// The package does not judge the meaning of filters. Envoy does that.
package plugin
