package report

import (
	"time"

	"github.com/meshproof/meshproof/cases/feature"
)

// Run is what became of all cases on one Envoy, under one compiler.
type Run struct {
	// Meshproof is the version of this program.
	Meshproof string `json:"meshproof"`
	// Implementation is whose compiler was under test.
	Implementation Implementation `json:"implementation"`
	// Date is when the run began, in UTC.
	Date time.Time `json:"date"`
	// Envoy is the release, EnvoySHA256 the digest of its binary in hex, empty where
	// the binary could not be read; Runtime is "process" or "container".
	Envoy       string `json:"envoy"`
	EnvoySHA256 string `json:"envoySHA256,omitempty"`
	Runtime     string `json:"runtime"`
	// Profiles are those that were asked for, all of them where nobody asked.
	Profiles []feature.Profile `json:"profiles"`
	// Unsupported are the features that the compiler does not claim.
	Unsupported []feature.Name `json:"unsupported,omitempty"`
	// AnyNames is true where the names of policies in the filters were the compiler's
	// own business: which policy decided was not compared.
	AnyNames bool `json:"anyNames,omitempty"`
	// Shard is "2/5" where this is a part of a run, empty for a whole one.
	Shard string `json:"shard,omitempty"`
	// Passed, Failed and Skipped count cases.
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Cases   []Case `json:"cases"`
	// Milliseconds is how long the run took, Envoy's start included.
	Milliseconds float64 `json:"milliseconds"`
	// ClassesProven and MutationScore are stated where they were measured.
	ClassesProven *Classes `json:"classesProven,omitempty"`
	MutationScore *Score   `json:"mutationScore,omitempty"`
}

// Classes counts the request classes that were decided as specified.
type Classes struct {
	Proven   int  `json:"proven" yaml:"proven"`
	Of       int  `json:"of" yaml:"of"`
	Complete bool `json:"complete" yaml:"complete"`
}

// Score counts the seeded faults that the cases found.
type Score struct {
	Killed int `json:"killed" yaml:"killed"`
	Of     int `json:"of" yaml:"of"`
}

// Case is what became of one case.
type Case struct {
	Case     string         `json:"case"`
	Story    string         `json:"story"`
	Place    string         `json:"place"`
	Features []feature.Name `json:"features,omitempty"`
	Passed   bool           `json:"passed"`
	// Skipped says why the case proves nothing here; empty where it was run.
	Skipped string `json:"skipped,omitempty"`
	// NotApplicable is true for a skipped case that is not about this Envoy or this
	// compiler: its gate leaves the version out, or it needs an extended feature that
	// is not claimed. Such a case leaves no gap in what was proven.
	NotApplicable bool `json:"notApplicable,omitempty"`
	// Error says why the case as a whole failed; Fault is true where Envoy or the
	// machine did, so that nothing is proven either way.
	Error        string  `json:"error,omitempty"`
	Fault        bool    `json:"fault,omitempty"`
	Milliseconds float64 `json:"milliseconds"`
	// EvidenceSHA256 is the hash of what was seen, in hex. It leaves out what differs
	// from run to run (times, keys), so that the same decisions on the same evidence
	// have the same hash. It is empty where nothing was seen.
	EvidenceSHA256 string              `json:"evidenceSHA256,omitempty"`
	Requests       []Request           `json:"requests"`
	Counters       map[string]Counters `json:"counters,omitempty"`
	Warnings       []string            `json:"warnings,omitempty"`
	Notes          []string            `json:"notes,omitempty"`
	// Again is the command that repeats the case.
	Again string `json:"again,omitempty"`
	// Source is the case as written, policies and all.
	Source string `json:"source,omitempty"`
}

// Failed reports whether the case was run and did not go as wanted.
func (c Case) Failed() bool { return !c.Passed && c.Skipped == "" }

// Request is what became of one request.
type Request struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Protocol is what the inbound speaks: "http", "http2", "grpc" or "tcp". It is empty
	// in results of older versions of meshproof. The hash of the evidence leaves it out.
	Protocol string `json:"protocol,omitempty"`
	// Method and Path are empty where the case states none: the caller sends GET and /.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	GRPC   string `json:"grpc,omitempty"`
	// Header has what else was sent, each as "name: value", the authority included.
	Header []string `json:"header,omitempty"`
	Want   string   `json:"want"`
	Passed bool     `json:"passed"`
	// Outcome is "allow", "deny", "handshake failed", the status of a request that
	// Envoy itself answered, or "unproven" where the evidence contradicts itself.
	Outcome string `json:"outcome"`
	// By names the policy that decided, ShadowBy the one that the shadow engine
	// names; Shadow is "allow", "deny" or "none".
	By       string `json:"by,omitempty"`
	Shadow   string `json:"shadow"`
	ShadowBy string `json:"shadowBy,omitempty"`
	// Rule is the text of the rule that decided, by the policies; empty where none was
	// asked.
	Rule     string   `json:"rule,omitempty"`
	Problems []string `json:"problems,omitempty"`
	Evidence Evidence `json:"evidence"`
}

// Evidence is what was seen of a request from four sides.
type Evidence struct {
	Caller       string   `json:"caller"`
	Upstream     *Arrived `json:"upstream"`
	Log          string   `json:"log"`
	Peer         []string `json:"peer,omitempty"`
	Retries      int      `json:"retries"`
	Milliseconds float64  `json:"milliseconds"`
}

// Arrived is what reached the upstream.
type Arrived struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Bytes  int    `json:"bytes"`
	XFCC   string `json:"xfcc,omitempty"`
}

// Counters is what the RBAC counters of an inbound moved by.
type Counters struct {
	Allowed       uint64 `json:"allowed"`
	Denied        uint64 `json:"denied"`
	ShadowAllowed uint64 `json:"shadow_allowed"`
	ShadowDenied  uint64 `json:"shadow_denied"`
}

// Add takes a case into the run, counts it, and states the hash of its evidence.
func (r *Run) Add(c Case) {
	c.EvidenceSHA256 = c.hash()
	r.Cases = append(r.Cases, c)
	switch {
	case c.Skipped != "":
		r.Skipped++
	case c.Passed:
		r.Passed++
	default:
		r.Failed++
	}
}
