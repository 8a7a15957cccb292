package adversary_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

// checkIdentities is what must hold on every version.
func checkIdentities(t *testing.T, claims []claim) {
	verdicts := map[string]map[string]policy.Verdict{}
	for _, c := range claims {
		at := c.identity.Name + " at " + c.column + " over " + c.protocol.String()
		soundVictim := c.identity.Name == sound()[0].Name
		in := c.finding.Form != evidence.HandshakeFailed && c.column != unjudged
		if in != c.finding.Judged {
			t.Errorf("%s: judged %t: %s", at, c.finding.Judged, c.finding.Form)
		}
		if !in {
			continue
		}
		allowed := c.finding.Verdict.Effect == policy.Allow
		names := append(slices.Clone(c.identity.Template.URIs), c.identity.Template.DNS...)
		switch c.column {
		case "matcher-allow-exact":
			if allowed != soundVictim {
				t.Errorf("%s: allowed %t; the victim itself, and nobody else, is to be", at, allowed)
			}
		case "matcher-allow-prefix":
			if allowed && c.identity.SignedBy != domain {
				t.Errorf("%s: a CA of another trust domain got what is the victim's", at)
			}
		case "rules-allow-exact":
			if allowed != slices.Contains(names, victim.String()) {
				t.Errorf("%s: allowed %t; who has the victim's name among its SANs is to be, and nobody else", at, allowed)
			}
		case "matcher-deny-exact", "rules-deny-exact":
			if soundVictim && allowed {
				t.Errorf("%s: the victim was not denied", at)
			}
		}
		request := policy.Request{URIs: c.identity.Template.URIs, DNS: c.identity.Template.DNS, Method: "GET", Path: "/"}
		if want := policy.Decide(onVictim(c.column, c.protocol.Layer()), request).Verdict; want != c.finding.Verdict {
			t.Errorf("%s: Envoy says %s, policy.Decide %s", at, c.finding.Verdict, want)
		}
		of := verdicts[c.identity.Name]
		if of == nil {
			of = map[string]policy.Verdict{}
			verdicts[c.identity.Name] = of
		}
		if first, ok := of[c.column]; ok && first != c.finding.Verdict {
			t.Errorf("%s: %s, but %s over the other protocol", at, c.finding.Verdict, first)
		}
		of[c.column] = c.finding.Verdict
	}
	for _, id := range sound() {
		if len(verdicts[id.Name]) != len(identityColumns) {
			t.Errorf("%s was judged by %d policies of %d", id.Name, len(verdicts[id.Name]), len(identityColumns))
		}
	}
}

// checkRequests is what must hold on every version: whatever the upstream sees, it
// is nothing that was denied and, under an allow, nothing but what was allowed.
func checkRequests(t *testing.T, attempts []attempt) {
	for _, a := range attempts {
		at := a.request.Name + " at " + a.inbound
		checkTraces(t, at, a.trace)
		if a.arrival == nil {
			continue
		}
		path, _, _ := strings.Cut(a.arrival.Path, "?")
		isPath := path == protectedPath || strings.HasPrefix(path, protectedPath+"/")
		isMethod := a.arrival.Method == protectedMethod
		switch {
		case a.inbound == "deny-path" && isPath, a.inbound == "deny-method" && isMethod, a.inbound == "allow-both" && !(isPath && isMethod):
			t.Errorf("%s: the upstream saw %s %s", at, a.arrival.Method, a.arrival.Path)
		}
	}
	checkStraight(t, attempts)
}

// checkHeaders is what must hold on every version: an allow by a matcher is given
// for the value alone, one by rules for no request without the value.
func checkHeaders(t *testing.T, attempts []attempt) {
	for _, a := range attempts {
		at := a.request.Name + " at " + a.inbound
		checkTraces(t, at, a.trace)
		if a.arrival == nil {
			continue
		}
		got := a.arrival.Header.Values(protectedHeader)
		switch {
		case a.inbound == "matcher-allow" && !slices.Equal(got, []string{protectedValue}),
			a.inbound == "rules-allow" && !slices.Contains(got, protectedValue):
			t.Errorf("%s: it was allowed with %q", at, got)
		}
	}
	checkStraight(t, attempts)
}

// checkStraight proves the policies: what asks for the protected in so many words
// is denied by each deny, and allowed by each allow.
func checkStraight(t *testing.T, attempts []attempt) {
	t.Helper()
	seen := 0
	for _, a := range attempts {
		if strings.TrimPrefix(a.request.Name, "h2-") != itself {
			continue
		}
		seen++
		if allow := strings.Contains(a.inbound, "allow"); allow != (a.arrival != nil) || a.log.Enforced.Verdict.Origin != named {
			t.Errorf("%s at %s: %s", a.request.Name, a.inbound, a.cell())
		}
	}
	if seen == 0 {
		t.Error("nothing asks for the protected in so many words")
	}
}

// checkTraces holds the sides of one request against each other.
func checkTraces(t *testing.T, at string, got trace) {
	t.Helper()
	verdict := got.log.Enforced
	refused := verdict.Ran && verdict.Verdict.Effect == policy.Deny
	switch {
	case refused && (got.arrival != nil || got.reply.Status != 403):
		t.Errorf("%s: %s refused it, but the caller saw %s, the upstream %+v", at, verdict.Verdict, got.reply, got.arrival)
	case got.arrival == nil && got.reply.Status == 200:
		t.Errorf("%s: it was answered, but the upstream saw nothing", at)
	case got.arrival != nil && (!verdict.Ran || got.arrival.Requests != 1):
		t.Errorf("%s: the upstream saw %d requests, judged %t", at, got.arrival.Requests, verdict.Ran)
	case got.arrival != nil && !strings.HasSuffix(got.arrival.XFCC(), ";URI="+attacker.String()):
		t.Errorf("%s: the upstream is told %s", at, got.arrival.XFCC())
	}
}
