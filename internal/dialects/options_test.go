package dialects_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/manifest"
)

func document(t *testing.T, yaml string) manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return docs[0]
}

// TestCheckOptionsFillsOwnFields: a caller may have keys of its own in the document.
func TestCheckOptionsFillsOwnFields(t *testing.T) {
	t.Parallel()
	var own struct {
		Mine string `yaml:"mine"`
	}
	if _, err := dialects.CheckOptions(document(t, "{mine: x, kumaOption: 2}"), &own); err != nil || own.Mine != "x" {
		t.Errorf("%+v, %v", own, err)
	}
	const want = "p.yaml:1: yours: unknown field: use one of cilium, istio, kumaOption, kumaRoutes, legacyCompiler, linkerd, mine, shadowForm, systemNamespace"
	if _, err := dialects.CheckOptions(document(t, "{yours: x}"), &own); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A mapping under an unknown key is of a dialect that is not in the list.
func TestCheckOptionsOfOtherDialects(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"{antrea: {tiers: mesh}, calico: {}, kumaOption: 2}": "[antrea calico] <nil>",
		"{kumaOption: {a: b}}":                               "[] p.yaml:1: kumaOption: expected a whole number from 0 to 255, found a mapping",
		"{antrea: [mesh]}":                                   "[] p.yaml:1: antrea: unknown field: use one of cilium, istio, kumaOption, kumaRoutes, legacyCompiler, linkerd, shadowForm, systemNamespace",
	} {
		foreign, err := dialects.CheckOptions(document(t, yaml))
		if got := fmt.Sprint(foreign, " ", err); got != want {
			t.Errorf("%s: got %s, want %s", yaml, got, want)
		}
	}
}
