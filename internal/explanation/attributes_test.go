package explanation

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
)

// unsaid are the attributes that no dialect asks for where a command explains it.
var unsaid = map[string]string{
	"dns-san":         "no policy names a DNS SAN",
	"query":           "no policy names the query",
	"query-parameter": "it tells routes, and no command line describes the routes of an inbound",
	"joined-header":   "policies with headers are named rules",
}

// TestEveryAttributeIsExplained writes the command line for each request of each case, reads it
// again, and demands the same explanation. Of each attribute that policies ask for there are
// requests that a match of it takes, and others.
func TestEveryAttributeIsExplained(t *testing.T) {
	t.Parallel()
	taken := map[string]map[bool]int{}
	explained, without := 0, 0
	for _, c := range casetest.Stories(t) {
		for _, q := range c.Requests {
			s, ok := subjectOf(c, q.To)
			if !ok || q.From.Plaintext || q.From.Anonymous { // no policy judges them
				continue
			}
			line := NewCommand().Line(c, q, false)
			if line == "" {
				if isSayable(q) {
					t.Errorf("%s: no command explains %+v", c.Name, q)
				}
				without++
				continue
			}
			from, request, err := read(t, line)
			if err != nil {
				t.Errorf("%s: %s: %v", c.Name, line, err)
				continue
			}
			got, err := Explain([]lab.Subject{s.Subject}, from, request)
			if err != nil {
				t.Errorf("%s: %s: %v", c.Name, line, err)
				continue
			}
			want := s.explanationOf(q, taken)
			if diff := cmp.Diff(want.Gates, got[0].Gates); diff != "" || want.Decision != got[0].Decision {
				t.Errorf("%s: %s: decision %s, want %s\n%s", c.Name, line, got[0].Decision, want.Decision, diff)
			}
			explained++
		}
	}
	for _, a := range attribute.All() {
		name := programtest.Family(a)
		switch _, isUnsaid := unsaid[name]; {
		case isUnsaid != (len(taken[name]) == 0):
			t.Errorf("%s: requests that are explained ask %v times for it, and the list says otherwise", name, taken[name])
		case !isUnsaid && (taken[name][true] == 0 || taken[name][false] == 0):
			t.Errorf("%s: requests that a match takes, and others: %v", name, taken[name])
		}
	}
	t.Logf("%d requests are explained, %d have no command line", explained, without)
}

// subject is an inbound of a case, and its program.
type subject struct {
	lab.Subject
	program policy.Program
	tokens  token.Demand
}

// subjectOf returns the inbound of a name. It reports false where its policies are refused.
func subjectOf(c cases.Case, to string) (subject, bool) {
	set, err := dialect.Parse(c.Policies, c.Options)
	i := slices.IndexFunc(c.Inbounds, func(in cases.Inbound) bool { return in.String() == to })
	if err != nil || i < 0 || len(c.Inbounds[i].Routes) > 0 || set.Check(c.Inbounds[i].Inbound) != nil {
		return subject{}, false
	}
	s := subject{Subject: lab.Subject{Inbound: c.Inbounds[i], TrustDomains: c.TrustDomains, Set: set, Normalization: c.Normalization, Warnings: func() []policy.Warning { return nil }}}
	program := set.Program(s.Inbound.Inbound)
	s.program, s.tokens = program.Program, program.Tokens
	if s.Inbound.MTLS, err = verdict.ModeOf(s.Inbound, program); err != nil {
		return subject{}, false
	}
	s.Normalization, err = verdict.NormalizationOf(set, s.Normalization)
	return s, err == nil
}

// explanationOf explains a request of a case, and notes which attributes its program asks for.
func (s subject) explanationOf(q cases.Request, taken map[string]map[bool]int) Explanation {
	q.Method, q.Path = requestline.MethodAndTarget(q.Method, q.Path, q.GRPC)
	e := explain(s.Subject, s.Set.Program(s.Inbound.Inbound), q)
	seen, rejected := verdict.See(s.Inbound, s.Normalization, s.tokens, q)
	if rejected != nil {
		return e
	}
	for _, gate := range s.program.Gates {
		for _, rule := range gate.Rules {
			for c := range policy.Walk(rule.When) {
				is, ok := c.(policy.Is)
				if !ok {
					continue
				}
				name := programtest.Family(is.Attribute)
				if taken[name] == nil {
					taken[name] = map[bool]int{}
				}
				taken[name][policy.Rule{When: is}.Matches(&seen)]++
			}
		}
	}
	return e
}

// read reads a command line as a shell and the command do.
func read(t *testing.T, line string) (Caller, cases.Request, error) {
	t.Helper()
	var words []string
	for rest := strings.TrimPrefix(line, "meshproof explain"); rest != ""; {
		word := ""
		for rest = strings.TrimLeft(rest, " "); rest != "" && rest[0] != ' '; {
			switch rest[0] {
			case '\'':
				quoted, behind, _ := strings.Cut(rest[1:], "'")
				word, rest = word+quoted, behind
			case '\\':
				word, rest = word+rest[1:2], rest[2:]
			default:
				word, rest = word+rest[:1], rest[1:]
			}
		}
		words = append(words, word)
	}
	var q Question
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("to", "", "")
	q.Add(flags)
	if err := flags.Parse(words); err != nil {
		return Caller{}, cases.Request{}, err
	}
	return q.Read()
}

// isSayable reports whether words can say a request: its caller is the names of a sound certificate,
// its token, if any, is sound and of the first issuer, and its bytes are printed by a terminal.
func isSayable(q cases.Request) bool {
	_, isNamed := callerWords(q.From, false)
	claims, isClaimed := claimWords(q.Token)
	text := q.Path + q.Authority + strings.Join(claims, "")
	for _, h := range q.Headers {
		text += h.Value
	}
	return isNamed && isClaimed && (q.Token == nil || q.Token.Values()["claim iss"] != nil) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}
