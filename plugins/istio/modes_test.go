package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"istio.io/api/security/v1beta1"
	"istio.io/istio/pilot/pkg/security/authn"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/labels"
)

// TestModes holds what meshproof makes of drawn PeerAuthentications against Istio's composition.
// A test of the main module writes the file.
func TestModes(t *testing.T) {
	t.Parallel()
	admission, err := newAdmission()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("testdata/modes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	own, err := options{}.meshConfig()
	if err != nil {
		t.Fatal(err)
	}
	root := own.RootNamespace
	for line := range bytes.Lines(file) {
		var want struct {
			Policies []json.RawMessage
			Modes    map[string]string
		}
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		policies, err := admission.admitAll(want.Policies)
		if err != nil {
			t.Fatal(err)
		}
		merged := authn.ComposePeerAuthentication(root, selected(policies, root))
		for text, mode := range want.Modes {
			port, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				t.Fatal(err)
			}
			got, own := merged.PerPort[uint32(port)]
			if !own {
				got = merged.Mode
			}
			if strings.ToLower(got.String()) != mode {
				t.Errorf("port %s: meshproof says %s, Istio %s:\n%s", text, mode, got, line)
			}
		}
	}
}

// selected returns the policies of a workload with the labels app: a and tier: b in the namespace
// shop, the oldest first, and of the same age by name: getConfigsForWorkload and
// sortConfigByCreationTime of pilot/pkg/model do so, which are not exported.
func selected(policies []config.Config, root string) []*config.Config {
	workload := labels.Instance{"app": "a", "tier": "b"}
	var out []*config.Config
	for i := range policies {
		selector := policies[i].Spec.(*v1beta1.PeerAuthentication).GetSelector().GetMatchLabels()
		if of := policies[i].Namespace; (of == root || of == "shop") && labels.Instance(selector).SubsetOf(workload) {
			out = append(out, &policies[i])
		}
	}
	slices.SortFunc(out, func(a, b *config.Config) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
