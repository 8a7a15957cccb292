package cases_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy/manifest"
)

// sameCases are options that compare cases, and policies by their text.
var sameCases = cmp.Options{
	cmpopts.EquateComparable(spiffeid.ID{}, spiffeid.TrustDomain{}, netip.Addr{}, cases.Want{}),
	// TestSource tests the text.
	cmpopts.IgnoreFields(cases.Case{}, "Source"),
	cmp.Transformer("YAML", func(d manifest.Document) string { return string(d.YAML()) }),
}

func parse(t testing.TB, text string) cases.Case {
	t.Helper()
	all, err := cases.Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d cases instead of one", len(all))
	}
	return all[0]
}

func document(t testing.TB, text string) manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("d.yaml", []byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %d documents, %v", text, len(docs), err)
	}
	return docs[0]
}

func id(text string) spiffeid.ID { return spiffeid.RequireFromString(text) }

// svid returns a caller with a sound SVID of its own trust domain.
func svid(name, uri string) cases.Caller {
	return cases.Caller{Name: name, Template: certs.Template{URIs: []string{uri}}, SignedBy: id(uri).TrustDomain()}
}

func ptr[T any](v T) *T { return &v }
