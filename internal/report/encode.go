package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Encode returns a run as a results file has it. The same run gives the same bytes.
func Encode(r Run) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("report: write the results: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads what [Encode] writes, and checks it. A run is refused with a field or a feature that this version does not
// know, with counts that its cases do not add up to, or where the run or a case has another hash than it states.
func Decode(data []byte) (Run, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var r Run
	err := decoder.Decode(&r)
	switch {
	case err != nil && !json.Valid(data):
		return Run{}, fmt.Errorf("not a results file: no JSON: %w: name a file results-VERSION.json as run --report wrote it", err)
	case err != nil:
		return Run{}, fmt.Errorf("not a results file of this version of meshproof, but maybe of a newer one: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Run{}, errors.New("something follows the run: a results file has one run")
	}
	if err := r.check(); err != nil {
		return Run{}, err
	}
	r.EvidenceSHA256 = ""
	return r, nil
}

// check reports a contradiction in a run.
func (r Run) check() error {
	if r.Envoy == "" || r.Meshproof == "" {
		return errors.New("it names no version of Envoy, or of meshproof: not a results file")
	}
	if r.Shard != "" {
		if _, err := ParseShard(r.Shard); err != nil {
			return err
		}
	}
	if err := checkTime(r.Milliseconds); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range r.Cases {
		if c.Case == "" || seen[c.Case] {
			return fmt.Errorf("case %q: its name stands there twice, or is empty", c.Case)
		}
		seen[c.Case] = true
		if err := c.Check(); err != nil {
			return err
		}
		if err := c.checkStatus(); err != nil {
			return fmt.Errorf("case %q: %w", c.Case, err)
		}
	}
	if got := r.hash(); got != r.EvidenceSHA256 {
		return fmt.Errorf("what ran, and its evidence, has the hash %s, not %s as it says: the file was changed, or an older meshproof wrote it", short(got), short(r.EvidenceSHA256))
	}
	t := Count(r.Cases)
	if r.Passed != t.Passed || r.Failed != t.Failed || r.Skipped != t.Skipped+t.NotApplicable {
		return fmt.Errorf("it says that %d cases passed, %d failed and %d were skipped, but of its cases %d, %d and %d did: the file was changed",
			r.Passed, r.Failed, r.Skipped, t.Passed, t.Failed, t.Skipped+t.NotApplicable)
	}
	return nil
}

// checkStatus reports a case whose status contradicts its requests or its error.
func (c Case) checkStatus() error {
	if err := checkTime(c.Milliseconds); err != nil {
		return err
	}
	sound := c.Error == "" && (c.Examination == nil || len(c.Examination.Unread)+len(c.Examination.Wrong) == 0) && (c.Drawn == nil || len(c.Drawn.Problems) == 0)
	for i, q := range c.Requests {
		if q.Passed != (len(q.Problems) == 0) {
			return fmt.Errorf("requests[%d]: passed is %t, with %d problems: the file was changed", i, q.Passed, len(q.Problems))
		}
		if err := checkTime(q.Evidence.Milliseconds); err != nil {
			return fmt.Errorf("requests[%d]: %w", i, err)
		}
		sound = sound && q.Passed
	}
	for i, p := range c.RoutedRequests {
		if p.Passed != (len(p.Problems) == 0) {
			return fmt.Errorf("routedRequests[%d]: passed is %t, with %d problems: the file was changed", i, p.Passed, len(p.Problems))
		}
		if err := checkTime(p.Milliseconds); err != nil {
			return fmt.Errorf("routedRequests[%d]: %w", i, err)
		}
		sound = sound && p.Passed
	}
	switch {
	case c.NotApplicable && c.Skipped == "":
		return errors.New("it is not applicable, but was not skipped: the file was changed")
	case c.Passed && (!sound || c.Skipped != ""):
		return errors.New("it passed, it says, but it was skipped, or has an error, a request with a problem, or filters that are wrong or not verified: the file was changed")
	case !c.Passed && sound && c.Skipped == "":
		return errors.New("it failed, it says, but has no error and no request with a problem: the file was changed")
	}
	return nil
}

// checkTime refuses a negative time, and a time of more than a year.
func checkTime(milliseconds float64) error {
	if milliseconds < 0 || milliseconds > 365*24*3600*1000 {
		return fmt.Errorf("it took %g ms, it says: that is no time", milliseconds)
	}
	return nil
}

// hash returns the hash of the requests and their evidence, "" for a case without requests
// and error. It is the SHA-256 of the JSON of the case, without everything that differs
// from run to run, and without explanations of the evidence.
func (c Case) hash() string {
	if c.Asked() == 0 && c.Error == "" {
		return ""
	}
	seen := Case{Case: c.Case, Error: c.Error, Fault: c.Fault, Counters: c.Counters, Requests: make([]Request, len(c.Requests))}
	for i, q := range c.Requests {
		q = q.Lasting()
		q.Rule, q.Problems, q.Explain, q.Protocol = "", nil, "", ""
		seen.Requests[i] = q
	}
	for _, p := range c.RoutedRequests {
		seen.RoutedRequests = append(seen.RoutedRequests, p.lasting())
	}
	text, err := json.Marshal(seen)
	if err != nil {
		// Strings, numbers and lists of them always have a JSON form.
		panic(fmt.Sprintf("report: %v", err))
	}
	sum := sha256.Sum256(validText(text))
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

// hash returns the hash of what ran, of the evidence of all cases, in the order of their names, and of what is
// told about them. Times, commands and the folders of places are left out.
func (r Run) hash() string {
	var lines []string
	for _, c := range r.Cases {
		lines = append(lines, fmt.Sprintf("%q %q %t %q %t %t%s\n", c.Case, c.EvidenceSHA256, c.Passed, lastingText(c.Skipped), c.NotApplicable, c.Fault, c.heldAgainst()+c.told()))
	}
	slices.Sort(lines)
	ran := r
	ran.Cases, ran.Date, ran.Milliseconds, ran.EvidenceSHA256 = nil, time.Time{}, 0, ""
	head, err := json.Marshal(plainRun(ran))
	if err != nil {
		// Strings, numbers and lists of them always have a JSON form.
		panic(fmt.Sprintf("report: %v", err))
	}
	sum := sha256.New()
	sum.Write(validText(head))
	sum.Write(validText([]byte(strings.Join(lines, ""))))
	return hex.EncodeToString(sum.Sum(nil))
}

// heldAgainst says what the case was held against beside its policies, "" for nothing: cases of most runs have
// none of it, and their hashes stay as they are.
func (c Case) heldAgainst() string {
	if c.WantsOnly == "" && c.Examination == nil && c.Drawn == nil {
		return ""
	}
	text, err := json.Marshal(Case{WantsOnly: c.WantsOnly, Examination: c.Examination, Drawn: c.Drawn})
	if err != nil {
		// Strings, numbers and lists of them always have a JSON form.
		panic(fmt.Sprintf("report: %v", err))
	}
	return " " + string(text)
}

// told has what a reader is told about the case beside its evidence. The commands that repeat it name files of
// one machine, and the problems have times: they are no part of it.
func (c Case) told() string {
	about := Case{Story: c.Story, Place: lastingText(c.Place), Features: c.Features, Advisory: c.Advisory, Source: lastingText(c.Source)}
	for _, text := range c.Warnings {
		about.Warnings = append(about.Warnings, lastingText(text))
	}
	for _, text := range c.Notes {
		about.Notes = append(about.Notes, lastingText(text))
	}
	for _, q := range c.Requests {
		about.Requests = append(about.Requests, Request{Protocol: q.Protocol, Rule: lastingText(q.Rule)})
	}
	for _, p := range c.RoutedRequests {
		about.RoutedRequests = append(about.RoutedRequests, RoutedRequest{Protocol: p.Protocol})
	}
	text, err := json.Marshal(about)
	if err != nil {
		// Strings, numbers and lists of them always have a JSON form.
		panic(fmt.Sprintf("report: %v", err))
	}
	return " " + string(text)
}

var (
	folderOfPlace = regexp.MustCompile(`[^\s"'(]*/([^/\s"'(:]+:[0-9]+)`)
	timeTaken     = regexp.MustCompile(`took [0-9.]+ m?s\b`)
)

// lastingText returns a text without the folders of places, such as those of "/home/me/p.yaml:3", and without
// times that something took.
func lastingText(text string) string {
	return timeTaken.ReplaceAllString(folderOfPlace.ReplaceAllString(text, "$1"), "took")
}

// validText replaces an escape, which stands for a byte that is no UTF-8, by the character as
// which it is read.
func validText(text []byte) []byte { return bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\uFFFD")) }

// plainRun is a run without its methods.
type plainRun Run

// MarshalJSON implements [json.Marshaler]. It states the hash of the run.
func (r Run) MarshalJSON() ([]byte, error) {
	r.EvidenceSHA256 = r.hash()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(plainRun(r))
	return b.Bytes(), err
}
