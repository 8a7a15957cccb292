package adversary_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

// checkIdentities checks the facts that hold on every version.
func checkIdentities(t *testing.T, claims []claim) {
	verdicts := map[string]map[string]policy.Verdict{}
	for _, c := range claims {
		where := c.identity.Name + " at " + c.column + " over " + c.protocol.String()
		soundVictim := c.identity.Name == soundIdentities()[0].Name
		in := c.finding.Form != evidence.HandshakeFailed && c.column != unjudged
		if in != c.finding.Judged {
			t.Errorf("%s: judged %t: %s", where, c.finding.Judged, c.finding.Form)
		}
		if !in {
			continue
		}
		allowed := c.finding.Verdict.Effect == policy.Allow
		names := append(slices.Clone(c.identity.Template.URIs), c.identity.Template.DNS...)
		switch c.column {
		case "matcher-allow-exact":
			if allowed != soundVictim {
				t.Errorf("%s: allowed %t; want it for the sound victim only", where, allowed)
			}
		case "matcher-allow-prefix":
			if allowed && c.identity.SignedBy != domain {
				t.Errorf("%s: a certificate of another trust domain was allowed", where)
			}
		case "rules-allow-exact":
			if allowed != slices.Contains(names, victim.String()) {
				t.Errorf("%s: allowed %t; want it for certificates with the victim's name among their SANs only", where, allowed)
			}
		case "matcher-deny-exact", "rules-deny-exact":
			if soundVictim && allowed {
				t.Errorf("%s: the victim was not denied", where)
			}
		}
		request := policy.Request{URIs: c.identity.Template.URIs, DNS: c.identity.Template.DNS, Method: "GET", Path: "/"}
		if want := policy.Decide(onVictim(c.column, c.protocol.Layer()), request).Verdict; want != c.finding.Verdict {
			t.Errorf("%s: Envoy says %s, policy.Decide %s", where, c.finding.Verdict, want)
		}
		known := verdicts[c.identity.Name]
		if known == nil {
			known = map[string]policy.Verdict{}
			verdicts[c.identity.Name] = known
		}
		if first, ok := known[c.column]; ok && first != c.finding.Verdict {
			t.Errorf("%s: %s, but %s over the other protocol", where, c.finding.Verdict, first)
		}
		known[c.column] = c.finding.Verdict
	}
	for _, id := range soundIdentities() {
		if len(verdicts[id.Name]) != len(identityColumns) {
			t.Errorf("%s was judged by %d policies of %d", id.Name, len(verdicts[id.Name]), len(identityColumns))
		}
	}
}

// checkRequests checks the facts that hold on every version: the upstream sees no denied
// request, and under an allow it sees only allowed requests.
func checkRequests(t *testing.T, attempts []attempt) {
	for _, a := range attempts {
		where := a.request.Name + " at " + a.inbound
		checkTraces(t, where, a.trace)
		if a.arrival == nil {
			continue
		}
		path, _, _ := strings.Cut(a.arrival.Path, "?")
		isPath := path == protectedPath || strings.HasPrefix(path, protectedPath+"/")
		isMethod := a.arrival.Method == protectedMethod
		switch {
		case a.inbound == "deny-path" && isPath, a.inbound == "deny-method" && isMethod, a.inbound == "allow-both" && !(isPath && isMethod):
			t.Errorf("%s: the upstream saw %s %s", where, a.arrival.Method, a.arrival.Path)
		}
	}
	checkPlain(t, attempts)
}

// checkHeaders checks the facts that hold on every version: a matcher allows a header with
// exactly the value, and rules allow no request without the value.
func checkHeaders(t *testing.T, attempts []attempt) {
	for _, a := range attempts {
		where := a.request.Name + " at " + a.inbound
		checkTraces(t, where, a.trace)
		if a.arrival == nil {
			continue
		}
		got := a.arrival.Header.Values(protectedHeader)
		switch {
		case a.inbound == "matcher-allow" && !slices.Equal(got, []string{protectedValue}),
			a.inbound == "rules-allow" && !slices.Contains(got, protectedValue):
			t.Errorf("%s: it was allowed with %q", where, got)
		}
	}
	checkPlain(t, attempts)
}

// checkPlain checks the policies themselves: each deny denies the plain request, and each
// allow allows it.
func checkPlain(t *testing.T, attempts []attempt) {
	t.Helper()
	seen := 0
	for _, a := range attempts {
		if strings.TrimPrefix(a.request.Name, "h2-") != plainName {
			continue
		}
		seen++
		if allow := strings.Contains(a.inbound, "allow"); allow != (a.arrival != nil) || a.log.Enforced.Verdict.Origin != protected {
			t.Errorf("%s at %s: %s", a.request.Name, a.inbound, a.cell())
		}
	}
	if seen == 0 {
		t.Error("there is no plain request")
	}
}

// checkTraces compares the sides of one request.
func checkTraces(t *testing.T, where string, got trace) {
	t.Helper()
	verdict := got.log.Enforced
	refused := verdict.Ran && verdict.Verdict.Effect == policy.Deny
	switch {
	case refused && (got.arrival != nil || got.reply.Status != 403):
		t.Errorf("%s: %s refused it, but the caller saw %s, the upstream %+v", where, verdict.Verdict, got.reply, got.arrival)
	case got.arrival == nil && got.reply.Status == 200:
		t.Errorf("%s: it was answered, but the upstream saw nothing", where)
	case got.arrival != nil && (!verdict.Ran || got.arrival.Requests != 1):
		t.Errorf("%s: the upstream saw %d requests, judged %t", where, got.arrival.Requests, verdict.Ran)
	case got.arrival != nil && !strings.HasSuffix(got.arrival.XFCC(), ";URI="+attacker.String()):
		t.Errorf("%s: the upstream is told %s", where, got.arrival.XFCC())
	}
}
