// Package caller describes the requests of callers, and their answers, as data.
//
// A [Call] is one request of one caller: the addresses that it plays, the credential that
// it shows, sound or not, and the request. An [Answer] is what the caller got. [Outcome]
// tells apart an answer, a closed connection, a TLS alert, and a failure of the transport,
// which says nothing about a policy. Package harness sends calls; package
// harness/evidence reads answers.
package caller
