package casewriter_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy/manifest"
)

// builtIn are the built-in cases.
var builtIn = func() []cases.Case {
	all, err := cases.Stories()
	if err != nil {
		panic(err)
	}
	return all
}()

// prelude begins a case up to its requests.
const prelude = `case: x
workloads: [{name: w, inbounds: [{port: 80, protocol: http}, {port: 81, protocol: tcp}, {port: 82, protocol: grpc}]}]
requests:
`

// sameButNames compares cases by all that a written case keeps. Policies are compared by their text.
var sameButNames = cmp.Options{
	cmpopts.EquateComparable(spiffeid.ID{}, spiffeid.TrustDomain{}, netip.Addr{}, cases.Want{}),
	cmp.Transformer("YAML", func(d manifest.Document) string { return string(d.YAML()) }),
	cmpopts.IgnoreFields(cases.Case{}, "Source", "Place"),
	cmpopts.IgnoreFields(cases.Request{}, "Place"),
	cmpopts.IgnoreFields(cases.Caller{}, "Name"),
}

func parse(t testing.TB, text string) cases.Case {
	t.Helper()
	all, err := cases.Parse("c.yaml", []byte(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d cases, %v", len(all), err)
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
