package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// hash returns the hash of the requests and their evidence, "" for a case without requests
// and error. It is the SHA-256 of the JSON of the case, without everything that differs
// from run to run, and without explanations of the evidence.
func (c Case) hash() string {
	if len(c.Requests) == 0 && c.Error == "" {
		return ""
	}
	seen := Case{Case: c.Case, Error: c.Error, Fault: c.Fault, Counters: c.Counters, Requests: make([]Request, len(c.Requests))}
	for i, q := range c.Requests {
		q = q.Lasting()
		q.Rule, q.Problems, q.Protocol = "", nil, ""
		seen.Requests[i] = q
	}
	text, err := json.Marshal(seen)
	if err != nil {
		// Strings, numbers and lists of them always have a JSON form.
		panic(fmt.Sprintf("report: %v", err))
	}
	// A byte that is no UTF-8 becomes this escape, which is read as the character.
	text = bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\uFFFD"))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Lasting returns the request without what differs from run to run: retries, times, and
// the hash of the caller's certificate, since each run has keys of its own.
func (q Request) Lasting() Request {
	q.Evidence.Retries, q.Evidence.Milliseconds = 0, 0
	if a := q.Evidence.Upstream; a != nil {
		arrived := *a
		arrived.XFCC = withoutKey(a.XFCC)
		q.Evidence.Upstream = &arrived
	}
	return q
}

// withoutKey removes the hash of the certificate from an XFCC header.
func withoutKey(xfcc string) string {
	before, rest, found := strings.Cut(xfcc, "Hash=")
	if !found {
		return xfcc
	}
	_, after, _ := strings.Cut(rest, ";")
	return before + after
}

// Check reports a case whose evidence is not what its hash says.
func (c Case) Check() error {
	if got := c.hash(); got != c.EvidenceSHA256 {
		return fmt.Errorf("case %q: its evidence has the hash %s, not %s as it says: the file was changed", c.Case, short(got), short(c.EvidenceSHA256))
	}
	return nil
}

func short(hash string) string {
	if hash == "" {
		return "of nothing"
	}
	return hash[:min(len(hash), 12)]
}

// hash returns the hash of the evidence of all cases, in the order of their names.
func (r Run) hash() string {
	var lines []string
	for _, c := range r.Cases {
		lines = append(lines, c.Case+"\x00"+c.EvidenceSHA256+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}
