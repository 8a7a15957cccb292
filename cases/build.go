package cases

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// builder turns one document into a case.
type builder struct {
	doc    manifest.Document
	schema caseSchema
	built  Case
	// workloads has each workload as a caller, by its name.
	workloads map[string]Caller
	callers   map[string]Caller
	tokens    map[string]*token.Token
	// folder is the folder of the case file.
	folder string
}

// build reads a case of a file in the folder.
func build(doc manifest.Document, folder string) (Case, error) {
	if head := doc.Type(); head.Type != "" || head.Kind != "" {
		return Case{}, &strangeError{doc, 1}
	}
	b := &builder{doc: doc, workloads: map[string]Caller{}, callers: map[string]Caller{}, tokens: map[string]*token.Token{noToken: nil}, folder: folder}
	if err := doc.Decode(&b.schema); err != nil {
		return Case{}, err
	}
	for _, step := range []func() error{b.head, b.trustDomains, b.addFiles, b.takeRouting, b.addWorkloads, b.addCallers, b.addTokens, b.addRequests, b.addCounters, b.complete} {
		if err := step(); err != nil {
			return Case{}, err
		}
	}
	return b.built, nil
}

func (b *builder) head() error {
	s := b.schema
	if s.Case == "" {
		return b.doc.Errorf("case", "the case has no name")
	}
	b.built = Case{
		Name:           s.Case,
		Story:          s.Story,
		Features:       s.Features,
		Gate:           s.Envoy.gate,
		Advisory:       s.Advisory.advisory,
		Place:          b.doc.Place(""),
		Policies:       applied(s.Policies.list),
		ExpectError:    s.ExpectError,
		ExpectWarnings: s.ExpectWarning,
		Normalization:  s.Options.normalization.normalization(),
		Options:        language.Options{Document: s.Options.dialects},
	}
	return nil
}

func (b *builder) trustDomains() error {
	names := b.schema.TrustDomains
	if len(names) == 0 {
		names = []string{casefile.DefaultTrustDomain}
	}
	for i, name := range names {
		field := fmt.Sprintf("trustDomains[%d]", i)
		td, err := trustDomain(name)
		switch {
		case err != nil:
			return b.doc.Errorf(field, "%v", err)
		case slices.Contains(b.built.TrustDomains, td):
			return b.doc.Errorf(field, "trust domain %q appears twice", name)
		}
		b.built.TrustDomains = append(b.built.TrustDomains, td)
	}
	b.built.Options.TrustDomain = b.built.TrustDomains[0]
	return nil
}

// trustDomain reads a name. Package spiffeid also takes a whole SPIFFE ID, and drops
// its path; that is an error here.
func trustDomain(name string) (spiffeid.TrustDomain, error) {
	td, err := spiffeid.TrustDomainFromString(name)
	if err == nil && td.Name() != name {
		err = fmt.Errorf("write %s", td.Name())
	}
	if err != nil {
		return spiffeid.TrustDomain{}, fmt.Errorf("%q is not a trust domain: %w", name, err)
	}
	return td, nil
}

// complete refuses a case that proves nothing, and a statement that no run would
// check.
func (b *builder) complete() error {
	s := b.schema
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for i, text := range s.ExpectWarning {
		if !strings.ContainsFunc(text, isWord) {
			return b.doc.Errorf(fmt.Sprintf("expectWarning[%d]", i), "the text has no letter and no digit, so that any warning would do")
		}
	}
	if _, stated := b.doc.Lookup("expectError"); stated && !strings.ContainsFunc(s.ExpectError, isWord) {
		return b.doc.Errorf("expectError", "the text has no letter and no digit, so that any error would do")
	}
	if len(b.built.RoutedRequests) > 0 && len(b.built.Routing) == 0 {
		return b.doc.Errorf("outbounds", "the case has no service that a sidecar could reach: write MeshServices here")
	}
	switch refused := s.ExpectError != ""; {
	case refused && len(s.Requests) > 0:
		return b.doc.Errorf("requests", "the policies are expected to be refused, so that no request can be sent")
	case refused && s.ExpectWarning != nil:
		return b.doc.Errorf("expectWarning", "the policies are expected to be refused, so that nothing warns of them")
	case !refused && len(s.Requests) == 0 && s.ExpectWarning == nil:
		return b.doc.Errorf("", "the case has no request, no expectError and no expectWarning: it proves nothing")
	case len(s.Requests) == 0 && len(s.Counters) > 0:
		return b.doc.Errorf("counters", "the case has no request, so that no counter moves")
	}
	return nil
}
