package verdict_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
)

const (
	kumaNames = `
  - {type: MeshTrafficPermission, name: platform, spec: {default: {allow: [{method: GET}]}}}
  - {type: MeshTrafficPermission, name: default, spec: {default: {allow: [{method: PUT}]}}}
  - {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: twice, namespace: a}, spec: {default: {allow: [{method: GET}]}}}
  - {apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: twice, namespace: b}, spec: {default: {allow: [{method: GET}]}}}
`
	gatewayNames = `
  - apiVersion: gateway.networking.x-k8s.io/v1alpha1
    kind: XAuthorizationPolicy
    metadata: {name: one, namespace: shop}
    spec: {targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: [{}]}
  - apiVersion: gateway.networking.x-k8s.io/v1alpha1
    kind: XAuthorizationPolicy
    metadata: {name: several, namespace: shop}
    spec: {targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: [{}, {}]}
`
)

// A policy goes by its plain name where no other policy, and no other rule, has it.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ policies, name, want string }{
		{kumaNames, "platform", "kri_mtp_default___platform_"},
		{kumaNames, "kri_mtp_default___platform_", "kri_mtp_default___platform_"},
		{kumaNames, "default", "default"},
		{kumaNames, "none", "none"},
		{kumaNames, `""`, ""},
		{kumaNames, "twice", `test.yaml:2: requests[0].FIELD: "twice" is the plain name of several: use one of kri_mtp_default__a_twice_, kri_mtp_default__b_twice_`},
		{gatewayNames, "one", "shop/one/000"},
		{gatewayNames, "shop/several/001", "shop/several/001"},
		{gatewayNames, "several", `test.yaml:2: requests[0].FIELD: "several" is the plain name of several: use one of shop/several/000, shop/several/001`},
	} {
		for _, field := range []string{"by", "shadowBy"} {
			c := casetest.Parse(t, "case: names\nrequests: [{from: backend, to: backend/8080, want: deny, "+field+": "+tt.name+"}]\n"+
				"workloads: [{name: backend, inbounds: [{port: 8080}]}]\npolicies:"+tt.policies)
			written := *stated(c.Requests[0], field)
			r, err := verdict.Read(c)
			var got string
			if err != nil {
				got = err.Error()
			} else {
				got = *stated(r.Case.Requests[0], field)
			}
			if want := strings.Replace(tt.want, "FIELD", field, 1); got != want {
				t.Errorf("%s: %s: %s, want %s", field, tt.name, got, want)
			}
			if *stated(c.Requests[0], field) != written {
				t.Errorf("%s: the case was changed", tt.name)
			}
		}
	}
}

// The counters of a case take the same names.
func TestPlainNamesOfCounters(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"platform": "kri_mtp_default___platform_", "kri_mtp_default___platform_": "kri_mtp_default___platform_", "default": "default", "none": "none",
		"twice": `test.yaml:1: counters of backend/8080: rules: "twice" is the plain name of several: use one of kri_mtp_default__a_twice_, kri_mtp_default__b_twice_`,
	} {
		c := casetest.Parse(t, "case: names\nrequests: [{from: backend, to: backend/8080, want: deny}]\ncounters: {backend/8080: {denied: 1, rules: {"+rule+": {denied: 0}}}}\n"+
			"workloads: [{name: backend, inbounds: [{port: 8080, protocol: http}]}]\npolicies:"+kumaNames)
		r, err := verdict.Read(c)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = r.Case.Counters[1].Rule
		}
		if got != want || c.Counters[1].Rule != rule {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}

func stated(q cases.Request, field string) *string {
	if field == "by" {
		return q.By
	}
	return q.ShadowBy
}
