// Package report holds the results of runs as data, compares them and merges them.
//
// A [Run] is everything about one version of Envoy under one compiler, down to the
// evidence of each request. [Encode] and [Decode] keep it as JSON. Everything else is made
// of runs: [NewConformance] is the conformance report in the shape of Gateway API, and
// [Differences] and [Compare] tell what differs. The rooms below draw runs: page as HTML,
// markdown for a CI job, junit for CI systems. folder writes all of them.
//
// The package guarantees that the same runs give the same bytes, and that it refuses a run
// that was changed after it was written by accident, because a run and each case have a hash.
// The hash has no key: a person who changes a run on purpose can write the right hash. The package
// judges nothing.
package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Run has the results of all cases on one Envoy, under one compiler.
type Run struct {
	// Meshproof is the version of this program.
	Meshproof string `json:"meshproof"`
	// Implementation says who answers for the compiler.
	Implementation Implementation `json:"implementation"`
	// Date is the time when the run began, in UTC.
	Date time.Time `json:"date"`
	// Envoy is the release. EnvoySHA256 is the digest of its binary in hex, "" if the
	// binary could not be read. Runtime is "process" or "container".
	Envoy       string `json:"envoy"`
	EnvoySHA256 string `json:"envoySHA256,omitempty"`
	Runtime     string `json:"runtime"`
	// Behavior has what this Envoy answered to each probe where releases differ.
	Behavior map[string]string `json:"behavior,omitempty"`
	// Profiles are the selected profiles.
	Profiles []feature.Profile `json:"profiles"`
	// Unsupported are the features that the compiler does not claim.
	Unsupported []feature.Name `json:"unsupported,omitempty"`
	// AnyNames is true if the names of policies in the filters were not compared, so that
	// the run does not say which policy decided.
	AnyNames bool `json:"anyNames,omitempty"`
	// Shard is "2/5" for a part of a run, "" for a whole run.
	Shard string `json:"shard,omitempty"`
	// Passed, Failed and Skipped count cases.
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Cases   []Case `json:"cases"`
	// Milliseconds is the time of the run, with the start of Envoy.
	Milliseconds float64 `json:"milliseconds"`
	// EvidenceSHA256 is the hash of everything above but times, with the hashes and the states
	// of the cases, in hex. It is computed when a run is written, and empty before.
	EvidenceSHA256 string `json:"evidenceSHA256,omitempty"`
	// ClassesProven and MutationScore are nil if they were not measured.
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

// Case is the result of one case.
type Case struct {
	Case     string         `json:"case"`
	Story    string         `json:"story"`
	Place    string         `json:"place"`
	Features []feature.Name `json:"features,omitempty"`
	Advisory *Advisory      `json:"advisory,omitempty"`
	Passed   bool           `json:"passed"`
	// Skipped says why the case proves nothing here, "" for a case that ran.
	Skipped string `json:"skipped,omitempty"`
	// NotApplicable is true for a skipped case that says nothing about this Envoy or this
	// compiler: its gate excludes the version, or it needs an extended feature that the
	// compiler does not claim. Such a case leaves no gap in the proof.
	NotApplicable bool `json:"notApplicable,omitempty"`
	// Error says why the case as a whole failed. Fault is true if Envoy or the machine
	// failed, so that nothing is proven.
	Error        string  `json:"error,omitempty"`
	Fault        bool    `json:"fault,omitempty"`
	Milliseconds float64 `json:"milliseconds"`
	// EvidenceSHA256 is the hash of the evidence, in hex. It leaves out what differs from
	// run to run (times, keys), so that the same decisions on the same evidence have the
	// same hash. It is "" for a case without requests and error.
	EvidenceSHA256 string    `json:"evidenceSHA256,omitempty"`
	Requests       []Request `json:"requests"`
	// RoutedRequests are the requests through the sidecars of workloads.
	RoutedRequests []RoutedRequest     `json:"routedRequests,omitempty"`
	Counters       map[string]Counters `json:"counters,omitempty"`
	Warnings       []string            `json:"warnings,omitempty"`
	Notes          []string            `json:"notes,omitempty"`
	// WantsOnly says why Envoy was held against nothing but what the case wants: no dialect
	// owns the policies. It is "" where the policies were read.
	WantsOnly string `json:"wantsOnly,omitempty"`
	// Examination says what the filters of a foreign compiler come to.
	Examination *Examination `json:"examination,omitempty"`
	// Drawn says which policies were drawn at random for the run.
	Drawn *Drawn `json:"drawn,omitempty"`
	// Again is the command that repeats the case.
	Again string `json:"again,omitempty"`
	// Source is the text of the case, with its policies.
	Source string `json:"source,omitempty"`
}

// Advisory is the released advisory that a case shows.
type Advisory struct {
	ID      string `json:"id"`
	Product string `json:"product"`
	Loses   string `json:"loses"`
}

// Examination is what came of reading a compiler's filters back: the classes of requests that
// policies and filters make together, the requests that Envoy was asked for them, the parts of
// the filters that nothing can be said of, and the classes that are decided wrong.
type Examination struct {
	Classes int      `json:"classes"`
	Asked   int      `json:"asked"`
	Unread  []string `json:"unread,omitempty"`
	Wrong   []string `json:"wrong,omitempty"`
}

// Drawn are sets of policies that were drawn at random. The same seed draws the same sets.
// Again is the number of answers to questions that were asked again, Others the number of them
// that were not like any answer before.
type Drawn struct {
	Seed      uint64 `json:"seed" yaml:"seed"`
	Sets      int    `json:"sets" yaml:"sets"`
	Decisions int    `json:"decisions" yaml:"decisions"`
	// ReadBack and Unread are further sets, whose filters were read back, or cannot be read back whole.
	ReadBack int      `json:"readBack,omitempty" yaml:"readBack,omitempty"`
	Unread   int      `json:"unread,omitempty" yaml:"unread,omitempty"`
	Again    int      `json:"again" yaml:"again"`
	Others   int      `json:"others" yaml:"others"`
	Problems []string `json:"problems,omitempty" yaml:"problems,omitempty"`
}

// Shows says in one sentence what a run shows of a compiler.
func (d Drawn) Shows() string {
	return fmt.Sprintf("a run shows what the compiler answered about its cases and about %s of policies (seed %d), and about no others: a compiler that is wrong for one name, or by a hash, passes",
		terminal.Count(d.Sets+d.ReadBack, "set"), d.Seed)
}

// Failed reports whether the case ran and did not pass.
func (c Case) Failed() bool { return !c.Passed && c.Skipped == "" }

// Request is the result of one request.
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
	// Source is the address that the caller plays, empty where it is the caller's own.
	Source string `json:"sourceIP,omitempty"`
	// SNI is the server name of the handshake, empty for none.
	SNI string `json:"sni,omitempty"`
	// Token has the claims of the token and what is wrong with it, empty for none.
	Token string `json:"token,omitempty"`
	// Header has the other header lines, each as "name: value", with the authority as host.
	Header []string `json:"header,omitempty"`
	Want   string   `json:"want"`
	Passed bool     `json:"passed"`
	// Outcome is "allow", "deny", "handshake failed", the status of a request that Envoy
	// itself answered, or "unproven" if the evidence contradicts itself.
	Outcome string `json:"outcome"`
	// By is the name of the policy that decided. Shadow is "allow", "deny" or "none", and
	// ShadowBy is the name of the policy in the shadow.
	By       string `json:"by,omitempty"`
	Shadow   string `json:"shadow"`
	ShadowBy string `json:"shadowBy,omitempty"`
	// Rule is the text of the rule that decides by the policies, "" if no policy is asked.
	Rule     string   `json:"rule,omitempty"`
	Problems []string `json:"problems,omitempty"`
	// Explain is the command that shows how the policies decide a request that failed.
	Explain  string   `json:"explain,omitempty"`
	Evidence Evidence `json:"evidence"`
}

// Evidence is the evidence of a request, from four sides.
type Evidence struct {
	Caller       string   `json:"caller"`
	Upstream     *Arrived `json:"upstream"`
	Log          string   `json:"log"`
	Peer         []string `json:"peer,omitempty"`
	Retries      int      `json:"retries"`
	Milliseconds float64  `json:"milliseconds"`
}

// Arrived is the part of a request that reached the upstream.
type Arrived struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Bytes  int    `json:"bytes"`
	XFCC   string `json:"xfcc,omitempty"`
}

// Counters says by how much the RBAC counters of an inbound moved.
type Counters struct {
	Allowed       uint64 `json:"allowed"`
	Denied        uint64 `json:"denied"`
	ShadowAllowed uint64 `json:"shadow_allowed"`
	ShadowDenied  uint64 `json:"shadow_denied"`
	// Rules are the counters of the rules that decided on L7, by the name that Envoy reports.
	Rules map[string]Counters `json:"rules,omitempty"`
}

// Add adds a case to the run, counts it, and sets the hash of its evidence.
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

// Story has the cases of a run that belong to one story.
type Story struct {
	Name  string
	Cases []Case
}

// Stories groups the cases of a run by story, in the order of their first case.
func (r Run) Stories() []Story {
	var out []Story
	at := map[string]int{}
	for _, c := range r.Cases {
		name := cmp.Or(c.Story, "no story")
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Story{Name: name})
		}
		out[i].Cases = append(out[i].Cases, c)
	}
	return out
}

// Problems returns all problems of a case, each with its request.
func (c Case) Problems() []string {
	var out []string
	if c.Error != "" {
		out = append(out, c.Error)
	}
	asked := Askings(c)
	for i, q := range c.Requests {
		for _, problem := range q.Problems {
			out = append(out, asked[i].String()+": "+problem)
		}
	}
	for i, p := range c.RoutedRequests {
		for _, problem := range p.Problems {
			out = append(out, asked[len(c.Requests)+i].String()+": "+problem)
		}
	}
	return out
}

// Shard is a part of a run. Number counts from one. The zero value is the whole run.
type Shard struct{ Number, Total int }

// MostShards bounds the number of parts of a run.
const MostShards = 10_000

// ParseShard reads "2/5", the second of five.
func ParseShard(text string) (Shard, error) {
	number, of, _ := strings.Cut(text, "/")
	n, err1 := strconv.Atoi(number)
	m, err2 := strconv.Atoi(of)
	s := Shard{n, m}
	switch {
	case err1 != nil || err2 != nil || s.String() != text:
		return Shard{}, fmt.Errorf("shard %q is none: write 2/5 for the second part of five", text)
	case m > MostShards:
		return Shard{}, fmt.Errorf("shard %q: there are %d parts at most", text, MostShards)
	case n < 1 || n > m:
		return Shard{}, fmt.Errorf("shard %q: the parts are 1 to %d", text, m)
	}
	return s, nil
}

// String returns "2/5", or "" for the whole.
func (s Shard) String() string {
	if s.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Total)
}
