package kuma_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	const (
		option2 = "option2: Envoy names no policy: every action is called MeshTrafficPermission"
		option3 = "option3: Envoy names no policy: an action is called Deny, Allow or AllowWithShadowDeny"
		counts  = "shadow_denied counts 2 of the requests that are plainly allowed: the accepted form of the shadow has no allow list and ends in deny by default; " +
			"read the shadow's policy of each request instead, or set options: {shadowForm: precise}"
	)
	plain := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Origin: "default"}}
	denied := policy.Decision{Shadowed: true, Shadow: policy.Verdict{Origin: "default"}}
	named := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Origin: "kri_mtp_default___p_"}}
	allowed := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Effect: policy.Allow, Origin: "Allow"}}
	unshadowed := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}
	for _, tt := range []struct {
		options  string
		observed []policy.Decision
		want     []string
	}{
		{"{}", nil, nil},
		{"{}", []policy.Decision{denied, named, unshadowed}, nil},
		{"{}", []policy.Decision{plain, denied, plain, named}, []string{counts}},
		{"{shadowForm: precise}", []policy.Decision{plain, plain}, nil},
		{"{kumaOption: 2}", []policy.Decision{plain, plain}, []string{option2, counts}},
		{"{kumaOption: 3}", []policy.Decision{denied}, []string{option3}},
		{"{kumaOption: 3}", []policy.Decision{allowed}, []string{option3 + "; its shadow allows what is plainly allowed, whatever shadowForm says"}},
	} {
		docs, err := manifest.Parse("options.yaml", []byte(tt.options))
		if err != nil {
			t.Fatal(err)
		}
		set, err := kuma.Dialect.Parse(nil, language.Options{Document: docs[0]})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, set.Notes(tt.observed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.options, diff)
		}
	}
}
