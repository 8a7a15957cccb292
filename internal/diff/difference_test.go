package diff

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A change is confirmed only if Envoy agrees; else the result says why.
func TestEvidence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		recent result.Case
		want   string
		told   string
		failed int
		fault  bool
	}{
		"as said":   {result.Case{Requests: []result.Request{{}}}, "; shown on Envoy 1.2.3", "✓ deny", 0, false},
		"otherwise": {result.Case{Requests: []result.Request{{Judgement: verdict.Judgement{Problems: []verdict.Problem{{Found: "served"}}}}}}, "; Envoy 1.2.3 decides otherwise, see above", "✗ deny", 1, false},
		"refused":   {result.Case{Err: errors.New("NACK")}, "; Envoy 1.2.3 decides otherwise, see above", "✗ x (new): NACK", 1, false},
		"no answer": {result.Case{Err: errors.New("gone"), Fault: true}, "; Envoy 1.2.3 gave no answer, see above", "✗ x (new): gone", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.recent.Case.Name = "x (new)"
			change := Change{Old: Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}}, New: Opinion{Reason: "deny"}}
			d := Difference{ToConfirm: true, Envoy: "1.2.3", Cases: []Case{{
				New:         cases.Case{Name: "x"},
				Comparisons: []Comparison{{Cover: classes.Cut(classes.Surface{}, policy.Program{}), Changes: []Change{change}}},
				OldResult:   &result.Case{Requests: []result.Request{{}}}, NewResult: &tt.recent,
			}}}
			var text strings.Builder
			d.WriteText(&text, false)
			if !strings.Contains(text.String(), tt.want+"\n") || !strings.Contains(text.String(), tt.told) {
				t.Errorf("%s", text.String())
			}
			if got := d.Confirmed(); got.Failed != tt.failed || got.Fault != tt.fault {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestDialectOfAFile(t *testing.T) {
	t.Parallel()
	const ofKuma = "{type: MeshTrafficPermission, name: p}"
	const ofGateway = "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: AuthorizationPolicy}"
	for yaml, want := range map[string]string{"": "", "{a: 1}": "", ofKuma: "kuma", ofGateway: "gateway", "{a: 1}\n---\n" + ofGateway: "gateway"} {
		docs, err := manifest.Parse("p.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		if got := ownerOf(docs); got != want {
			t.Errorf("%.40q is owned by %q, want %q", yaml, got, want)
		}
	}
}

// TestVerdictOfManyReasons says that a long verdict has a line for each reason, and ends with a short one.
func TestVerdictOfManyReasons(t *testing.T) {
	t.Parallel()
	spec := func(entities string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: orders}}, ingress: [{fromEntities: [" + entities + "]}]}}\n"
	}
	d := differenceOf(t, spec("cluster"), spec("all, kube-apiserver"))
	d.DenyWidening = true
	var out strings.Builder
	d.WriteText(&out, terminal.Paint(false))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last, reasons := lines[len(lines)-1], 0
	for _, line := range lines {
		if strings.HasPrefix(line, "reason: ") {
			reasons++
		}
	}
	if n := len(d.Failures()); reasons != n || n < 2 || len(last) > longestVerdict+100 || !strings.HasSuffix(last, "see above") {
		t.Errorf("%d reasons, %d lines of reasons, and the last line\n%s", n, reasons, last)
	}
	if got := d.Markdown(); !strings.Contains(got, "reason: ") {
		t.Errorf("no reasons in\n%s", got)
	}
}

// An inbound that only one side has can be asked for by its name.
func TestInboundOfOneSide(t *testing.T) {
	t.Parallel()
	withInbound := func(name string) Side {
		return sideOf(t, "case: c\nworkloads: [{name: web, inbounds: [{name: "+name+", port: 8080, protocol: http}]}]\n"+
			"policies: [{type: MeshTrafficPermission, mesh: default, name: p, spec: {default: {allow: [{path: {type: Exact, value: /a}}]}}}]\n"+
			"requests: [{from: spiffe://trust-domain.mesh/ns/a/sa/b, to: web/"+name+", path: /a, want: allow}]\n")
	}
	d, err := Diff(withInbound("a"), withInbound("b"), "web/b")
	if err != nil || len(d.Cases) != 1 || len(d.Cases[0].Inbounds) != 1 || !strings.Contains(d.Cases[0].Inbounds[0].Text, "only in NEW") {
		t.Errorf("an inbound of NEW: %+v, %v", d, err)
	}
	if d, err = Diff(withInbound("a"), withInbound("b"), "web/a"); err != nil || len(d.OnlyOld) != 1 {
		t.Errorf("an inbound of OLD: %+v, %v", d, err)
	}
}

// A row of a comment has the requests. So it names the rules that decide by their places, and has the shadow where that changes.
func TestRowsOfMarkdown(t *testing.T) {
	t.Parallel()
	set := func(rules string) string {
		return "{type: MeshTrafficPermission, mesh: default, name: p, spec: {rules: [{default: {" + rules + "}}]}}\n"
	}
	const of = "[{spiffeID: {type: Exact, value: 'spiffe://trust-domain.mesh/a'}}]"
	for _, tt := range []struct{ old, recent, want string }{
		{set("deny: []"), set("allow: " + of), "| deny by default: no rule matches | a.yaml:1: spec.rules[0].default.allow[0]: allow by p |"},
		{set("allow: " + of), set("allow: " + of + ", allowWithShadowDeny: " + of), "| a.yaml:1: spec.rules[0].default.allow[0]: allow by p; shadow none | a.yaml:1: spec.rules[0].default.allow[0]: allow by p; shadow a.yaml:1: spec.rules[0].default.allowWithShadowDeny[0]: deny by p |"},
	} {
		d := differenceOf(t, tt.old, tt.recent)
		got := strings.NewReplacer("&#91;", "[", "&#93;", "]", "kri&#95;mtp&#95;default&#95;&#95;&#95;p&#95;", "p").Replace(d.Markdown())
		rows := got[strings.LastIndex(got, "| ---"):]
		if rows = regexp.MustCompile(`\S*/(\w+\.yaml:)`).ReplaceAllString(rows, "a.yaml:"); !strings.Contains(rows, tt.want) {
			t.Errorf("%s\nwant %s", rows, tt.want)
		}
	}
}
